/* interleaved.c -- interleaved 1F1B: several parts of the model on each device, in a loop.
 *
 * Problem     a fixed order of steps on each device that needs no planning.
 * Idea        plan/stages/known.c has the order; start times follow from the simulation.
 * Invariants  the order depends on the number of stages and micro-batches only.
 * Cost        linear in the number of steps.
 * Source      Narayanan et al., Megatron-LM, 2021.
 * Limits      parts in a loop; the devices divide the micro-batches; recomputation in whole stages only.
 */
#include "plan/stages/known.h"

pb_status pbi_plan_interleaved(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    return pbi_stages_plan_known(ctx, game, options, PBI_KNOWN_INTERLEAVED, plan);
}
