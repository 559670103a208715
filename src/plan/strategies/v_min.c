/* v_min.c -- V-Min: two parts on each device in the form of a V, in a third of the memory of 1F1B.
 *
 * Problem     a fixed order of steps on each device that needs no planning.
 * Idea        plan/stages/known.c has the order; start times follow from the simulation.
 * Invariants  the order depends on the number of stages and micro-batches only.
 * Cost        linear in the number of steps.
 * Source      Qi et al., Pipeline Parallelism with Controllable Memory, 2024.
 * Limits      two parts on each device, placed as a V; recomputation in whole stages only.
 */
#include "plan/stages/known.h"

pb_status pbi_plan_v_min(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    return pbi_stages_plan_known(ctx, game, options, PBI_KNOWN_V_MIN, plan);
}
