/* sqrt.c -- checkpoints at the square root of the number of nodes.
 *
 * Problem     about 2 sqrt(n) values in memory for about one extra forward pass.
 * Idea        the fixed interval that balances kept values against the window between them.
 * Invariants  see sequence/window.h.
 * Cost        O(computations and their inputs).
 * Source      Chen, Xu, Zhang and Guestrin, "Training deep nets with sublinear memory cost", 2016.
 * Limits      exact balance only for chains of equal sizes.
 */
#include "plan/sequence/window.h"

pb_status pbi_plan_sqrt(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    uint64_t k = 1, limit;
    while (k * k < game->graph->needed_count)
        k++;
    pb_status status = pbi_option_computations(ctx, options, game->graph, &limit);
    if (status == PB_OK)
        status = pbi_window_one(ctx, game, pbi_window_periodic, k, limit, plan);
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", limit) : status;
}
