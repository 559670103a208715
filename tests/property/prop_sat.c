/* prop_sat.c -- the strategy sat against exhaustive search: what it claims is so, and on small games it finds plans. */
#include "pebble/api.h"
#include "support/law.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned feasible, found, optimal, infeasible, refuted;

static bool plan(law_bench *b, const char *spec, pb_plan_result *p)
{
    pb_game game = b->game;
    game.weights = PB_WEIGHTS_DEFAULT;
    return pb_plan(&b->ctx, &game, &(pb_request){.strategy = spec, .seed = 1}, &b->arena, p) == PB_OK;
}

static bool claims_too_much(law_bench *b)
{
    bf_answer best;
    pb_plan_result p;
    const pb_graph *g = b->game.graph;
    if (!bf_least_makespan(b->space, &b->problem, &best))
        return law_skip(b);
    if (!plan(b, "sat:conflicts=8000", &p))
        return law_broken(b, "%s", b->ctx.error.message);
    const pb_schedule *s = &p.schedule;
    if (!g->owner && !g->inplace_start) {
        feasible += best.feasible;
        found += best.feasible && p.certificate;
        optimal += s->outcome == PB_OPTIMAL;
        refuted += !best.feasible;
        infeasible += s->outcome == PB_INFEASIBLE;
    }
    if ((s->outcome == PB_INFEASIBLE || p.certificate) && (p.certificate != NULL) != best.feasible)
        return law_broken(b, "%s (%s), but the search finds %s", pb_outcome_name(s->outcome),
                          s->reason ? s->reason : "", best.feasible ? "a plan" : "none");
    if (p.certificate && s->metrics.makespan < best.value)
        return law_broken(b, "work %" PRIu64 " below the least, %" PRIu64, s->metrics.makespan, best.value);
    if (s->outcome == PB_OPTIMAL && s->metrics.makespan != best.value)
        return law_broken(b, "optimal with %" PRIu64 ", but the least is %" PRIu64, s->metrics.makespan, best.value);
    return false;
}

/* With `memory=least` the peak is never above what the cap allows, nor below what is possible. */
static bool needs_too_little(law_bench *b)
{
    bf_answer least;
    pb_plan_result p;
    if (!bf_least_peak(b->space, &b->problem, &least))
        return law_skip(b);
    if (!plan(b, "sat:conflicts=8000,memory=least", &p))
        return law_broken(b, "%s", b->ctx.error.message);
    if (p.certificate && (!least.feasible || p.schedule.metrics.peak < least.value))
        return law_broken(b, "peak %" PRIu64 " below the least, %" PRIu64, p.schedule.metrics.peak, least.value);
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 600);
    if (!pb_sat_version()) {
        puts("built without CaDiCaL: nothing to check");
        return EXIT_SUCCESS;
    }
    law_run("sat claims no more than is so", claims_too_much, PB_GAME_REVERSIBLE, cases);
    printf("found %u of %u plans, %u of them proved the best; proved %u of %u infeasible\n", found, feasible, optimal,
           infeasible, refuted);
    law_run("sat needs no less than is possible", needs_too_little, PB_GAME_REVERSIBLE, cases / 4);
    if (found * 10 < feasible * 9 || (cases >= 300 && (!optimal || !infeasible))) {
        puts("FAILED sat finds and proves too little on small games");
        return EXIT_FAILURE;
    }
    return law_finish();
}
