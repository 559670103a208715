/* by_depth.c -- checkpoints at every k-th depth level.
 *
 * Problem     graphs with wide levels (trees, layered networks): an interval of the order cuts through levels.
 * Idea        keep the values whose depth is a multiple of k; any other value is kept only for readers at most k
 *             levels deeper than the current node.
 * Invariants  see sequence/window; distance is measured in depth.
 * Cost        O(computations and their inputs) for each k that is tried.
 * Source      level-wise checkpointing of trees and layered graphs.
 * Limits      a level may be as wide as the graph.
 */
#include "plan/sequence/window.h"

static pb_status keep_levels(const pb_game *game, uint64_t k, pb_arena *arena, pbi_window *out)
{
    const pb_graph *g = game->graph;
    uint8_t *kept = pb_arena_zero(arena, g->node_count, sizeof *kept);
    if (!kept)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++)
        kept[v] = g->depth[v] % k == 0;
    out->kept = kept;
    out->coordinate = g->depth;
    out->reach = (uint32_t)k;
    return PB_OK;
}

pb_status pbi_plan_by_depth(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    return pbi_window_best(ctx, game, options, keep_levels, (uint64_t)game->graph->max_depth + 1, plan);
}
