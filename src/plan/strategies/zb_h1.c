/* zb_h1.c -- zero bubble H1: 1F1B with late weight gradients, in the memory of 1F1B.
 *
 * Problem     a fixed order of steps on each device that needs no planning.
 * Idea        plan/stages/known.c has the order; start times follow from the simulation.
 * Invariants  the order depends on the number of stages and micro-batches only.
 * Cost        linear in the number of steps.
 * Source      Qi et al., Zero Bubble Pipeline Parallelism, 2024.
 * Limits      one part of the model on each device; recomputation in whole stages only.
 */
#include "plan/stages/known.h"

pb_status pbi_plan_zb_h1(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    return pbi_stages_plan_known(ctx, game, options, PBI_KNOWN_ZB_H1, plan);
}
