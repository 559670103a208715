/* prop_milp.c -- milp finds the least work in program order; lp-rounding never less.
 *
 * The judge is an exhaustive search of its own over Checkmate's stages: all sets of values that may be there, slot by
 * slot, with every choice of what is freed, computed, made as a by-product and overwritten. Plans are judged as the strategies make
 * them: the clean-up behind them may leave the stages and do with less. */
#include "api/pipeline/pipeline.h"
#include "plan/milp/highs.h"
#include "support/law.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 12, SETS = 1 << MOST };

typedef struct staged {
    const pb_graph *g;
    uint64_t cap;
    uint64_t work[SETS], next[SETS]; /* least work by which the set is reached, UINT64_MAX: not */
    uint64_t size[SETS];
} staged;

static void lower(uint64_t *at, uint64_t value)
{
    if (value < *at)
        *at = value;
}

static uint32_t bits(const pb_node *list, uint32_t from, uint32_t to)
{
    uint32_t set = 0;
    for (uint32_t k = from; k < to; k++)
        set |= UINT32_C(1) << list[k];
    return set;
}

/* Any value may go. */
static void free_all_ways(staged *s)
{
    for (uint32_t set = UINT32_C(1) << s->g->node_count; set-- > 0;)
        for (uint32_t rest = set; rest && s->work[set] != UINT64_MAX; rest &= rest - 1)
            lower(&s->work[set & ~(rest & -rest)], s->work[set]);
}

static void reach(staged *s, pb_node v, uint32_t from, uint32_t also, pb_node over)
{
    const pb_graph *g = s->g;
    uint32_t self = UINT32_C(1) << v, to = from | self | also;
    uint64_t during = g->fixed_size + s->size[from | also | self] + g->workspace[v];
    if (over != PB_NO_NODE) {
        during -= g->size[over] < g->size[v] ? g->size[over] : g->size[v];
        to &= ~(UINT32_C(1) << over);
    }
    if (during <= s->cap)
        lower(&s->next[to], s->work[from] + g->cost[v]);
}

/* Computes v from every set, in every way. */
static void compute_all_ways(staged *s, pb_node v)
{
    const pb_graph *g = s->g;
    uint32_t inputs = bits(g->in, g->in_start[v], g->in_start[v + 1]), self = UINT32_C(1) << v;
    uint32_t parts = g->part_start ? bits(g->part, g->part_start[v], g->part_start[v + 1]) : 0;
    for (uint32_t set = 0; set < UINT32_C(1) << g->node_count; set++) {
        if (s->work[set] == UINT64_MAX || (set & inputs) != inputs)
            continue;
        uint32_t free_parts = parts & ~set, also = free_parts;
        for (;; also = (also - 1) & free_parts) {
            if (also || !(set & self))
                reach(s, v, set, also, PB_NO_NODE);
            for (uint32_t k = g->inplace_start ? g->inplace_start[v] : 0;
                 g->inplace_start && k < g->inplace_start[v + 1] && !(set & self); k++)
                reach(s, v, set, also, g->inplace[k]);
            if (!also)
                break;
        }
    }
}

static void slot(staged *s, pb_node v, bool must)
{
    size_t bytes = sizeof s->work[0] << s->g->node_count;
    if (must)
        memset(s->next, 0xff, bytes);
    else
        memcpy(s->next, s->work, bytes);
    compute_all_ways(s, v);
    memcpy(s->work, s->next, bytes);
    free_all_ways(s);
}

static uint64_t least_work(staged *s, const pb_game *game)
{
    const pb_graph *g = game->graph;
    uint32_t start = 0, keep = 0;
    s->g = g;
    s->cap = game->cap;
    memset(s->work, 0xff, sizeof s->work);
    for (uint32_t set = 0; set < UINT32_C(1) << g->node_count; set++) {
        s->size[set] = 0;
        for (pb_node v = 0; v < g->node_count; v++)
            s->size[set] += set >> v & 1 ? g->size[v] : 0;
    }
    for (pb_node v = 0; v < g->node_count; v++) {
        start |= g->flags[v] & PB_NODE_GIVEN ? UINT32_C(1) << v : 0;
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            return UINT64_MAX; /* there is no slow memory */
        keep |= g->flags[v] & PB_NODE_KEEP ? UINT32_C(1) << v : 0;
    }
    if (g->fixed_size + s->size[start] > s->cap)
        return UINT64_MAX;
    s->work[start] = 0;
    free_all_ways(s);
    for (uint32_t t = 0; t < g->order_count; t++)
        for (uint32_t k = 0; k <= t; k++) {
            pb_node v = g->order[k];
            if ((g->flags[v] & PB_NODE_NEEDED) && (g->flags[g->order[t]] & PB_NODE_NEEDED) &&
                (k == t || !(g->flags[v] & PB_NODE_ONCE)))
                slot(s, v, k == t);
        }
    return s->work[keep];
}

static staged search;
static uint64_t judged, tight;

typedef bool (*judge)(law_bench *b, const pb_plan_result *p, uint64_t least);

/* Every cap from what program order needs down to where nothing fits. */
static bool broken_at_some_cap(law_bench *b, const char *row, judge broken)
{
    uint64_t least = 0;
    pb_plan_result p;
    if (b->game.graph->node_count > MOST)
        return law_skip(b);
    if (pb_graph_program_peak(&b->ctx, b->game.graph, &b->game.cap) != PB_OK)
        return law_broken(b, "no peak: %s", b->ctx.error.message);
    for (; least != UINT64_MAX; b->game.cap--) {
        if (pbi_plan_as_made(&b->ctx, &b->game, &(pb_request){.strategy = row, .seed = 1}, &b->arena, &p) != PB_OK)
            return law_broken(b, "%s fails: %s", row, b->ctx.error.message);
        if (p.schedule.outcome == PB_GAVE_UP && strncmp(p.schedule.reason, "does not apply", 14) == 0)
            return law_skip(b);
        least = least_work(&search, &b->game);
        if (broken(b, &p, least))
            return true;
        if (b->game.cap == 0)
            break;
    }
    return false;
}

static bool is_not_the_least(law_bench *b, const pb_plan_result *p, uint64_t least)
{
    bool more = least > b->game.graph->needed_cost;
    judged++;
    tight += least != UINT64_MAX && more;
    if (least == UINT64_MAX)
        return p->certificate && law_broken(b, "a plan for cap %" PRIu64 ", where there is none", b->game.cap);
    if (!p->certificate)
        return law_broken(b, "no plan (%s), though there is one of work %" PRIu64, p->schedule.reason, least);
    if (p->schedule.metrics.work != least)
        return law_broken(b, "work %" PRIu64 ", the least is %" PRIu64, p->schedule.metrics.work, least);
    return more && !p->schedule.note && law_broken(b, "the least is not said to be proved");
}

static bool is_less(law_bench *b, const pb_plan_result *p, uint64_t least)
{
    if (p->certificate && p->schedule.metrics.work < least)
        return law_broken(b, "work %" PRIu64 ", the least is %" PRIu64, p->schedule.metrics.work, least);
    return !p->certificate && least == b->game.graph->needed_cost &&
           law_broken(b, "no plan (%s), though program order fits", p->schedule.reason);
}

static bool milp_misses(law_bench *b) { return broken_at_some_cap(b, "milp", is_not_the_least); }
static bool highs_misses(law_bench *b) { return broken_at_some_cap(b, "milp:solver=highs", is_not_the_least); }
static bool rounding_beats(law_bench *b) { return broken_at_some_cap(b, "lp-rounding", is_less); }

int main(int argc, char **argv)
{
    if (pbi_highs_found())
        law_run("HiGHS finds the least work in program order", highs_misses, PB_GAME_REMAT,
                law_cases(argc, argv, 1000));
    if (!pb_solver_version()) {
        puts("this build has no Cbc: nothing to check");
        return 0;
    }
    law_run("milp finds the least work in program order", milp_misses, PB_GAME_REMAT, law_cases(argc, argv, 4000));
    printf("%" PRIu64 " games judged, %" PRIu64 " of them with something to recompute\n", judged, tight);
    law_run("lp-rounding stays above the least work", rounding_beats, PB_GAME_REMAT, law_cases(argc, argv, 1000));
    return law_finish();
}
