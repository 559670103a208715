/* lists.c -- what is computed for a block, and how much memory that needs. */
#include "base/arena.h"
#include "base/context.h"
#include "plan/blocks/maker.h"

bool pbi_block_is_here(const pbi_block_maker *m, pb_node u)
{
    return m->c->role[u] == PBI_FORWARD && m->c->block[u] == m->block;
}

uint64_t pbi_block_size(const pbi_block_maker *m, pb_node u)
{
    return m->c->role[u] == PBI_STAYS || (u == m->left && !m->left_counts) ? 0 : m->g->size[u];
}

pb_status pbi_block_add_event(pbi_block_maker *m, pb_node v)
{
    void *items = m->event;
    if (m->event_count >= UINT32_MAX / 2)
        return pbi_fail(m->ctx, PB_ELIMIT, "the blocks of the graph are too large; use another strategy");
    if (!pbi_arena_reserve(m->arena, &items, &m->event_room, m->event_count + 1, sizeof *m->event))
        return PB_ENOMEM;
    m->event = items;
    m->event[m->event_count++] = v;
    return PB_OK;
}

/* ---- replay of a list ---- */

void pbi_block_note(pbi_block_maker *m, pb_node v, uint32_t last)
{
    if (m->last[v] == PBI_BLOCK_NEVER)
        m->touched[m->touched_count++] = v;
    if (m->last[v] != PBI_BLOCK_STAYS)
        m->last[v] = last;
}

uint32_t pbi_block_parts(const pb_graph *g, pb_node v)
{
    return g->flags[v] & PB_NODE_HAS_PARTS ? g->part_start[v + 1] - g->part_start[v] : 0;
}

/* The largest input that v may overwrite and that is read for the last time. */
static uint64_t overwritten(const pbi_block_maker *m, pb_node v, uint32_t at)
{
    uint64_t max = 0;
    for (uint32_t k = m->g->inplace_start ? m->g->inplace_start[v] : 0,
                  end = m->g->inplace_start ? m->g->inplace_start[v + 1] : 0;
         k < end; k++) {
        pb_node u = m->g->inplace[k];
        if (m->last[u] == at && pbi_block_size(m, u) > max)
            max = pbi_block_size(m, u);
    }
    return max;
}

/* Max memory during a list, from `memory` at its start. `last` must be set for values that are kept. */
uint64_t pbi_block_replay(pbi_block_maker *m, pbi_block_nodes list, uint64_t memory)
{
    const pb_graph *g = m->g;
    uint64_t peak = memory;
    for (uint32_t at = 0; at < list.count; at++)
        for (uint32_t k = g->in_start[m->event[list.start + at]]; k < g->in_start[m->event[list.start + at] + 1]; k++)
            pbi_block_note(m, g->in[k], at);
    for (uint32_t at = 0; at < list.count; at++) {
        pb_node v = m->event[list.start + at];
        uint64_t over = overwritten(m, v, at), own = pbi_block_size(m, v), made = own;
        for (uint32_t i = 0, count = pbi_block_parts(g, v); i < count; i++) {
            pb_node part = g->part[g->part_start[v] + i];
            made += m->last[part] != PBI_BLOCK_NEVER ? pbi_block_size(m, part) : 0;
        }
        uint64_t during = memory + made - (over < own ? over : own) + g->workspace[v];
        peak = during > peak ? during : peak;
        memory += made;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            memory -= m->last[g->in[k]] == at ? pbi_block_size(m, g->in[k]) : 0;
        if (m->last[v] == PBI_BLOCK_NEVER)
            memory -= own;
    }
    while (m->touched_count)
        m->last[m->touched[--m->touched_count]] = PBI_BLOCK_NEVER;
    return peak;
}

/* ---- lists ---- */

void pbi_block_have(pbi_block_maker *m, pb_node v)
{
    if (!m->have[v])
        m->touched[m->touched_count++] = v;
    m->have[v] = 1;
}

void pbi_block_forget(pbi_block_maker *m)
{
    while (m->touched_count)
        m->have[m->touched[--m->touched_count]] = 0;
}

static bool is_read(const pbi_block_maker *m, pb_node v)
{
    for (uint32_t k = m->g->out_start[v]; k < m->g->out_start[v + 1]; k++)
        if (m->c->role[m->g->out[k]] != PBI_UNUSED)
            return true;
    return false;
}

static bool needed_part(const pbi_block_maker *m, pb_node v)
{
    const pb_graph *g = m->g;
    for (uint32_t i = 0, count = pbi_block_parts(g, v); i < count; i++) {
        pb_node w = g->part[g->part_start[v] + i];
        if ((g->flags[w] & PB_NODE_TARGET) && !is_read(m, w))
            return true;
    }
    return false;
}

/* A node that runs with its block whatever is kept: nothing else would compute it. */
bool pbi_block_always_runs(const pbi_block_maker *m, pb_node v)
{
    const pb_graph *g = m->g;
    return (m->right != PB_NO_NODE && v == pb_graph_maker(g, m->right)) || (g->flags[v] & PB_NODE_ONCE) ||
           ((g->flags[v] & PB_NODE_TARGET) && !is_read(m, v)) || needed_part(m, v);
}

/* Must the forward part run whatever the backward part reads? No plain run passes through the last block. */
bool pbi_block_must_run(const pbi_block_maker *m)
{
    bool must = false;
    if (m->block == m->c->count)
        for (uint32_t p = m->c->forward_start[m->block]; p < m->c->forward_start[m->block + 1]; p++)
            must = must || (m->g->flags[m->c->forward[p]] & (PB_NODE_ONCE | PB_NODE_TARGET)) ||
                   needed_part(m, m->c->forward[p]);
    return must;
}

/* The forward nodes that lead to the right cut and to the marked values, in order. */
pb_status pbi_block_list_forward(pbi_block_maker *m, pbi_block_nodes *out)
{
    const pb_graph *g = m->g;
    const pbi_block_chain *c = m->c;
    uint32_t from = c->forward_start[m->block], to = c->forward_start[m->block + 1];
    pb_status status = PB_OK;
    out->start = (uint32_t)m->event_count;
    for (uint32_t p = to; p-- > from;) {
        pb_node v = c->forward[p];
        if (!m->have[v] && !pbi_block_always_runs(m, v))
            continue;
        pbi_block_have(m, v);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            if (pbi_block_is_here(m, g->in[k]))
                pbi_block_have(m, pb_graph_maker(g, g->in[k]));
    }
    for (uint32_t p = from; p < to && status == PB_OK; p++)
        if (m->have[c->forward[p]])
            status = pbi_block_add_event(m, c->forward[p]);
    out->count = (uint32_t)m->event_count - out->start;
    pbi_block_forget(m);
    return status;
}

/* Computes u after the inputs that are missing. The stack is as deep as the block is long. */
static pb_status add_missing(pbi_block_maker *m, pb_node u)
{
    const pb_graph *g = m->g;
    uint32_t depth = 0;
    pb_status status = PB_OK;
    m->stack[depth++] = pb_graph_maker(g, u);
    while (depth && status == PB_OK) {
        pb_node v = m->stack[depth - 1];
        uint32_t before = depth;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1] && depth == before; k++)
            if (pbi_block_is_here(m, g->in[k]) && !m->have[g->in[k]])
                m->stack[depth++] = pb_graph_maker(g, g->in[k]);
        if (depth != before)
            continue;
        depth--;
        status = pbi_block_add_event(m, v);
        pbi_block_have(m, v);
        for (uint32_t i = 0, count = pbi_block_parts(g, v); i < count; i++)
            pbi_block_have(m, g->part[g->part_start[v] + i]);
    }
    return status;
}

/* The backward nodes, each with its missing inputs recomputed just before. Kept values are marked. */
pb_status pbi_block_list_backward(pbi_block_maker *m, pbi_block_nodes *out)
{
    const pb_graph *g = m->g;
    const pbi_block_chain *c = m->c;
    pb_status status = PB_OK;
    out->start = (uint32_t)m->event_count;
    for (uint32_t i = c->backward_start[m->block]; i < c->backward_start[m->block + 1] && status == PB_OK; i++) {
        pb_node v = c->backward[i];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1] && status == PB_OK; k++)
            if (pbi_block_is_here(m, g->in[k]) && !m->have[g->in[k]])
                status = add_missing(m, g->in[k]);
        if (status == PB_OK)
            status = pbi_block_add_event(m, v);
    }
    out->count = (uint32_t)m->event_count - out->start;
    pbi_block_forget(m);
    return status;
}

/* Work of a list; nodes that are computed only once do not count. */
uint64_t pbi_block_work(const pbi_block_maker *m, pbi_block_nodes list)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < list.count; i++)
        if (m->c->role[m->event[list.start + i]] == PBI_FORWARD)
            sum += m->g->cost[m->event[list.start + i]];
    return sum;
}

bool pbi_block_reads(const pbi_block_maker *m, pbi_block_nodes list, pb_node u)
{
    for (uint32_t i = 0; i < list.count && u != PB_NO_NODE; i++)
        for (uint32_t k = m->g->in_start[m->event[list.start + i]]; k < m->g->in_start[m->event[list.start + i] + 1];
             k++)
            if (m->g->in[k] == u)
                return true;
    return false;
}
