/* recompute_all.c -- the other extreme: keep nothing beyond the next step.
 *
 * Problem     what does it cost to keep as little as possible in program order?
 * Idea        a window of reach 1 with nothing kept: whatever is read later is recomputed from the inputs.
 * Invariants  see sequence/window.h.
 * Cost        O(computations and their inputs): quadratic on a training chain, worse on deep graphs.
 * Source      the "recompute everything" end of the checkpointing literature.
 * Limits      stops at `limit` computations.
 */
#include "plan/sequence/window.h"

pb_status pbi_plan_recompute_all(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pbi_window window = {.reach = 1};
    pb_status status = pbi_option_computations(ctx, options, game->graph, &window.limit);
    if (status != PB_OK)
        return status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_sequence s;
    pbi_sequence_init(&s, &scratch);
    status = pbi_window_plan(ctx, game, &window, &s);
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, game, &s, plan, NULL);
    if (status == PB_OK)
        status = pbi_plan_record_number(plan, "limit", window.limit);
    pb_arena_release(&scratch);
    return status;
}
