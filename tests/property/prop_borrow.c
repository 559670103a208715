/* prop_borrow.c -- plans with borrowed memory: a second replay and the exhaustive optimum judge them. */
#include "pebble/api.h"
#include "support/law.h"
#include "support/plan_check.h"

#include <inttypes.h>

enum { TICKS = 20000 };

static uint64_t with_borrowed; /* plans that borrow */

/* The library's verifier judges the judge. */
static bool is_legal(law_bench *b, const pb_game *game, const bf_answer *best)
{
    pb_moves moves;
    pb_verdict verdict;
    pb_metrics metrics;
    pb_moves_init(&moves, &b->arena);
    return bf_to_moves(best, &moves) == PB_OK && pb_verify(&b->ctx, game, &moves, &b->arena, &verdict) == PB_OK &&
           verdict.certificate && pb_metrics_measure(&b->ctx, verdict.certificate, &metrics) == PB_OK &&
           metrics.makespan == best->value;
}

/* The best of all plans with borrowed memory judges what is said of it. */
static bool keeps_to_optimum(law_bench *b, const pb_plan_result *p)
{
    bf_problem lent = b->problem;
    bf_answer work, cost;
    char why[PLAN_WHY];
    lent.cap = p->game->cap;
    lent.borrow = p->game->borrow;
    if (!bf_least_cost(b->space, &lent, &cost) || !bf_least_makespan(b->space, &lent, &work))
        return law_skip(b);
    if (work.feasible && !is_legal(b, p->game, &work))
        return law_broken(b, "the exhaustive search has an illegal plan");
    if (!plan_keeps_to_optimum(p, &work, &cost, why))
        return law_broken(b, "cap %" PRIu64 ", borrow %" PRIu64 ": %s", lent.cap, lent.borrow, why);
    return false;
}

/* Caps were chosen around the least one without borrowed memory: every other game has less of its own. */
static pb_game with_borrow(const law_bench *b)
{
    uint64_t seed = b->small->seed;
    pb_game game = b->game;
    game.borrow = 1 + seed % 5;
    uint64_t less = seed % 2 && game.cap != PB_UNLIMITED ? seed / 10 % (game.borrow + 1) : 0;
    game.cap -= less < game.cap ? less : game.cap;
    return game;
}

static bool borrowing_fails(law_bench *b)
{
    static const char *const strategies[] = {"auto", "exact", "auto", "knill", "auto", "edge-rank", "auto", "demand"};
    char why[PLAN_WHY];
    pb_plan_result p;
    pb_game game = with_borrow(b);
    pb_request request = {.seed = b->small->seed, .strategy = strategies[b->small->seed % 8]};
    b->ctx.tick_limit = TICKS;
    b->ctx.ticks = 0;
    pb_status status = pb_plan(&b->ctx, &game, &request, &b->arena, &p);
    if (status != PB_OK)
        return law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
    if (!plan_is_honest(&game, &p, why))
        return law_broken(b, "borrow %" PRIu64 ": %s", game.borrow, why);
    with_borrowed += p.certificate && p.schedule.metrics.borrowed;
    return keeps_to_optimum(b, &p);
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 1000);
    law_run("what is borrowed comes back, and bounds and claims hold", borrowing_fails,
            PB_GAME_REMAT | PB_GAME_REVERSIBLE, cases);
    law_run("the same of the game where all of it is uncomputed", borrowing_fails, PB_GAME_REVERSIBLE, cases);
    int code = law_finish();
    return with_borrowed > cases / 50 ? code : 1;
}
