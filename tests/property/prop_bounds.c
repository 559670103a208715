/* prop_bounds.c -- no bound exceeds what the exhaustive search reaches. */
#include "pebble/bound.h"

#include "support/law.h"
#include "support/reference.h"

#include <inttypes.h>

/* Bounds do not look at the cap: neither does the search here. */
static bool bounds_fail(law_bench *b)
{
    pb_bounds bounds;
    bf_answer peak, work, cost;
    bf_problem open = b->problem;
    open.cap = PB_UNLIMITED;
    if (!bf_least_peak(b->space, &open, &peak) || !bf_least_makespan(b->space, &open, &work) ||
        !bf_least_cost(b->space, &open, &cost))
        return law_skip(b);
    if (pb_bounds_make(&b->ctx, &b->game, &bounds) != PB_OK)
        return law_broken(b, "no bounds: %s", b->ctx.error.message);
    if (!peak.feasible)
        return false; /* any bound holds */
    if (bounds.impossible)
        return law_broken(b, "said to be impossible at node %u, but peak %" PRIu64 " works", bounds.impossible_at,
                          peak.value);
    if (bounds.least_cap > peak.value)
        return law_broken(b, "least cap %" PRIu64 ", but peak %" PRIu64 " works", bounds.least_cap, peak.value);
    if (bounds.makespan > work.value)
        return law_broken(b, "makespan bound %" PRIu64 ", but %" PRIu64 " is reached", bounds.makespan, work.value);
    if (bounds.has_cost && pb_u128_compare(bounds.cost, (pb_u128){0, cost.value}) > 0)
        return law_broken(b, "cost bound %" PRIu64 ", but %" PRIu64 " is reached", bounds.cost.low, cost.value);
    return false;
}

static uint64_t raised, met, proved_over, raised_cap; /* games where there was something to check */

/* Tightened bounds hold under the cap of the game. */
static bool tightened_fail_at(law_bench *b, const bf_answer *peak)
{
    pb_bounds plain, bounds;
    bf_answer work, cost;
    if (!bf_least_makespan(b->space, &b->problem, &work) || !bf_least_cost(b->space, &b->problem, &cost))
        return law_skip(b);
    if (pb_bounds_make(&b->ctx, &b->game, &plain) != PB_OK)
        return law_broken(b, "no bounds: %s", b->ctx.error.message);
    bounds = plain;
    if (pb_bounds_tighten(&b->ctx, &b->game, 0, &bounds) != PB_OK)
        return law_broken(b, "not tightened: %s", b->ctx.error.message);
    if (bounds.makespan < plain.makespan || bounds.least_cap < plain.least_cap)
        return law_broken(b, "tightening lowered a bound");
    if (peak->feasible && bounds.least_cap > peak->value)
        return law_broken(b, "least cap %" PRIu64 ", but peak %" PRIu64 " works", bounds.least_cap, peak->value);
    raised_cap += bounds.least_cap > plain.least_cap;
    if (!work.feasible) {
        proved_over += bounds.over && bounds.least_cap <= b->game.cap;
        return false;
    }
    if (bounds.over)
        return law_broken(b, "said to be over the cap at node %u, but makespan %" PRIu64 " works", bounds.over_at,
                          work.value);
    if (bounds.makespan > work.value)
        return law_broken(b, "makespan bound %" PRIu64 " at node %u, but %" PRIu64 " is reached", bounds.makespan,
                          bounds.makespan_at, work.value);
    if (bounds.has_cost && pb_u128_compare(bounds.cost, (pb_u128){0, cost.value}) > 0)
        return law_broken(b, "cost bound %" PRIu64 ", but %" PRIu64 " is reached", bounds.cost.low, cost.value);
    raised += bounds.makespan > plain.makespan;
    met += bounds.makespan > plain.makespan && bounds.makespan == work.value;
    return false;
}

/* At the game's own cap and, where there is most to prove, at the least ones that work. */
static bool tightened_fail(law_bench *b)
{
    bf_answer peak;
    bf_problem open = b->problem;
    open.cap = PB_UNLIMITED;
    if (!bf_least_peak(b->space, &open, &peak))
        return law_skip(b);
    bool broken = tightened_fail_at(b, &peak);
    for (uint64_t more = 0; peak.feasible && more < 3 && !broken && !b->skipped; more++) {
        b->game.cap = b->problem.cap = peak.value + more;
        broken = tightened_fail_at(b, &peak);
    }
    return broken;
}

static void print_judged(const char *game)
{
    printf("       %s: makespan raised %" PRIu64 " times, to the optimum %" PRIu64 ", least cap raised %" PRIu64
           ", infeasible otherwise %" PRIu64 "\n",
           game, raised, met, raised_cap, proved_over);
    raised = met = raised_cap = proved_over = 0;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 10000);
    law_run("bounds never exceed the optimum of remat", bounds_fail, PB_GAME_REMAT, cases);
    law_run("bounds never exceed the optimum of reversible", bounds_fail, PB_GAME_REVERSIBLE, cases);
    law_run("bounds never exceed the optimum of tiered", bounds_fail, PB_GAME_TIERED, cases);
    law_run_recipes("bounds never exceed the optimum of remat with recipes", bounds_fail, PB_GAME_REMAT, cases);
    law_run_recipes("bounds never exceed the optimum of tiered with recipes", bounds_fail, PB_GAME_TIERED, cases);
    law_run("tightened bounds never exceed the optimum of remat", tightened_fail, PB_GAME_REMAT, cases);
    bool weak = cases >= 1000 && (raised == 0 || met == 0 || raised_cap == 0);
    print_judged("remat");
    law_run("tightened bounds never exceed the optimum of tiered", tightened_fail, PB_GAME_TIERED, cases);
    weak = weak || (cases >= 1000 && (raised == 0 || met == 0));
    print_judged("tiered");
    law_run("tightened bounds never exceed the optimum of reversible", tightened_fail, PB_GAME_REVERSIBLE, cases);
    weak = weak || (cases >= 1000 && (raised == 0 || met == 0));
    print_judged("reversible");
    law_run_recipes("tightened bounds never exceed the optimum of remat with recipes", tightened_fail, PB_GAME_REMAT,
                    2 * cases);
    weak = weak || (cases >= 1000 && (raised == 0 || met == 0 || raised_cap == 0));
    print_judged("remat with recipes");
    law_run_recipes("tightened bounds never exceed the optimum of tiered with recipes", tightened_fail, PB_GAME_TIERED,
                    cases);
    weak = weak || (cases >= 1000 && (raised == 0 || met == 0));
    print_judged("tiered with recipes");
    if (weak)
        puts("nothing was raised: this judges nothing");
    return law_finish() || weak;
}
