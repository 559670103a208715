/* dtr.c -- see dtr.h. */
#include "plan/evict/dtr.h"

#include <string.h>

#define NONE UINT32_MAX

static const char *const names[PBI_DTR_SCORES] = {"full", "eq", "local", "lru", "size"};

const char *pbi_dtr_score_name(pbi_dtr_score score) { return names[score]; }

/* ---- full ---- */

typedef enum direction { UP, DOWN } direction;

static void visit(pbi_dtr *d, pb_node unit, uint32_t *count, double *cost)
{
    if (!d->evicted[unit] || d->stamp[unit] == d->stamps)
        return;
    d->stamp[unit] = d->stamps;
    d->queue[(*count)++] = unit;
    *cost += (double)d->g->cost[unit];
}

static void visit_readers(pbi_dtr *d, pb_node value, uint32_t *count, double *cost)
{
    const pb_graph *g = d->g;
    d->scorer.spent += g->out_start[value + 1] - g->out_start[value];
    for (uint32_t k = g->out_start[value]; k < g->out_start[value + 1]; k++)
        visit(d, g->out[k], count, cost);
}

static void visit_around(pbi_dtr *d, pb_node unit, direction way, uint32_t *count, double *cost)
{
    const pb_graph *g = d->g;
    if (way == UP) {
        d->scorer.spent += g->in_start[unit + 1] - g->in_start[unit];
        for (uint32_t k = g->in_start[unit]; k < g->in_start[unit + 1]; k++)
            visit(d, pb_graph_maker(g, g->in[k]), count, cost);
        return;
    }
    visit_readers(d, unit, count, cost);
    if (g->flags[unit] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[unit]; k < g->part_start[unit + 1]; k++)
            visit_readers(d, g->part[k], count, cost);
}

static double neighbourhood(pbi_dtr *d, pb_node unit)
{
    double cost = 0;
    for (direction way = UP; way <= DOWN; way++) {
        uint32_t count = 0;
        d->stamps++;
        visit_around(d, unit, way, &count, &cost);
        for (uint32_t i = 0; i < count; i++)
            visit_around(d, d->queue[i], way, &count, &cost);
    }
    return cost;
}

/* ---- eq ---- */

static uint32_t find_root(pbi_dtr *d, uint32_t e)
{
    while (d->parent[e] != e) {
        d->parent[e] = d->parent[d->parent[e]];
        e = d->parent[e];
    }
    return e;
}

/* Elements of recomputed units are garbage: renumber the live ones when there is no room. */
static void renumber(pbi_dtr *d)
{
    uint32_t count = 0;
    memset(d->renamed, 0xff, d->elements * sizeof *d->renamed);
    for (pb_node u = 0; u < d->g->node_count; u++)
        if (d->evicted[u] && d->element[u] != NONE)
            d->element[u] = find_root(d, d->element[u]);
    double *cost = d->cost + d->max_elements; /* the second half is scratch space */
    for (pb_node u = 0; u < d->g->node_count; u++) {
        if (!d->evicted[u] || d->element[u] == NONE)
            continue;
        uint32_t root = d->element[u];
        if (d->renamed[root] == NONE) {
            d->renamed[root] = count;
            cost[count++] = d->cost[root];
        }
        d->element[u] = d->renamed[root];
    }
    for (uint32_t e = 0; e < count; e++) {
        d->parent[e] = e;
        d->cost[e] = cost[e];
    }
    d->elements = count;
}

static void unite(pbi_dtr *d, pb_node a, pb_node b)
{
    if (!d->evicted[b] || d->element[b] == NONE)
        return;
    uint32_t x = find_root(d, d->element[a]), y = find_root(d, d->element[b]);
    if (x == y)
        return;
    d->parent[y] = x;
    d->cost[x] += d->cost[y];
}

/* Iterates over the neighbours of a unit: the producers of its inputs, and its readers. */
static pb_node next_neighbour(const pb_graph *g, pb_node unit, uint32_t *at)
{
    uint32_t inputs = g->in_start[unit + 1] - g->in_start[unit], i = (*at)++;
    if (i < inputs)
        return pb_graph_maker(g, g->in[g->in_start[unit] + i]);
    i -= inputs;
    uint32_t parts = g->flags[unit] & PB_NODE_HAS_PARTS ? g->part_start[unit + 1] - g->part_start[unit] : 0;
    for (uint32_t m = 0; m <= parts; m++) {
        pb_node w = m ? g->part[g->part_start[unit] + m - 1] : unit;
        uint32_t readers = g->out_start[w + 1] - g->out_start[w];
        if (i < readers)
            return g->out[g->out_start[w] + i];
        i -= readers;
    }
    return PB_NO_NODE;
}

static void join_class(pbi_dtr *d, pb_node unit)
{
    if (d->elements == d->max_elements)
        renumber(d);
    uint32_t e = d->elements++;
    d->element[unit] = e;
    d->parent[e] = e;
    d->cost[e] = (double)d->g->cost[unit];
    pb_node v;
    for (uint32_t at = 0; (v = next_neighbour(d->g, unit, &at)) != PB_NO_NODE;)
        unite(d, unit, v);
}

/* The class keeps its members and loses the cost. */
static void leave_class(pbi_dtr *d, pb_node unit)
{
    if (d->element[unit] == NONE)
        return;
    d->cost[find_root(d, d->element[unit])] -= (double)d->g->cost[unit];
    d->element[unit] = NONE;
}

static double classes_around(pbi_dtr *d, pb_node unit)
{
    double cost = 0;
    pb_node v;
    d->stamps++;
    for (uint32_t at = 0; (v = next_neighbour(d->g, unit, &at)) != PB_NO_NODE; d->scorer.spent++) {
        if (!d->evicted[v] || d->element[v] == NONE)
            continue;
        uint32_t root = find_root(d, d->element[v]);
        if (d->stamp[root] == d->stamps)
            continue;
        d->stamp[root] = d->stamps;
        cost += d->cost[root];
    }
    return cost > 0 ? cost : 0;
}

/* ---- what the planner calls ---- */

static double score_of(void *state, pb_node v)
{
    pbi_dtr *d = state;
    const pb_graph *g = d->g;
    pb_node unit = pb_graph_maker(g, v);
    double stale = d->clock - d->touched[v] + 1, cost = (double)g->cost[unit];
    switch (d->score) {
    case PBI_DTR_LRU: return 1 / stale;
    case PBI_DTR_SIZE: return 1 / (double)g->size[v];
    case PBI_DTR_FULL: cost += neighbourhood(d, unit); break;
    case PBI_DTR_EQ: cost += classes_around(d, unit); break;
    default: break;
    }
    return cost / ((double)g->size[v] * stale);
}

static void made(void *state, pb_node v)
{
    pbi_dtr *d = state;
    if (pb_graph_maker(d->g, v) == v) {
        d->clock += (double)d->g->cost[v] + 1;
        if (d->evicted[v] && d->score == PBI_DTR_EQ)
            leave_class(d, v);
        d->evicted[v] = 0;
    }
    d->touched[v] = d->clock;
}

static void touched(void *state, pb_node v)
{
    pbi_dtr *d = state;
    d->touched[v] = d->clock;
}

/* A value that nothing can need again is not a neighbour of anything. */
static void on_gone(void *state, pb_node v, bool dead)
{
    pbi_dtr *d = state;
    if (pb_graph_maker(d->g, v) != v || dead || (d->g->flags[v] & PB_NODE_GIVEN))
        return;
    d->evicted[v] = 1;
    if (d->score == PBI_DTR_EQ)
        join_class(d, v);
}

pb_status pbi_dtr_init(pbi_dtr *d, const pb_graph *g, pbi_dtr_score kind, pb_arena *arena)
{
    size_t n = g->node_count;
    *d = (pbi_dtr){.g = g, .score = kind};
    d->scorer = (pbi_evict_scorer){.state = d, .score = score_of, .made = made, .touched = touched, .gone = on_gone};
    d->touched = pb_arena_zero(arena, n, sizeof *d->touched);
    d->evicted = pb_arena_zero(arena, n, sizeof *d->evicted);
    if (!d->touched || !d->evicted)
        return PB_ENOMEM;
    if (kind == PBI_DTR_FULL) {
        d->stamp = pb_arena_zero(arena, n, sizeof *d->stamp);
        d->queue = pb_arena_alloc(arena, n, sizeof *d->queue);
        return d->stamp && d->queue ? PB_OK : PB_ENOMEM;
    }
    if (kind == PBI_DTR_EQ) {
        d->max_elements = (uint32_t)(2 * n < UINT32_MAX ? 2 * n : UINT32_MAX - 1);
        d->element = pb_arena_alloc(arena, n, sizeof *d->element);
        d->parent = pb_arena_alloc(arena, d->max_elements, sizeof *d->parent);
        d->cost = pb_arena_alloc(arena, 2 * (size_t)d->max_elements, sizeof *d->cost);
        d->renamed = pb_arena_alloc(arena, d->max_elements, sizeof *d->renamed);
        d->stamp = pb_arena_zero(arena, d->max_elements, sizeof *d->stamp);
        if (!d->element || !d->parent || !d->cost || !d->renamed || !d->stamp)
            return PB_ENOMEM;
        memset(d->element, 0xff, n * sizeof *d->element);
    }
    return PB_OK;
}
