/* last_use.c -- compute everything once, free each value after its last use.
 *
 * Problem     the least memory that program order needs without computing anything twice.
 * Idea        the sequence is the order itself; frees and in-place moves follow from it.
 * Invariants  every needed node appears once.
 * Cost        O(nodes + edges).
 * Source      reference counting; Sethi and Ullman's setting.
 * Limits      the order is not changed; a better order may need less.
 */
#include "plan/sequence/sequence.h"

pb_status pbi_plan_last_use(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    const pb_graph *g = game->graph;
    (void)options;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_sequence s;
    pbi_sequence_init(&s, &scratch);
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < g->order_count && status == PB_OK; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            status = pbi_sequence_add(&s, g->order[i]);
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, game, &s, plan, NULL);
    pb_arena_release(&scratch);
    return status;
}
