/* comebacks.c -- see comebacks.h. */
#include "plan/evict/comebacks.h"

/* Surely available when v is to come back, if it stays in memory or is recomputed. */
static bool is_sure_input(const pbi_comebacks *c, const pb_graph *g, pb_node v, pb_node u)
{
    if (!(g->flags[u] & PB_NODE_NEEDED))
        return false;
    if (!pbi_is_final_computation(g, u))
        return g->depth[u] < g->depth[v];
    return !c->by[u] &&
           ((g->flags[u] & PB_NODE_GIVEN) ? !(g->flags[u] & PB_NODE_GIVEN_SLOW) : g->depth[u] < g->depth[v]);
}

static bool is_sure(const pbi_comebacks *c, const pb_graph *g, pb_node v, uint32_t by)
{
    pb_way way = pb_graph_way(g, v, by);
    bool sure = true;
    for (uint32_t k = 0; k < way.in_count && sure; k++)
        sure = is_sure_input(c, g, v, way.in[k]);
    return sure;
}

static void choose(pbi_comebacks *c, const pb_graph *g, pb_node v)
{
    for (uint32_t by = pb_graph_recipes(g, v); by > 0; by--)
        if (is_sure(c, g, v, by) && (!c->by[v] || pb_graph_way(g, v, by).cost <= pb_graph_way(g, v, c->by[v]).cost))
            c->by[v] = (uint8_t)by;
    if (!c->by[v])
        return;
    pb_way way = pb_graph_way(g, v, c->by[v]);
    for (uint32_t k = 0; k < way.in_count; k++)
        if (pbi_is_final_computation(g, way.in[k]))
            c->fixed[way.in[k]] = 1;
}

/* The rows of `in` the other way round. */
static bool turn_rows(pbi_comebacks *c, size_t n, pb_arena *arena)
{
    uint32_t all = c->first[n];
    uint32_t *start = pb_arena_zero(arena, n + 2, sizeof *start);
    c->reader = pb_arena_alloc(arena, all, sizeof *c->reader);
    if (!start || !c->reader)
        return false;
    for (uint32_t k = 0; k < all; k++)
        start[c->in[k] + 2]++;
    for (size_t v = 0; v < n; v++)
        start[v + 2] += start[v + 1];
    for (pb_node v = 0; v < n; v++)
        for (uint32_t k = c->first[v]; k < c->first[v + 1]; k++)
            c->reader[start[c->in[k] + 1]++] = v;
    c->reader_first = start;
    return true;
}

pb_status pbi_comebacks_find(pbi_comebacks *c, const pb_graph *g, bool recipes, pb_arena *arena)
{
    size_t n = g->node_count, all = 0;
    for (pb_node v = 0; v < n && recipes; v++)
        for (uint32_t by = pb_graph_recipes(g, v); by > 0; by--)
            all += pb_graph_way(g, v, by).in_count;
    c->first = pb_arena_zero(arena, n + 1, sizeof *c->first);
    c->in = pb_arena_alloc(arena, all, sizeof *c->in);
    c->by = pb_arena_zero(arena, n, sizeof *c->by);
    c->fixed = pb_arena_zero(arena, n, sizeof *c->fixed);
    if (!c->first || !c->in || !c->by || !c->fixed)
        return PB_ENOMEM;
    for (pb_node v = 0; v < n && recipes; v++) {
        uint32_t at = c->first[v];
        for (uint32_t by = 1; by <= pb_graph_recipes(g, v); by++) {
            pb_way way = pb_graph_way(g, v, by);
            for (uint32_t k = 0; k < way.in_count; k++)
                c->in[at++] = way.in[k];
        }
        c->first[v + 1] = at;
        if (pbi_is_final_computation(g, v) && !c->fixed[v] && !(g->flags[v] & PB_NODE_KEEP))
            choose(c, g, v);
    }
    return turn_rows(c, n, arena) ? PB_OK : PB_ENOMEM;
}

uint32_t pbi_comebacks_first(const pbi_comebacks *c, const pb_graph *g, pb_node v, uint32_t by)
{
    uint32_t at = c->first[v];
    for (uint32_t k = 1; k < by; k++)
        at += pb_graph_way(g, v, k).in_count;
    return at;
}
