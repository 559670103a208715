/* prop_plans.c -- every strategy on small random games, with the exhaustive optimum as judge. */
#include "pebble/api.h"
#include "support/cases.h"
#include "support/law.h"
#include "support/plan_check.h"

#include <inttypes.h>
#include <stdio.h>

enum { TICKS = 20000 }; /* a search on so few nodes has nothing new to show after that */

typedef struct optimum {
    bf_answer work, cost;
} optimum;

static bool strategy_fails(law_bench *b, const pb_strategy *row, const char *policy, const optimum *best)
{
    char why[PLAN_WHY], name[80];
    pb_request request = {.strategy = row->name, .policy = policy, .seed = b->small->seed};
    snprintf(name, sizeof name, "%s%s%s", row->name, policy ? " with " : "", policy ? policy : "");
    pb_plan_result first, again;
    b->ctx.tick_limit = TICKS;
    b->ctx.ticks = 0;
    pb_status status = pb_plan(&b->ctx, &b->game, &request, &b->arena, &first);
    if (status != PB_OK)
        return law_broken(b, "%s: %s: %s", name, pb_status_text(status), b->ctx.error.message);
    if (!plan_is_honest(&b->game, &first, why))
        return law_broken(b, "%s: %s", name, why);
    if (best && !plan_keeps_to_optimum(&first, &best->work, &best->cost, why))
        return law_broken(b, "%s: %s", name, why);
    if (b->small->seed % 4)
        return false;
    b->ctx.ticks = 0;
    status = pb_plan(&b->ctx, &b->game, &request, &b->arena, &again);
    if (status != PB_OK || !plans_are_equal(&first, &again, why))
        return law_broken(b, "%s, run twice: %s", name, status == PB_OK ? why : b->ctx.error.message);
    return false;
}

/* `best` NULL: no optimum is known. */
static bool any_strategy_fails(law_bench *b, const optimum *best)
{
    uint32_t rows, policies;
    const pb_strategy *row = pb_strategies(&rows);
    const pb_policy *policy = pb_policies(&policies);
    for (uint32_t i = 0; i < rows; i++) {
        if (!(row[i].games & b->game.kind))
            continue;
        bool named = row[i].takes_policy && policies && b->small->seed % 3;
        if (strategy_fails(b, &row[i], named ? policy[b->small->seed % policies].name : NULL, best))
            return true;
    }
    return false;
}

static bool plans_fail(law_bench *b)
{
    optimum best;
    if (!bf_least_makespan(b->space, &b->problem, &best.work) || !bf_least_cost(b->space, &b->problem, &best.cost))
        return law_skip(b);
    return any_strategy_fails(b, &best);
}

static bool large_plans_fail(law_bench *b) { return any_strategy_fails(b, NULL); }

static bool plan_auto(law_bench *b, const pb_game *game, pb_plan_result *out)
{
    pb_request request = {.seed = b->small->seed};
    b->ctx.tick_limit = 20 * TICKS;
    b->ctx.ticks = 0;
    return pb_plan(&b->ctx, game, &request, &b->arena, out) == PB_OK;
}

/* A plan in fast memory alone is a plan where there is slow memory too. */
static bool slow_memory_costs(law_bench *b)
{
    pb_game fast = b->game;
    pb_plan_result with, without;
    for (pb_node v = 0; v < b->game.graph->node_count; v++)
        if (b->game.graph->flags[v] & PB_NODE_GIVEN_SLOW)
            return false; /* there must be slow memory */
    fast.kind = PB_GAME_REMAT;
    fast.tier_count = 0;
    if (!plan_auto(b, &b->game, &with) || !plan_auto(b, &fast, &without))
        return law_broken(b, "auto: %s", b->ctx.error.message);
    if (!without.certificate)
        return false;
    if (!with.certificate)
        return law_broken(b, "auto has a plan without slow memory, and none with it: %s", with.schedule.reason);
    if (pb_u128_compare(with.schedule.metrics.cost, without.schedule.metrics.cost) > 0)
        return law_broken(b, "auto: %" PRIu64 " with slow memory, %" PRIu64 " without", with.schedule.metrics.makespan,
                          without.schedule.metrics.makespan);
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 10000),
             fewer = test_is_sample() ? cases / 4 + 1 : cases; /* of what takes long */
    law_run("no strategy beats or belies the exhaustive optimum", plans_fail, PB_GAME_ALL, cases);
    law_run_recipes("no strategy beats or belies the exhaustive optimum with recipes", plans_fail, PB_GAME_ALL,
                    2 * cases);
    law_run("slow memory never makes a plan cost more", slow_memory_costs, PB_GAME_TIERED, fewer);
    law_run_large("every plan is legal and the same again", large_plans_fail, PB_GAME_ALL, fewer);
    law_run_large_recipes("every plan with recipes is legal and the same again", large_plans_fail, PB_GAME_ALL, fewer);
    return law_finish();
}
