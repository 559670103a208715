/* demand.c -- follow program order under a cap, evict by policy, recompute on demand.
 *
 * Problem     run the program within the cap, deciding only when memory runs out.
 * Idea        when a computation would exceed the cap, a policy picks what is evicted: oldest, least-recent, random,
 *             largest, priority, or nothing (abort). A value that a later node reads and that was evicted is
 *             recomputed first.
 * Invariants  inputs of the node being computed are pinned and cannot be evicted; see evict/demand_*.
 * Cost        O(log n) per eviction (up to 1024 candidates are examined for `priority`); the number of computations
 *             may grow exponentially near the least cap and is limited by `limit`.
 * Source      paging and cache policies; `priority` is close to dynamic tensor rematerialization (Kirisame et al.,
 *             2021).
 * Limits      no look-ahead: more memory does not always mean less work, and plans for tight caps may not be found.
 */
#include "plan/evict/demand.h"

#include "base/context.h"

pb_status pbi_plan_demand(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pbi_demand_options demand = {.seed = options->seed, .recipes = true};
    if (!pbi_policy_parse(options->policy, &demand.policy))
        return pbi_fail(ctx, PB_EUNKNOWN, "there is no policy \"%.40s\"; `pebble help plan` lists them",
                        options->policy);
    pb_status status = game->kind == PB_GAME_REVERSIBLE
                           ? pbi_option_limit(ctx, options, game->graph, &demand.limit)
                           : pbi_option_computations(ctx, options, game->graph, &demand.limit);
    if (status != PB_OK)
        return status;
    plan->policy = pbi_policy_name(demand.policy);
    status = game->kind == PB_GAME_REVERSIBLE ? pbi_demand_reversible(ctx, game, &demand, plan)
                                              : pbi_demand_forward(ctx, game, &demand, plan);
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", demand.limit) : status;
}
