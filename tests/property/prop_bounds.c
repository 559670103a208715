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

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 10000);
    law_run("bounds never exceed the optimum of remat", bounds_fail, PB_GAME_REMAT, cases);
    law_run("bounds never exceed the optimum of reversible", bounds_fail, PB_GAME_REVERSIBLE, cases);
    law_run("bounds never exceed the optimum of tiered", bounds_fail, PB_GAME_TIERED, cases);
    return law_finish();
}
