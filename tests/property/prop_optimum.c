/* prop_optimum.c -- laws of the optimum itself, with the verifier and the metrics as witnesses. */
#include "base/rng.h"
#include "pebble/metrics.h"
#include "support/law.h"

#include <inttypes.h>

static bool optimum_rises_with_cap(law_bench *b)
{
    bf_answer least;
    if (!bf_least_peak(b->space, &b->problem, &least))
        return law_skip(b);
    uint64_t from = least.feasible ? least.value : 0, best = UINT64_MAX, best_cost = UINT64_MAX;
    for (uint64_t cap = from ? from - 1 : 0; cap <= from + 3; cap++) {
        bf_problem p = b->problem;
        bf_answer work, cost;
        p.cap = cap;
        if (!bf_least_makespan(b->space, &p, &work) || !bf_least_cost(b->space, &p, &cost))
            return law_skip(b);
        bool fits = least.feasible && cap >= least.value;
        if (work.feasible != fits || cost.feasible != fits)
            return law_broken(b, "cap %" PRIu64 " is %sfeasible, the least peak is %" PRIu64, cap,
                              work.feasible ? "" : "in", least.value);
        if (work.feasible && (work.value > best || cost.value > best_cost || work.peak > cap || cost.peak > cap))
            return law_broken(b, "the optimum rises at cap %" PRIu64, cap);
        best = work.feasible ? work.value : best;
        best_cost = cost.feasible ? cost.value : best_cost;
    }
    return false;
}

static bool relabelling_changes_optimum(law_bench *b)
{
    uint8_t to[SMALL_MAX];
    uint32_t n = b->small->node_count;
    pbi_rng rng = {b->small->seed + 99};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = (uint32_t)pbi_rng_below(&rng, i + 1);
        to[i] = to[j];
        to[j] = (uint8_t)i;
    }
    small_game renamed;
    pb_game game;
    bf_problem p;
    bf_answer one, two;
    small_game_relabel(b->small, to, &renamed);
    if (!small_game_build(&b->ctx, &renamed, &b->arena, &game) || !bf_from_game(&game, &p))
        return law_broken(b, "the relabelled graph is refused: %s", b->ctx.error.message);
    if (!bf_least_cost(b->space, &b->problem, &one) || !bf_least_cost(b->space, &p, &two))
        return law_skip(b);
    if (one.feasible != two.feasible || (one.feasible && one.value != two.value))
        return law_broken(b, "cost %" PRIu64 " becomes %" PRIu64, one.value, two.value);
    return false;
}

/* The schedule behind an answer, judged by the library. */
static bool replay_differs(law_bench *b, const bf_answer *a, bool weighted)
{
    pb_moves moves;
    pb_verdict v;
    pb_metrics m;
    pb_moves_init(&moves, &b->arena);
    if (bf_to_moves(a, &moves) != PB_OK || pb_verify(&b->ctx, &b->game, &moves, &b->arena, &v) != PB_OK)
        return law_broken(b, "no verdict: %s", b->ctx.error.message);
    if (!v.certificate)
        return law_broken(b, "an optimal schedule breaks %s at move %" PRIu64, pb_rule_name(v.rule), v.step);
    if (pb_metrics_measure(&b->ctx, v.certificate, &m) != PB_OK)
        return law_broken(b, "no metrics: %s", b->ctx.error.message);
    if (m.peak != a->peak || (!weighted && m.makespan != a->value) ||
        (weighted && (m.cost.high || m.cost.low != a->value)))
        return law_broken(
            b, "value %" PRIu64 " peak %" PRIu64 " measures as makespan %" PRIu64 " cost %" PRIu64 " peak %" PRIu64,
            a->value, a->peak, m.makespan, m.cost.low, m.peak);
    return false;
}

static bool optimum_does_not_verify(law_bench *b)
{
    bf_answer a;
    if (!bf_least_makespan(b->space, &b->problem, &a))
        return law_skip(b);
    if (a.feasible && replay_differs(b, &a, false))
        return true;
    if (!bf_least_cost(b->space, &b->problem, &a))
        return law_skip(b);
    return a.feasible && replay_differs(b, &a, true);
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 3000);
    law_run("the optimum never rises with the cap", optimum_rises_with_cap, PB_GAME_ALL, cases);
    law_run("relabelling keeps the optimum", relabelling_changes_optimum, PB_GAME_ALL, cases);
    law_run("optimal schedules verify to their own figures", optimum_does_not_verify, PB_GAME_ALL, cases);
    law_run_recipes("with recipes the optimum never rises with the cap", optimum_rises_with_cap, PB_GAME_ALL, cases);
    law_run_recipes("with recipes relabelling keeps the optimum", relabelling_changes_optimum, PB_GAME_ALL, cases);
    law_run_recipes("with recipes optimal schedules verify to their own figures", optimum_does_not_verify, PB_GAME_ALL,
                    cases);
    return law_finish();
}
