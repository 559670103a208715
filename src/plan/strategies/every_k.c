/* every_k.c -- checkpoints at a fixed interval of the order.
 *
 * Problem     fit the cap by keeping one value in k and recomputing the others when they are read.
 * Idea        a window of reach k with every k-th node of the order kept; k given, or the cheapest of several.
 * Invariants  see sequence/window.h.
 * Cost        O(computations and their inputs) for each k that is tried; about 3 log2(nodes) of them.
 * Source      periodic checkpointing (Chen et al. 2016 for networks, older in adjoint codes).
 * Limits      costs and sizes are ignored when the kept values are chosen.
 */
#include "plan/sequence/window.h"

pb_status pbi_plan_every_k(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    return pbi_window_best(ctx, game, options, pbi_window_periodic, game->graph->needed_count, plan);
}
