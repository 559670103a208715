/* prop_coarse.c -- coarse graphs of random games: what they state about memory and work is enough when they are
 * expanded. */
#include "base/rng.h"
#include "pebble/grain.h"
#include "pebble/verify.h"
#include "support/law.h"

#include <inttypes.h>

static const char *const strategies[] = {"last-use", "recompute-all", "demand:policy=random", "every-k:k=2",
                                         "order",    "search",        "demand:policy=largest"};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

/* The game's graph, its nodes in some groups. */
static pb_graph with_groups(const pb_graph *g, pbi_rng *rng, uint32_t *group)
{
    static const char *const names[] = {"block0.a", "block0.b", "block1.a", "head"};
    pb_graph own = *g;
    for (pb_node v = 0; v < g->node_count; v++)
        group[v] = pbi_rng_below(rng, 8) ? (uint32_t)pbi_rng_below(rng, 4) : UINT32_MAX;
    own.group_names = names;
    own.group_count = 4;
    own.group = group;
    return own;
}

/* Plans the coarse graph somehow; false: no plan. */
static bool plan_somehow(law_bench *b, const pb_coarse *c, pbi_rng *rng, pb_plan_result *out)
{
    pb_game game = {.graph = c->graph, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    pb_request request = PB_REQUEST_DEFAULT;
    uint64_t peak;
    request.strategy = strategies[pbi_rng_below(rng, STRATEGIES)];
    request.seed = b->small->seed;
    b->ctx.tick_limit = 2000;
    if (pb_graph_program_peak(&b->ctx, c->graph, &peak) == PB_OK && pbi_rng_below(rng, 4))
        game.cap = peak * (40 + pbi_rng_below(rng, 70)) / 100;
    bool any = pb_plan(&b->ctx, &game, &request, &b->arena, out) == PB_OK && out->certificate;
    b->ctx.tick_limit = 0;
    return any;
}

static bool expansion_fails(law_bench *b, const pb_game *game, const pb_coarse *c, const pb_plan_result *rough)
{
    pb_plan_result fine;
    const pb_metrics *m = &fine.schedule.metrics, *r = &rough->schedule.metrics;
    if (pb_coarse_expand(&b->ctx, game, c, &rough->schedule.moves, &b->arena, &fine) != PB_OK)
        return law_broken(b, "not expanded: %s", b->ctx.error.message);
    if (!fine.certificate)
        return law_broken(b, "the expanded plan does not fit: %s", fine.schedule.reason);
    if (m->peak > r->peak || m->work > r->work)
        return law_broken(b, "peak %" PRIu64 ", work %" PRIu64 "; the coarse plan states %" PRIu64 ", %" PRIu64,
                          m->peak, m->work, r->peak, r->work);
    return false;
}

static bool coarse_fails(law_bench *b)
{
    uint32_t group[SMALL_MAX];
    pbi_rng rng;
    rng.state = b->small->seed;
    pb_graph own = with_groups(b->game.graph, &rng, group);
    pb_game game = b->game;
    const pb_coarse *c;
    pb_plan_result rough;
    pb_coarsen_options options = {.by = (pb_grain)pbi_rng_below(&rng, PB_GRAIN_REGION + 1),
                                  .nodes = pbi_rng_below(&rng, 2) ? 1 + (uint32_t)pbi_rng_below(&rng, 6) : 0,
                                  .small = pbi_rng_below(&rng, 5)};
    for (pb_node v = 0; v < own.node_count; v++)
        if (own.flags[v] & PB_NODE_GIVEN_SLOW)
            return law_skip(b);
    game.graph = &own;
    game.cap = PB_UNLIMITED;
    game.weights = PB_WEIGHTS_DEFAULT;
    if (pb_coarsen(&b->ctx, &own, &options, &b->arena, &c) != PB_OK)
        return law_broken(b, "not coarsened by %s: %s", pb_grain_name(options.by), b->ctx.error.message);
    if (pb_graph_check(&b->ctx, c->graph) != PB_OK)
        return law_broken(b, "by %s: %s", pb_grain_name(options.by), b->ctx.error.message);
    if (c->graph->needed_cost != own.needed_cost || c->member_start[c->cluster_count] != own.needed_count)
        return law_broken(b, "cost %" PRIu64 " of %" PRIu64 ", %u computations of %u", c->graph->needed_cost,
                          own.needed_cost, c->member_start[c->cluster_count], own.needed_count);
    for (int i = 0; i < 3; i++)
        if (plan_somehow(b, c, &rng, &rough) && expansion_fails(b, &game, c, &rough))
            return true;
    return false;
}

/* The whole way: never illegal, never above the cap. */
static bool plan_fails(law_bench *b)
{
    pb_grained planned;
    pb_request request = PB_REQUEST_DEFAULT;
    pb_coarsen_options grain = {.by = PB_GRAIN_REGION, .nodes = 1 + (uint32_t)(b->small->seed % 7)};
    if (b->game.borrow)
        return law_skip(b);
    for (pb_node v = 0; v < b->game.graph->node_count; v++)
        if (b->game.graph->flags[v] & PB_NODE_GIVEN_SLOW)
            return law_skip(b);
    b->ctx.tick_limit = 3000;
    if (pb_plan_grained(&b->ctx, &b->game, &request, &grain, &b->arena, &planned) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    const pb_schedule *s = &planned.planned.schedule;
    if (s->outcome == PB_INFEASIBLE && !planned.planned.game)
        return law_broken(b, "infeasible without a game");
    if (!planned.planned.certificate)
        return s->reason ? false : law_broken(b, "no plan and no reason");
    pb_verdict verdict;
    if (pb_verify(&b->ctx, &b->game, &s->moves, &b->arena, &verdict) != PB_OK || !verdict.certificate)
        return law_broken(b, "illegal");
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 3000);
    law_run("expanded plans need no more than the coarse ones state", coarse_fails, PB_GAME_REMAT, cases);
    law_run_large("the same on larger games", coarse_fails, PB_GAME_REMAT, cases / 2 + 1);
    law_run("plans through a coarse graph are legal", plan_fails, PB_GAME_REMAT, cases / 4 + 1);
    return law_finish();
}
