/* prop_exact.c -- the strategy exact against exhaustive search: the same least work, infeasible for the same games, and never a
 * wrong claim; and auto with it, on chains of blocks where plans part by part are not the best. */
#include "pebble/full.h"
#include "support/law.h"

#include <inttypes.h>

/* What exact says of the game with default weights must be what the search finds. */
static bool differs_from(law_bench *b, const pb_game *game, const pb_moves *start)
{
    bf_answer best;
    pb_plan_result p;
    if (!bf_least_makespan(b->space, &b->problem, &best))
        return law_skip(b);
    pb_request request = {.strategy = "exact", .seed = 1, .start = start};
    if (pb_plan(&b->ctx, game, &request, &b->arena, &p) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    const pb_schedule *s = &p.schedule;
    if (s->outcome != (best.feasible ? PB_OPTIMAL : PB_INFEASIBLE))
        return law_broken(b, "%s (%s), but the search finds %s of %" PRIu64, pb_outcome_name(s->outcome),
                          s->reason ? s->reason : "", best.feasible ? "a plan" : "none", best.value);
    if (best.feasible && (s->metrics.makespan != best.value || s->lower_bound != best.value))
        return law_broken(b, "work %" PRIu64 " and bound %" PRIu64 ", but the least is %" PRIu64, s->metrics.makespan,
                          s->lower_bound, best.value);
    return false;
}

static bool differs_from_search(law_bench *b)
{
    pb_game game = b->game;
    game.weights = PB_WEIGHTS_DEFAULT;
    return differs_from(b, &game, NULL);
}

/* The same with a plan at hand, be it the best, a bad one, or one that does not fit. */
static bool differs_with_start(law_bench *b)
{
    static const char *const forward[] = {"recompute-all", "demand", "cache-all", "exact"};
    static const char *const reversible[] = {"bennett", "demand", "eager-uncompute", "exact"};
    const char *const *spec = b->game.kind == PB_GAME_REVERSIBLE ? reversible : forward;
    pb_game game = b->game, wide;
    pb_plan_result start;
    game.weights = PB_WEIGHTS_DEFAULT;
    wide = game;
    if (b->small->seed % 3 == 0)
        wide.cap = PB_UNLIMITED;
    pb_request request = {.strategy = spec[b->small->seed % 4], .seed = 1};
    if (pb_plan(&b->ctx, &wide, &request, &b->arena, &start) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    return differs_from(b, &game, start.certificate ? &start.schedule.moves : NULL);
}

/* With the weights of the game, `optimal` must be the least cost. */
static bool claims_too_much(law_bench *b)
{
    bf_answer best;
    pb_plan_result p;
    if (!bf_least_cost(b->space, &b->problem, &best))
        return law_skip(b);
    if (pb_plan(&b->ctx, &b->game, &(pb_request){.strategy = "exact", .seed = 1}, &b->arena, &p) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    if ((p.certificate != NULL) != best.feasible)
        return law_broken(b, "%s", pb_outcome_name(p.schedule.outcome));
    if (p.schedule.outcome == PB_OPTIMAL && (p.schedule.metrics.cost.high || p.schedule.metrics.cost.low != best.value))
        return law_broken(b, "optimal with cost %" PRIu64 ", but the least is %" PRIu64, p.schedule.metrics.cost.low,
                          best.value);
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 10000);
    law_run("exact finds what exhaustive search finds", differs_from_search, PB_GAME_REMAT, cases);
    law_run("exact finds it with a plan at hand", differs_with_start, PB_GAME_REMAT, cases / 2);
    law_run("exact claims no more than is so", claims_too_much, PB_GAME_REMAT, cases / 4);
    law_run("exact finds what exhaustive search finds, reversibly", differs_from_search, PB_GAME_REVERSIBLE, cases);
    law_run("exact finds it with a plan at hand, reversibly", differs_with_start, PB_GAME_REVERSIBLE, cases / 2);
    law_run("exact claims no more than is so, reversibly", claims_too_much, PB_GAME_REVERSIBLE, cases / 4);
    law_run("exact finds what exhaustive search finds, with slow memory", differs_from_search, PB_GAME_TIERED, cases);
    law_run("exact finds it with a plan at hand, with slow memory", differs_with_start, PB_GAME_TIERED, cases / 2);
    law_run("exact claims no more than is so, with slow memory", claims_too_much, PB_GAME_TIERED, cases / 4);
    unsigned with = PB_GAME_REMAT | PB_GAME_TIERED;
    law_run_recipes("exact finds what exhaustive search finds, with recipes", differs_from_search, with, 2 * cases);
    law_run_recipes("exact finds it with a plan at hand, with recipes", differs_with_start, with, cases / 2);
    law_run_recipes("exact claims no more than is so, with recipes", claims_too_much, with, cases / 4);
    return law_finish();
}
