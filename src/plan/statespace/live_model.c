/* live_model.c -- a small remat game in bits. */
#include "base/checked.h"
#include "plan/statespace/live.h"

#include <string.h>

static bool is_needed(const pb_graph *g, pb_node v) { return g->flags[v] & PB_NODE_NEEDED; }

static bool place(pbi_live_model *m, pb_node v)
{
    if (m->count == PBI_LIVE_BITS)
        return false;
    m->node[m->count++] = v;
    return true;
}

/* Readers first; by-products right before their node; given values last. */
static bool place_all(const pb_graph *g, pbi_live_model *m)
{
    for (uint32_t i = g->order_count; i-- > 0;) {
        pb_node v = g->order[i];
        if (!is_needed(g, v))
            continue;
        uint32_t first = m->count;
        for (uint32_t k = g->part ? g->part_start[v] : 0; g->part && k < g->part_start[v + 1]; k++)
            if (is_needed(g, g->part[k]) && !place(m, g->part[k]))
                return false;
        if (!place(m, v))
            return false;
        for (uint32_t k = first; k < m->count; k++)
            m->maker[k] = (uint8_t)(m->count - 1);
    }
    for (pb_node v = 0; v < g->node_count; v++)
        if (is_needed(g, v) && (g->flags[v] & PB_NODE_GIVEN)) {
            if (!place(m, v))
                return false;
            m->maker[m->count - 1] = (uint8_t)(m->count - 1);
        }
    return true;
}

static uint8_t place_of(const pbi_live_model *m, pb_node v)
{
    uint32_t at = 0;
    while (m->node[at] != v)
        at++;
    return (uint8_t)at;
}

static bool add_mark(pbi_live_model *m, unsigned value, bool once, bool target)
{
    if (m->bits == PBI_LIVE_BITS)
        return false;
    if (once)
        pbi_set_add(&m->once_marks, m->bits);
    if (target)
        pbi_set_add(&m->target_marks, m->bits);
    m->marked[m->bits] = (uint8_t)value;
    pbi_set_add(&m->marks[value], m->bits++);
    return true;
}

static bool read_value(const pb_graph *g, pbi_live_model *m, unsigned at)
{
    pb_node v = m->node[at];
    uint16_t flags = g->flags[v];
    m->size[at] = g->size[v];
    pbi_set_add(&m->values, at);
    if (flags & PB_NODE_KEEP)
        pbi_set_add(&m->keep, at);
    if (flags & PB_NODE_GIVEN) {
        pbi_set_add(&m->given, at);
        if (!(flags & PB_NODE_GIVEN_SLOW))
            pbi_set_add(&m->start, at);
        return true;
    }
    pbi_set_add(&m->outs[m->maker[at]], at);
    m->weight[m->maker[at]] += m->size[at];
    bool once = (flags & PB_NODE_ONCE) && m->maker[at] == at;
    bool target = (flags & PB_NODE_TARGET) && !(flags & PB_NODE_KEEP);
    if (once)
        pbi_set_add(&m->once, at);
    return (!once && !target) || add_mark(m, at, once, target);
}

static void read_node(const pb_graph *g, pbi_live_model *m, unsigned at)
{
    pb_node v = m->node[at];
    pbi_set_add(&m->makers, at);
    m->cost[at] = g->cost[v];
    m->workspace[at] = g->workspace[v];
    uint64_t inputs = 0, saved = 0;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        uint8_t u = place_of(m, g->in[k]);
        pbi_set_add(&m->in[at], u);
        pbi_set_add(&m->readers[u], at);
        inputs += m->size[u];
    }
    for (uint32_t k = g->inplace_start ? g->inplace_start[v] : 0; g->inplace_start && k < g->inplace_start[v + 1];
         k++) {
        uint8_t u = place_of(m, g->inplace[k]);
        if (!pbi_set_has(m->in[at], u))
            continue;
        pbi_set_add(&m->inplace[at], u);
        uint64_t smaller = m->size[u] < m->size[at] ? m->size[u] : m->size[at];
        saved = smaller > saved ? smaller : saved;
    }
    m->min_memory[at] = pbi_add_saturated(inputs + m->size[at] - saved, m->workspace[at]);
}

/* Is node a cheaper to recompute than b, for the memory it frees? */
static bool cheaper(const pbi_live_model *m, unsigned a, unsigned b)
{
    pb_u128 x = pbi_u128_product(m->cost[a], m->weight[b]), y = pbi_u128_product(m->cost[b], m->weight[a]);
    return pb_u128_compare(x, y) < 0;
}

/* Insertion sorts: there are at most 128. */
static void sort(pbi_live_model *m)
{
    for (unsigned at = 0; at < m->count; at++) {
        unsigned k = at;
        for (; k > 0 && m->size[m->large_first[k - 1]] < m->size[at]; k--)
            m->large_first[k] = m->large_first[k - 1];
        m->large_first[k] = (uint8_t)at;
        if (!pbi_set_has(m->makers, at) || m->weight[at] == 0)
            continue;
        for (k = m->cheap_count++; k > 0 && cheaper(m, at, m->cheap[k - 1]); k--)
            m->cheap[k] = m->cheap[k - 1];
        m->cheap[k] = (uint8_t)at;
    }
}

static void class_values(pbi_live_model *m)
{
    pbi_set never = pbi_set_or(m->given, m->once);
    for (unsigned at = 0; at < m->count; at++) {
        unsigned node = m->maker[at];
        if (pbi_set_has(never, node))
            pbi_set_add(&m->lasting, at);
        else if (m->cost[node] == 0)
            pbi_set_add(&m->costless, at);
    }
}

static void sum_sizes(pbi_live_model *m)
{
    for (unsigned k = 0; k < PBI_LIVE_BITS / 8; k++)
        for (unsigned choice = 1; choice < 256; choice++) {
            unsigned low = pbi_lowest(choice);
            m->eight[k][choice] = m->eight[k][choice & (choice - 1)] + m->size[k * 8 + low];
        }
}

bool pbi_live_model_make(const pb_game *game, pbi_live_model *m)
{
    const pb_graph *g = game->graph;
    memset(m, 0, sizeof *m);
    if (!place_all(g, m))
        return false;
    m->bits = m->count;
    m->room = game->cap > g->fixed_size ? game->cap - g->fixed_size : 0;
    for (unsigned at = 0; at < m->count; at++)
        if (!read_value(g, m, at))
            return false;
    for (unsigned at = 0; at < m->count; at++)
        if (!pbi_set_has(m->given, at) && m->maker[at] == at)
            read_node(g, m, at);
    sort(m);
    class_values(m);
    sum_sizes(m);
    return true;
}
