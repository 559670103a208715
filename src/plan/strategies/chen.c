/* chen.c -- sublinear memory: segments of the forward pass, their ends kept.
 *
 * Problem     train a deep network in memory of about the square root of its layers, for about one more forward pass.
 * Idea        cut the forward order into segments, keep the values at their ends, drop the others after the forward
 *             pass and recompute them when the backward pass needs them. Segments have equally many nodes (sqrt), or
 *             end when the sizes since the last end exceed b (greedy); b from a grid, the cheapest plan that fits.
 * Invariants  every value is computed at most twice (sequence/segments, sequence/replay).
 * Cost        O(nodes and edges) for each of some tens of plans.
 * Source      Chen, Xu, Zhang and Guestrin, "Training deep nets with sublinear memory cost", 2016, algorithms 2 and
 *             3.
 * Limits      costs are ignored; values that cross a segment end are recomputed from further back.
 */
#include "base/context.h"
#include "plan/sequence/segments.h"

pb_status pbi_plan_chen(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    pbi_training training;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_training_find(game->graph, &scratch, &training);
    if (status == PB_OK)
        status = pbi_segments_plan(ctx, game, options, &training, NULL, plan);
    pb_arena_release(&scratch);
    return status;
}
