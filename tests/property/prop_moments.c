/* prop_moments.c -- whatever the prices, no bound from several first computations exceeds what the exhaustive search
 * reaches. */
#include "base/rng.h"
#include "bound/cut_split.h"

#include "support/law.h"

#include <inttypes.h>

enum { TRIES = 4, CASES = 200 };

typedef struct several {
    pbi_moments m;
    pbi_climb climb;
    pbi_splitter splitter;
    pbi_rng rng;
    bf_answer work;
    uint64_t least; /* work of every needed node, once */
} several;

static uint64_t judged, raised, met, over, alone[PBI_MOMENTS + 1];

static bool prepare(law_bench *b, several *s)
{
    s->rng.state = b->small->seed;
    s->least = b->game.graph->needed_cost;
    return pbi_moments_init(&s->m, &b->ctx, &b->arena, &b->game) == PB_OK &&
           pbi_climb_init(&s->climb, &s->m, &b->arena) && pbi_splitter_init(&s->splitter, &s->climb, &b->arena, CASES);
}

static bool bound_fails(law_bench *b, several *s, int64_t value, const char *what)
{
    if (value >= PBI_FLOW_INF) {
        over++;
        return s->work.feasible && law_broken(b, "%s at %u, %u: said not to fit, but %" PRIu64 " works", what,
                                              s->m.net[0].z, s->m.net[1].z, s->work.value);
    }
    uint64_t extra = pbi_cut_network_work(&s->m.net[0], pbi_cut_network_round(&s->m.net[0], value));
    raised += extra > 0;
    met += s->work.feasible && extra > 0 && s->least + extra == s->work.value;
    judged++;
    return s->work.feasible && s->least + extra > s->work.value &&
           law_broken(b, "%s with %u moments from %u: %" PRIu64 ", but %" PRIu64 " is reached", what, s->m.count,
                      s->m.net[0].z, s->least + extra, s->work.value);
}

/* Prices that nobody would choose bound as well. */
static bool random_prices_fail(law_bench *b, several *s)
{
    double one = (double)(INT64_C(1) << s->m.net[0].shift);
    for (uint32_t k = 0; k < s->m.count; k++) {
        s->m.rate[k] = one * pbi_rng_real(&s->rng) * (double)pbi_rng_below(&s->rng, 8);
        for (uint32_t i = 0; k && i < s->m.linked_count[k]; i++)
            s->m.link[k][i] = one * pbi_rng_real(&s->rng) * (double)pbi_rng_below(&s->rng, 8);
    }
    int64_t value = pbi_moments_evaluate(&s->m);
    return value != INT64_MIN && bound_fails(b, s, value, "random prices");
}

static bool moments_fail(law_bench *b, several *s, const pb_node *z, uint32_t count)
{
    if (!pbi_moments_at(&s->m, z, count))
        return false;
    alone[count]++;
    for (uint32_t i = 0; i < TRIES; i++)
        if (random_prices_fail(b, s))
            return true;
    double rate[PBI_MOMENTS];
    for (uint32_t k = 0; k < count; k++)
        rate[k] = (double)(INT64_C(1) << s->m.net[0].shift) * pbi_rng_real(&s->rng);
    s->climb.best = INT64_MIN;
    s->climb.impossible = false;
    pbi_climb_guess(&s->climb, rate);
    pbi_climb_run(&s->climb, 20);
    if (s->climb.impossible)
        return bound_fails(b, s, PBI_FLOW_INF, "climb");
    if (bound_fails(b, s, s->climb.best, "climb"))
        return true;
    return bound_fails(b, s, pbi_splitter_run(&s->splitter), "cases");
}

static bool depends(several *s, pb_node first, pb_node second)
{
    s->m.net[0].until = PB_NO_NODE;
    pbi_cut_network_at(&s->m.net[0], first);
    return pbi_cut_network_after(&s->m.net[0], second);
}

/* Random chains of two and three moments. */
static bool chains_fail(law_bench *b, several *s)
{
    const pb_graph *g = b->game.graph;
    pb_node z[PBI_MOMENTS];
    uint32_t count = 0, from = (uint32_t)pbi_rng_below(&s->rng, g->order_count);
    for (uint32_t i = from; i < g->order_count && count < PBI_MOMENTS; i++) {
        pb_node v = g->order[i];
        bool fits = (g->flags[v] & PB_NODE_NEEDED) && pb_graph_is_computed(g, v) && pbi_rng_below(&s->rng, 3);
        if (fits && (count == 0 || depends(s, z[count - 1], v)))
            z[count++] = v;
    }
    for (uint32_t k = 2; k <= count; k++)
        if (moments_fail(b, s, z, k))
            return true;
    return false;
}

static bool moments_fail_at(law_bench *b, uint64_t cap)
{
    several s;
    b->game.cap = b->problem.cap = cap;
    if (!bf_least_makespan(b->space, &b->problem, &s.work))
        return law_skip(b);
    if (!prepare(b, &s))
        return law_broken(b, "no memory");
    for (uint32_t i = 0; i < TRIES && b->game.graph->order_count; i++)
        if (chains_fail(b, &s))
            return true;
    return false;
}

/* At the least caps that work, where there is most to prove, and just below. */
static bool law_fails(law_bench *b)
{
    bf_answer peak;
    bf_problem open = b->problem;
    open.cap = PB_UNLIMITED;
    if (!bf_least_peak(b->space, &open, &peak))
        return law_skip(b);
    for (uint64_t more = 0; more < 4 && !b->skipped; more++)
        if (peak.feasible && peak.value + more > 0 && moments_fail_at(b, peak.value + more - 1))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 10000);
    law_run("bounds from several moments never exceed the optimum", law_fails, PB_GAME_REMAT, cases);
    printf("       pairs %" PRIu64 ", triples %" PRIu64 ", bounds %" PRIu64 ", above the plain one %" PRIu64
           ", at the optimum %" PRIu64 ", infeasible %" PRIu64 "\n",
           alone[2], alone[3], judged, raised, met, over);
    bool weak = cases >= 1000 && (alone[3] == 0 || raised == 0 || met == 0 || over == 0);
    if (weak)
        puts("nothing was raised: this judges nothing");
    return law_finish() || weak;
}
