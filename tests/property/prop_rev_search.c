/* prop_rev_search.c -- search in the reversible game: every change keeps the rules and can be taken back, and on small games it
 * finds the optimum nearly always. */
#include "pebble/api.h"
#include "plan/method_rev_propose.h"
#include "plan/method_rev_start.h"
#include "support/law.h"
#include "support/plan_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CHANGES = 400, TICKS = 150000 };

typedef struct keeper {
    pbi_rev_line line;
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
    pbi_rev_line_load(&k->line, from->unit, from->count);
    if (!pbi_rev_line_check(&k->line))
        return law_broken(b, "the start is not legal");
    for (int n = 0; n < CHANGES; n++) {
        remember(k);
        k->proposer.most = k->line.filled > 6 * k->line.m->count + 20 ? k->work : 1e18;
        bool made = pbi_rev_propose(&k->proposer);
        if (made && !pbi_rev_line_check(&k->line))
            return law_broken(b, "change %d breaks the rules", n);
        if (made && pbi_rng_below(k->proposer.rng, 3))
            continue;
        pbi_rev_undo(&k->line, 0);
        if (!pbi_rev_line_check(&k->line) || !is_as_before(k))
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
    if (!k || status != PB_OK || !pbi_rev_line_init(&k->line, &m, 4096, &b->arena))
        return law_broken(b, "no memory");
    k->before = pb_arena_alloc(&b->arena, k->line.room, sizeof *k->before);
    k->proposer.l = &k->line;
    k->proposer.rng = &rng;
    int32_t cap = pbi_rev_model_cap(&m, b->game.cap);
    bool broken = wander(b, k, &starts.once, cap);
    return broken || (starts.cone.count && wander(b, k, &starts.cone, cap));
}

static uint64_t feasible, found, best_found; /* games */

static bool search_fails(law_bench *b)
{
    bf_answer best;
    pb_planned p;
    char why[PLAN_WHY];
    pb_game game = b->game;
    game.weights = PB_WEIGHTS_DEFAULT;
    if (!bf_least_makespan(b->space, &b->problem, &best))
        return law_skip(b);
    b->ctx.tick_limit = TICKS;
    b->ctx.ticks = 0;
    pb_request request = {.strategy = "search", .seed = b->small->seed, .patient = true};
    if (pb_plan(&b->ctx, &game, &request, &b->arena, &p) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    if (!plan_is_honest(&game, &p, why))
        return law_broken(b, "%s", why);
    const char *reason = p.schedule.reason ? p.schedule.reason : "";
    if (strstr(reason, "does not apply"))
        return law_skip(b);
    bool plain = !game.graph->inplace_start && !game.graph->owner; /* it uses no in-place moves, and whole units */
    feasible += best.feasible && plain;
    if (!p.certificate)
        return false;
    if (!best.feasible || p.schedule.metrics.makespan < best.value)
        return law_broken(b, "work %" PRIu64 ", but the least is %" PRIu64, p.schedule.metrics.makespan, best.value);
    found += plain;
    best_found += plain && p.schedule.metrics.makespan == best.value;
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 1000);
    law_run("every change keeps the rules and can be taken back", changes_break, PB_GAME_REVERSIBLE, cases);
    law_run_large("the same on larger graphs", changes_break, PB_GAME_REVERSIBLE, cases / 4);
    law_run("search keeps to the exhaustive optimum", search_fails, PB_GAME_REVERSIBLE, cases);
    printf("       %" PRIu64 " feasible games, %" PRIu64 " with a plan, %" PRIu64 " with the best one\n", feasible,
           found, best_found);
    bool weak = feasible >= 100 && (found < feasible - feasible / 20 || best_found < found - found / 20);
    if (weak)
        puts("too few of them");
    return law_finish() || weak;
}
