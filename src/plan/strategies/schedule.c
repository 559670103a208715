/* schedule.c -- the user's own plan.
 *
 * Problem     how good is a plan that was made elsewhere, or by hand?
 * Idea        the moves of the file, unchanged. The pipeline has read and replayed them without a cap.
 * Invariants  none of its own: the verifier replays the plan as any other.
 * Cost        O(moves).
 * Source      the user.
 * Limits      nothing is improved: `search` can start from a plan.
 */
#include "plan/strategy.h"

static pb_status copy_moves(const pb_moves *from, pbi_plan *plan)
{
    plan->moves = *from;
    plan->moves.arena = plan->arena;
    plan->moves.room = from->count; /* it is not extended */
    plan->outcome = PB_FOUND;
    plan->as_asked = true;
    return PB_OK;
}

pb_status pbi_plan_schedule(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    const pbi_given *given = options->given;
    (void)ctx;
    if (!given)
        return pbi_plan_give_up(plan, "does not apply: it needs a file, as in schedule:file=plan.json");
    pb_status status = pbi_plan_record(plan, "file", given->name);
    if (status != PB_OK)
        return status;
    if (!given->moves)
        return pbi_plan_give_up(plan, "illegal: %.350s", given->wrong);
    if (given->peak > game->cap)
        return pbi_plan_over_cap(plan, game, given->over_step,
                                 pb_op_name((pb_op)given->moves->move[given->over_step].op), given->over_node,
                                 given->over_need);
    return copy_moves(given->moves, plan);
}
