/* prop_fix.c -- a game in which nodes that no better plan computes twice are `once` still has the best plan. */
#include "plan/statespace/live.h"
#include "plan/statespace/once.h"

#include "base/rng.h"
#include "support/law.h"

#include <inttypes.h>

static uint64_t narrowed, marked, settled;

/* The best plan of the narrow game, by exhaustive search and by search over live sets. */
static bool narrow_fails(law_bench *b, const pb_game *narrow, uint64_t least, uint64_t known)
{
    bf_problem p;
    bf_answer best;
    pbi_live *live;
    pbi_live_answer answer;
    if (!bf_from_game(narrow, &p) || !bf_least_makespan(b->space, &p, &best))
        return law_skip(b);
    if (!best.feasible || best.value != least)
        return law_broken(b, "the least was %" PRIu64 ", below %" PRIu64 " it is now %" PRIu64, least, known,
                          best.value);
    if (pbi_live_new(&b->ctx, narrow, 0, &b->arena, &live) != PB_OK || !live)
        return law_skip(b);
    pbi_live_set_known(live, known);
    if (pbi_live_solve(live, 10000000, 0, &answer) != PB_OK)
        return law_broken(b, "no memory");
    return (answer.end != PBI_LIVE_PROVED || answer.work != least || !answer.own) &&
           law_broken(b, "the search finds %" PRIu64 ", not %" PRIu64, answer.work, least);
}

static bool fix_fails_at(law_bench *b, uint64_t cap)
{
    bf_answer best;
    pbi_once once;
    b->game.cap = b->problem.cap = cap;
    b->game.weights = PB_WEIGHTS_DEFAULT;
    if (!bf_least_makespan(b->space, &b->problem, &best))
        return law_skip(b);
    if (!best.feasible)
        return false;
    pbi_rng rng = {.state = b->small->seed + cap};
    uint64_t known = best.value + pbi_rng_below(&rng, 4), least = best.value;
    if (pbi_once_narrow(&b->ctx, &b->game, known, UINT32_MAX, &b->arena, &once) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    if (once.bound > least)
        return law_broken(b, "a bound of %" PRIu64 ", but %" PRIu64 " is reached", once.bound, least);
    narrowed += once.count > 0;
    marked += once.count;
    settled += once.none;
    if (known == least)
        return false;
    return once.none ? law_broken(b, "nothing below %" PRIu64 ", but %" PRIu64 " is reached", known, least)
                     : narrow_fails(b, &once.game, least, known);
}

/* At the least caps that work, where most is recomputed. */
static bool law_fails(law_bench *b)
{
    bf_answer peak;
    bf_problem open = b->problem;
    open.cap = PB_UNLIMITED;
    if (!bf_least_peak(b->space, &open, &peak))
        return law_skip(b);
    for (uint64_t more = 0; more < 3 && !b->skipped; more++)
        if (peak.feasible && fix_fails_at(b, peak.value + more))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 5000);
    law_run("a narrowed game keeps the best plan", law_fails, PB_GAME_REMAT, cases);
    printf("       narrowed %" PRIu64 " games by %" PRIu64 " nodes, settled %" PRIu64 "\n", narrowed, marked, settled);
    bool weak = cases >= 500 && (narrowed == 0 || settled == 0);
    if (weak)
        puts("nothing was narrowed: this judges nothing");
    return law_finish() || weak;
}
