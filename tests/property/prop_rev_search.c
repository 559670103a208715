/* prop_rev_search.c -- search in the reversible game: every change keeps the rules and can be taken back, and on small games it
 * finds the optimum nearly always, whatever the weights. */
#include "pebble/api.h"
#include "plan/reversible/anneal/propose.h"
#include "plan/reversible/anneal/start.h"
#include "support/law.h"
#include "support/plan_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CHANGES = 400, TICKS = 150000 };

typedef struct keeper {
    pbi_rev_spans line;
    pbi_rev_proposer proposer;
    uint32_t *before; /* events */
    double work;
    uint64_t excess;
} keeper;

static void remember(keeper *k)
{
    memcpy(k->before, k->line.event, k->line.profile.slots * sizeof *k->before);
    k->work = k->line.work;
    k->excess = k->line.profile.excess;
}

static bool is_as_before(const keeper *k)
{
    return !memcmp(k->before, k->line.event, k->line.profile.slots * sizeof *k->before) && k->work == k->line.work &&
           k->excess == k->line.profile.excess;
}

/* Random changes, of which some are kept. */
static bool wander(law_bench *b, keeper *k, const pbi_rev_list *from, int32_t cap)
{
    k->line.profile.cap = cap;
    pbi_rev_spans_load(&k->line, from->unit, from->count);
    if (!pbi_rev_spans_check(&k->line))
        return law_broken(b, "the start is not legal");
    for (int n = 0; n < CHANGES; n++) {
        remember(k);
        k->proposer.max_cost = k->line.filled > 6 * k->line.m->count + 20 ? k->work : 1e18;
        bool made = pbi_rev_propose(&k->proposer);
        if (made && !pbi_rev_spans_check(&k->line))
            return law_broken(b, "change %d breaks the rules", n);
        if (made && pbi_rng_below(k->proposer.rng, 3))
            continue;
        pbi_rev_undo(&k->line, 0);
        if (!pbi_rev_spans_check(&k->line) || !is_as_before(k))
            return law_broken(b, "change %d cannot be taken back", n);
    }
    return false;
}

static bool changes_break(law_bench *b)
{
    pbi_rev_model m;
    pbi_rev_starts starts;
    keeper *k = pb_arena_zero(&b->arena, 1, sizeof *k);
    pbi_rng rng = {b->small->seed};
    const char *fault = NULL;
    pb_status status = pbi_rev_model_init(&m, &b->ctx, &b->game, &b->arena, &fault);
    if (status == PB_OK && fault)
        return law_skip(b);
    if (status == PB_OK)
        status = pbi_rev_starts_init(&starts, &b->ctx, &m, NULL, 2000, &b->arena);
    if (!k || status != PB_OK || !pbi_rev_spans_init(&k->line, &m, 4096, &b->arena))
        return law_broken(b, "no memory");
    k->before = pb_arena_alloc(&b->arena, k->line.room, sizeof *k->before);
    k->proposer.l = &k->line;
    k->proposer.rng = &rng;
    int32_t cap = pbi_rev_model_cap(&m, b->game.cap);
    bool broken = wander(b, k, &starts.once, cap);
    return broken || (starts.cone.count && wander(b, k, &starts.cone, cap));
}

typedef struct tally {
    uint64_t feasible, found, best; /* games */
} tally;

static bool is_weak(const char *name, const tally *t)
{
    printf("       %s: %" PRIu64 " feasible games, %" PRIu64 " with a plan, %" PRIu64 " with the best one\n", name,
           t->feasible, t->found, t->best);
    bool weak = t->feasible >= 100 && (t->found < t->feasible - t->feasible / 20 || t->best < t->found - t->found / 20);
    if (weak)
        puts("too few of them");
    return weak;
}

/* A plan by search in a game of these weights; false when it is not to be counted. */
static bool plan_small(law_bench *b, const pb_game *game, pb_plan_result *p, bool *broken)
{
    char why[PLAN_WHY];
    b->ctx.tick_limit = TICKS;
    b->ctx.ticks = 0;
    pb_request request = {.strategy = "search", .seed = b->small->seed, .patient = true};
    *broken = true;
    if (pb_plan(&b->ctx, game, &request, &b->arena, p) != PB_OK)
        return !law_broken(b, "%s", b->ctx.error.message);
    if (!plan_is_honest(game, p, why))
        return !law_broken(b, "%s", why);
    *broken = false;
    return !strstr(p->schedule.reason ? p->schedule.reason : "", "does not apply");
}

/* It uses no in-place moves, and whole units. */
static bool is_plain(const pb_graph *g) { return !g->inplace_start && !g->owner; }

static tally unweighted, weighted;

static bool search_fails(law_bench *b)
{
    bf_answer best;
    pb_plan_result p;
    bool broken;
    pb_game game = b->game;
    game.weights = PB_WEIGHTS_DEFAULT;
    if (!bf_least_makespan(b->space, &b->problem, &best))
        return law_skip(b);
    if (!plan_small(b, &game, &p, &broken))
        return broken || law_skip(b);
    unweighted.feasible += best.feasible && is_plain(game.graph);
    if (!p.certificate)
        return false;
    uint64_t work = p.schedule.metrics.makespan;
    if (!best.feasible || work < best.value)
        return law_broken(b, "work %" PRIu64 ", but the least is %" PRIu64, work, best.value);
    unweighted.found += is_plain(game.graph);
    unweighted.best += is_plain(game.graph) && work == best.value;
    return false;
}

static bool weights_fail(law_bench *b)
{
    static const pb_weights some[] = {{1, 0, 1, 0}, {0, 1, 0, 0},  {5, 0, 1, 0},
                                      {1, 1, 1, 0}, {0, 1, 20, 0}, {1, 0, 0, 0}};
    bf_answer best;
    pb_plan_result p;
    bool broken;
    pb_game game = b->game;
    game.weights = some[b->small->seed % (sizeof some / sizeof *some)];
    bf_problem problem;
    if (!bf_from_game(&game, &problem) || !bf_least_cost(b->space, &problem, &best))
        return law_skip(b);
    if (!plan_small(b, &game, &p, &broken))
        return broken || law_skip(b);
    weighted.feasible += best.feasible && is_plain(game.graph);
    if (!p.certificate)
        return false;
    pb_u128 cost = p.schedule.metrics.cost, least = {0, best.value};
    if (!best.feasible || pb_u128_compare(cost, least) < 0)
        return law_broken(b, "cost %" PRIu64 ", but the least is %" PRIu64, cost.low, best.value);
    weighted.found += is_plain(game.graph);
    weighted.best += is_plain(game.graph) && pb_u128_compare(cost, least) == 0;
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 1000);
    law_run("every change keeps the rules and can be taken back", changes_break, PB_GAME_REVERSIBLE, cases);
    law_run_large("the same on larger graphs", changes_break, PB_GAME_REVERSIBLE, cases / 4);
    law_run("search keeps to the exhaustive optimum", search_fails, PB_GAME_REVERSIBLE, cases);
    law_run("the same where peak and flux have weights", weights_fail, PB_GAME_REVERSIBLE, cases);
    bool weak = is_weak("unweighted", &unweighted);
    weak = is_weak("weighted", &weighted) || weak;
    return law_finish() || weak;
}
