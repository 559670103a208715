/* gpipe.c -- GPipe: all forward steps, then all backward steps.
 *
 * Problem     a fixed order of steps on each device that needs no planning.
 * Idea        plan/stages/known.c has the order; start times follow from the simulation.
 * Invariants  the order depends on the number of stages and micro-batches only.
 * Cost        linear in the number of steps.
 * Source      Huang et al., GPipe, 2019.
 * Limits      one part of the model on each device; recomputation in whole stages only.
 */
#include "plan/stages/known.h"

pb_status pbi_plan_gpipe(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    return pbi_stages_plan_known(ctx, game, options, PBI_KNOWN_GPIPE, plan);
}
