/* prop_front.c -- the Pareto front of the reversible game against exhaustive search at every cap. */
#include "pebble/api.h"
#include "support/law.h"

#include <inttypes.h>

/* The least work within this much memory by the front; UINT64_MAX: nothing fits. */
static uint64_t by_front(const pb_front *f, uint64_t cap)
{
    const pb_front_point *p = pb_front_at(f, cap);
    return p ? p->work : UINT64_MAX;
}

static bool differs_at_some_cap(law_bench *b)
{
    pb_front front;
    bf_problem p = b->problem;
    uint64_t most = b->game.graph->total_size + 3;
    if (pb_reversible_front(&b->ctx, b->game.graph, 0, &b->arena, &front) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    if (!front.complete)
        return law_broken(b, "the front is not complete");
    for (uint32_t i = 1; i < front.count; i++)
        if (front.point[i].peak <= front.point[i - 1].peak || front.point[i].work >= front.point[i - 1].work)
            return law_broken(b, "points %" PRIu32 " and %" PRIu32 " are out of order", i - 1, i);
    for (uint64_t cap = 0; cap <= most; cap++) {
        bf_answer best;
        p.cap = cap;
        if (!bf_least_makespan(b->space, &p, &best))
            return law_skip(b);
        uint64_t least = best.feasible ? best.value : UINT64_MAX, found = by_front(&front, cap);
        if (found != least)
            return law_broken(b, "cap %" PRIu64 ": %" PRIu64 " by the front, %" PRIu64 " by search", cap, found, least);
    }
    return false;
}

/* With little effort what is settled is right, and nothing is said of the rest. */
static bool claims_too_much(law_bench *b)
{
    pb_front part, whole;
    uint64_t effort = 1 + b->small->seed % 3000;
    if (pb_reversible_front(&b->ctx, b->game.graph, effort, &b->arena, &part) != PB_OK ||
        pb_reversible_front(&b->ctx, b->game.graph, 0, &b->arena, &whole) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    uint64_t most = b->game.graph->total_size + 3;
    for (uint64_t cap = part.complete || !part.count ? 0 : part.settled_from; part.count && cap <= most; cap++)
        if (by_front(&part, cap) != by_front(&whole, cap))
            return law_broken(b, "cap %" PRIu64 ": %" PRIu64 " with little effort, %" PRIu64 " with all", cap,
                              by_front(&part, cap), by_front(&whole, cap));
    if (!part.complete && part.count && part.settled_from && pb_front_at(&part, part.settled_from - 1))
        return law_broken(b, "a point below what was settled");
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 300);
    law_run("the front is the least work at every cap", differs_at_some_cap, PB_GAME_REVERSIBLE, cases);
    law_run("a front cut short is right as far as it goes", claims_too_much, PB_GAME_REVERSIBLE, cases);
    law_run_large("a front cut short is right on larger games", claims_too_much, PB_GAME_REVERSIBLE, cases / 10);
    return law_finish();
}
