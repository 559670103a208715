/* ways.c -- see ways.h. */
#include "plan/blocks/ways.h"

#include "base/arena.h"
#include "base/context.h"
#include "plan/blocks/maker.h"

#include <math.h>
#include <string.h>

enum {
    MAX_WAYS = 24,    /* max ways per block that the planner gets */
    ALL_SUBSETS = 9,  /* number of values read up to which every subset is tried */
    MAX_REMOVED = 128 /* number of values read up to which they are removed one by one, cheapest first */
};

static void note_kept(pbi_block_maker *m, const uint8_t *kept)
{
    for (uint32_t i = 0; i < m->read_count; i++)
        if (kept[i])
            pbi_block_note(m, m->read[i], PBI_BLOCK_STAYS);
    if (m->right != PB_NO_NODE)
        pbi_block_note(m, m->right, PBI_BLOCK_STAYS);
}

/* Memory at the start of the backward part; notes which gradients remain after it. */
static uint64_t start_backward(pbi_block_maker *m, pbi_block_nodes list)
{
    const pb_graph *g = m->g;
    for (uint32_t i = 0; i < list.count; i++) {
        pb_node v = m->event[list.start + i];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            if (m->c->role[g->in[k]] == PBI_BACKWARD && m->lowest[g->in[k]] < m->block)
                pbi_block_note(m, g->in[k], PBI_BLOCK_STAYS);
        if (m->c->role[v] != PBI_BACKWARD)
            continue;
        if (m->lowest[v] < m->block)
            pbi_block_note(m, v, PBI_BLOCK_STAYS);
        for (uint32_t j = 0, count = pbi_block_parts(g, v); j < count; j++)
            if (m->lowest[g->part[g->part_start[v] + j]] < m->block)
                pbi_block_note(m, g->part[g->part_start[v] + j], PBI_BLOCK_STAYS);
    }
    return m->gradient[m->block];
}

bool pbi_block_grow(pbi_block_maker *m)
{
    void *way = m->way, *forward = m->forward, *backward = m->backward;
    size_t need = m->way_count + 1;
    bool grown = pbi_arena_reserve(m->arena, &way, &m->way_room, need, sizeof *m->way) &&
                 pbi_arena_reserve(m->arena, &forward, &m->forward_room, need, sizeof *m->forward) &&
                 pbi_arena_reserve(m->arena, &backward, &m->backward_room, need, sizeof *m->backward);
    m->way = way;
    m->forward = forward;
    m->backward = backward;
    return grown;
}

/* Appends the way that keeps the values marked in `kept`. */
static pb_status add_way(pbi_block_maker *m, const uint8_t *kept, uint64_t needed)
{
    pbi_block_way w = {.reads_run = pbi_block_must_run(m)};
    pbi_block_nodes forward, backward;
    if (!pbi_block_grow(m))
        return PB_ENOMEM;
    for (uint32_t i = 0; i < m->read_count; i++) {
        if (!kept[i])
            continue;
        pbi_block_have(m, pb_graph_maker(m->g, m->read[i]));
        w.kept += m->read[i] == m->right ? 0 : m->g->size[m->read[i]];
        w.reads_run |= m->read[i] != m->right;
        w.reads_right |= m->read[i] == m->right;
    }
    pb_status status = pbi_block_list_forward(m, &forward);
    for (uint32_t i = 0; i < m->read_count; i++)
        if (kept[i])
            pbi_block_have(m, m->read[i]);
    if (status == PB_OK)
        status = pbi_block_list_backward(m, &backward);
    if (status != PB_OK)
        return status;
    w.extra_work = pbi_block_work(m, forward) + pbi_block_work(m, backward) - needed;
    w.reads_left = pbi_block_reads(m, backward, m->left);
    if (m->left != PB_NO_NODE)
        pbi_block_note(m, m->left, PBI_BLOCK_STAYS);
    note_kept(m, kept);
    w.forward = pbi_block_replay(m, forward, 0);
    if (m->left != PB_NO_NODE)
        pbi_block_note(m, m->left, PBI_BLOCK_STAYS);
    uint64_t start = start_backward(m, backward) + w.kept + (w.reads_right ? pbi_block_size(m, m->right) : 0);
    w.backward = pbi_block_replay(m, backward, start);
    m->way[m->way_count] = w;
    m->forward[m->way_count] = forward;
    m->backward[m->way_count++] = backward;
    return PB_OK;
}

static bool dominates(const pbi_block_way *a, const pbi_block_way *b)
{
    return a->kept <= b->kept && a->forward <= b->forward && a->backward <= b->backward &&
           a->extra_work <= b->extra_work && a->reads_left <= b->reads_left && a->reads_right <= b->reads_right &&
           a->reads_run <= b->reads_run;
}

static void drop_way(pbi_block_maker *m, size_t i)
{
    m->way[i] = m->way[--m->way_count];
    m->forward[i] = m->forward[m->way_count];
    m->backward[i] = m->backward[m->way_count];
}

static void drop_dominated(pbi_block_maker *m, size_t first)
{
    for (size_t i = first; i < m->way_count;) {
        bool out = false;
        for (size_t j = first; j < m->way_count && !out; j++)
            out = j != i && dominates(&m->way[j], &m->way[i]) && (j < i || !dominates(&m->way[i], &m->way[j]));
        if (out)
            drop_way(m, i);
        else
            i++;
    }
}

/* Could way b replace way a, with more work? */
static bool can_replace(const pbi_block_way *b, const pbi_block_way *a)
{
    return b->kept <= a->kept && b->reads_left <= a->reads_left && b->reads_right <= a->reads_right &&
           b->reads_run <= a->reads_run;
}

/* Drops the way that another one replaces at the least extra work; ways without recomputation are never dropped. */
static void drop_closest(pbi_block_maker *m, size_t first)
{
    size_t worst = m->way_count - 1;
    uint64_t min = UINT64_MAX;
    for (size_t i = first; i < m->way_count; i++)
        for (size_t j = first; j < m->way_count; j++) {
            const pbi_block_way *a = &m->way[i], *b = &m->way[j];
            uint64_t loss = b->extra_work < a->extra_work ? 0 : b->extra_work - a->extra_work;
            if (j != i && a->extra_work && loss < min && can_replace(b, a)) {
                min = loss;
                worst = i;
            }
        }
    drop_way(m, worst);
}

static pb_status add_subsets(pbi_block_maker *m, uint64_t needed, bool single)
{
    uint8_t kept[ALL_SUBSETS];
    pb_status status = PB_OK;
    for (uint32_t set = (1u << m->read_count); set-- > 0 && status == PB_OK;) {
        if (!set && single && m->read_count)
            break; /* a plain run, then this block on its own, is the same */
        for (uint32_t i = 0; i < m->read_count; i++)
            kept[i] = set >> i & 1;
        status = add_way(m, kept, needed);
    }
    return status;
}

/* The cost of no longer keeping value i, per unit of its memory; < 0 when memory is exhausted. */
static double price_of(pbi_block_maker *m, uint8_t *kept, uint32_t i, uint64_t needed, uint64_t now)
{
    size_t events = m->event_count;
    kept[i] = 0;
    bool made = add_way(m, kept, needed) == PB_OK;
    kept[i] = 1;
    m->event_count = events;
    return made ? (double)(m->way[--m->way_count].extra_work - now) / ((double)m->g->size[m->read[i]] + 1) : -1;
}

/* Starts with all kept; then drops one value after the other, the least work for its memory first. */
static pb_status remove_one_by_one(pbi_block_maker *m, uint64_t needed)
{
    uint8_t kept[MAX_REMOVED];
    memset(kept, 1, sizeof kept);
    pb_status status = add_way(m, kept, needed);
    for (uint32_t left = m->read_count; left > 0 && status == PB_OK; left--) {
        uint32_t best = 0;
        double min = HUGE_VAL;
        for (uint32_t i = 0; i < m->read_count && status == PB_OK; i++) {
            double price = kept[i] ? price_of(m, kept, i, needed, m->way[m->way_count - 1].extra_work) : HUGE_VAL;
            status = price < 0 ? PB_ENOMEM : pbi_poll(m->ctx);
            if (price < min) {
                min = price;
                best = i;
            }
        }
        kept[best] = 0;
        if (status == PB_OK)
            status = add_way(m, kept, needed);
    }
    return status;
}

/* All kept, or none. */
static pb_status all_or_none(pbi_block_maker *m, uint64_t needed)
{
    uint8_t *kept = pb_arena_alloc(m->arena, m->read_count, 1);
    if (!kept)
        return PB_ENOMEM;
    memset(kept, 1, m->read_count);
    pb_status status = add_way(m, kept, needed);
    memset(kept, 0, m->read_count);
    return status == PB_OK ? add_way(m, kept, needed) : status;
}

static pb_status find_ways(pbi_block_maker *m, pbi_block *b, bool single)
{
    uint64_t needed = 0;
    for (uint32_t p = m->c->forward_start[m->block]; p < m->c->forward_start[m->block + 1]; p++)
        if (m->c->role[m->c->forward[p]] == PBI_FORWARD)
            needed += m->g->cost[m->c->forward[p]];
    size_t first = m->way_count;
    pb_status status = m->read_count <= ALL_SUBSETS   ? add_subsets(m, needed, single)
                       : m->read_count <= MAX_REMOVED ? remove_one_by_one(m, needed)
                                                      : all_or_none(m, needed);
    if (status != PB_OK)
        return status;
    drop_dominated(m, first);
    while (m->way_count - first > MAX_WAYS)
        drop_closest(m, first);
    b->way = (uint32_t)first;
    b->way_count = (uint32_t)(m->way_count - first);
    return PB_OK;
}

static void find_read(pbi_block_maker *m)
{
    const pb_graph *g = m->g;
    m->read_count = 0;
    for (uint32_t i = m->c->backward_start[m->block]; i < m->c->backward_start[m->block + 1]; i++)
        for (uint32_t k = g->in_start[m->c->backward[i]]; k < g->in_start[m->c->backward[i] + 1]; k++)
            if (pbi_block_is_here(m, g->in[k]) && !m->have[g->in[k]]) {
                pbi_block_have(m, g->in[k]);
                m->read[m->read_count++] = g->in[k];
            }
    pbi_block_forget(m);
}

static pb_status make_block(pbi_block_maker *m, pbi_block *b)
{
    pb_status status = pbi_block_list_forward(m, &m->plain[m->block]);
    if (status != PB_OK)
        return status;
    pbi_block_nodes plain = m->plain[m->block];
    b->cost = pbi_block_work(m, plain);
    for (int counted = 0; counted < 2; counted++) {
        m->left_counts = counted;
        if (!counted && m->left != PB_NO_NODE)
            pbi_block_note(m, m->left, PBI_BLOCK_STAYS);
        if (m->right != PB_NO_NODE)
            pbi_block_note(m, m->right, PBI_BLOCK_STAYS);
        uint64_t need = pbi_block_replay(m, plain, counted && m->left != PB_NO_NODE ? m->g->size[m->left] : 0);
        *(counted ? &b->through : &b->run_keeping) = need;
    }
    m->left_counts = false;
    find_read(m);
    return find_ways(m, b, plain.count == 1);
}

/* The memory that crosses each cut in the backward pass. */
static bool weigh_gradients(pbi_block_maker *m)
{
    const pb_graph *g = m->g;
    const pbi_block_chain *c = m->c;
    uint64_t *change = pb_arena_zero(m->arena, (size_t)c->count + 2, sizeof *change); /* wraps around */
    if (!change)
        return false;
    for (pb_node v = 0; v < g->node_count; v++) {
        m->lowest[v] = PBI_BLOCK_NEVER;
        if (c->role[v] != PBI_BACKWARD)
            continue;
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++)
            if (c->role[g->out[k]] != PBI_UNUSED && c->block[g->out[k]] < m->lowest[v])
                m->lowest[v] = c->block[g->out[k]];
        if (g->flags[v] & PB_NODE_KEEP)
            m->lowest[v] = 0;
        if (m->lowest[v] < c->block[v]) {
            change[m->lowest[v]] += g->size[v];
            change[c->block[v]] -= g->size[v];
        }
    }
    m->gradient = change;
    for (uint32_t b = 1; b <= c->count; b++)
        m->gradient[b] += m->gradient[b - 1];
    return true;
}

static bool allocate_maker(pbi_block_maker *m)
{
    uint32_t nodes = m->g->node_count;
    m->lowest = pb_arena_alloc(m->arena, nodes, sizeof *m->lowest);
    m->last = pb_arena_alloc(m->arena, nodes, sizeof *m->last);
    m->have = pb_arena_zero(m->arena, nodes, sizeof *m->have);
    m->touched = pb_arena_alloc(m->arena, nodes, sizeof *m->touched);
    m->stack = pb_arena_alloc(m->arena, nodes, sizeof *m->stack);
    m->read = pb_arena_alloc(m->arena, nodes, sizeof *m->read);
    m->plain = pb_arena_zero(m->arena, (size_t)m->c->count + 1, sizeof *m->plain);
    m->known = pb_arena_alloc(m->arena, PBI_BLOCKS_KNOWN, sizeof *m->known);
    m->position = pb_arena_alloc(m->arena, nodes, sizeof *m->position);
    if (!m->lowest || !m->last || !m->have || !m->touched || !m->stack || !m->read || !m->plain || !m->known ||
        !m->position)
        return false;
    memset(m->last, 0xff, nodes * sizeof *m->last);
    memset(m->position, 0xff, nodes * sizeof *m->position);
    for (uint32_t p = 0; p < m->c->forward_start[m->c->count + 1]; p++)
        m->position[m->c->forward[p]] = p;
    for (uint32_t p = 0; p < m->c->backward_start[m->c->count + 1]; p++)
        m->position[m->c->backward[p]] = p;
    return true;
}

pb_status pbi_block_ways_find(pb_context *ctx, const pb_graph *g, const pbi_block_chain *chain, pb_arena *arena,
                              pbi_block_ways *out)
{
    pbi_block_maker m = {.ctx = ctx, .g = g, .c = chain, .arena = arena};
    uint64_t *value = pb_arena_zero(arena, (size_t)chain->count + 1, sizeof *value);
    pbi_block *block = pb_arena_zero(arena, (size_t)chain->count + 1, sizeof *block);
    if (!value || !block || !allocate_maker(&m) || !weigh_gradients(&m))
        return PB_ENOMEM;
    pb_status status = PB_OK;
    for (uint32_t b = 0; b <= chain->count && status == PB_OK; b++) {
        value[b] = chain->cut[b] == PB_NO_NODE ? 0 : g->size[chain->cut[b]];
        if (!b)
            continue;
        m.block = b;
        m.left = chain->cut[b - 1];
        m.right = chain->cut[b];
        uint32_t alike = pbi_block_find_alike(&m, &status);
        if (status == PB_OK)
            status = alike ? pbi_block_copy(&m, &block[alike], alike, &block[b]) : make_block(&m, &block[b]);
        if (status == PB_OK)
            status = pbi_tick(ctx, chain->forward_start[b + 1] - chain->forward_start[b]);
    }
    *out = (pbi_block_ways){.event = m.event, .plain = m.plain, .forward = m.forward, .backward = m.backward};
    out->numbers = (pbi_blocks){chain->count, block, m.way, value, m.gradient};
    return status;
}
