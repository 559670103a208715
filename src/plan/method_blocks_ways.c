/* method_blocks_ways.c -- see method_blocks_ways.h. */
#include "plan/method_blocks_ways.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

#include <math.h>
#include <string.h>

enum {
    MOST_WAYS = 24,    /* per block that the planner is offered */
    ALL_SUBSETS = 9,   /* values read, up to which every subset is tried */
    MOST_KNOWN = 256,  /* different blocks that are remembered */
    MOST_REMOVED = 128 /* values read, up to which they are removed one by one, cheapest first */
};

#define NEVER UINT32_MAX
#define STAYS (UINT32_MAX - 1)

typedef struct maker {
    pb_context *ctx;
    const pb_graph *g;
    const pbi_block_chain *c;
    pb_arena *arena;
    uint64_t *gradient; /* by cut: memory of what crosses it on the way back */
    uint32_t *lowest;   /* per backward value: the lowest block that reads it, 0 when it is kept, NEVER for none */

    uint32_t *last;   /* per node, of the list being replayed: where it is read last; or STAYS, NEVER */
    uint8_t *have;    /* per node, while a list is put together */
    pb_node *touched; /* nodes whose `last` or `have` is set */
    uint32_t touched_count;
    pb_node *stack;

    uint32_t block;      /* at hand */
    pb_node left, right; /* its cuts */
    bool left_counts;    /* its left value is part of the memory, and goes after its last use */
    pb_node *read;       /* values of the block that its backward part reads */
    uint32_t read_count;

    uint32_t *position; /* per node: its place among the forward or the backward nodes */
    uint64_t *word;     /* the description of the block at hand */
    size_t word_count, word_room;
    struct portrait *known;
    uint32_t known_count;

    pbi_block_nodes *plain, *forward, *backward;
    pbi_block_way *way;
    size_t way_count, way_room, forward_room, backward_room;
    pb_node *event;
    size_t event_count, event_room;
} maker;

static bool is_forward_here(const maker *m, pb_node u)
{
    return m->c->role[u] == PBI_FORWARD && m->c->block[u] == m->block;
}

static uint64_t size_of(const maker *m, pb_node u)
{
    return m->c->role[u] == PBI_STAYS || (u == m->left && !m->left_counts) ? 0 : m->g->size[u];
}

static pb_status add_event(maker *m, pb_node v)
{
    void *items = m->event;
    if (m->event_count >= UINT32_MAX / 2)
        return pbi_fail(m->ctx, PB_ELIMIT, "the blocks of the graph are too large");
    if (!pbi_arena_reserve(m->arena, &items, &m->event_room, m->event_count + 1, sizeof *m->event))
        return PB_ENOMEM;
    m->event = items;
    m->event[m->event_count++] = v;
    return PB_OK;
}

/* ---- replay of a list ---- */

static void note(maker *m, pb_node v, uint32_t last)
{
    if (m->last[v] == NEVER)
        m->touched[m->touched_count++] = v;
    if (m->last[v] != STAYS)
        m->last[v] = last;
}

static uint32_t parts_of(const pb_graph *g, pb_node v)
{
    return g->flags[v] & PB_NODE_HAS_PARTS ? g->part_start[v + 1] - g->part_start[v] : 0;
}

/* The largest input that v may overwrite and that is read for the last time. */
static uint64_t overwritten(const maker *m, pb_node v, uint32_t at)
{
    uint64_t most = 0;
    for (uint32_t k = m->g->inplace_start ? m->g->inplace_start[v] : 0,
                  end = m->g->inplace_start ? m->g->inplace_start[v + 1] : 0;
         k < end; k++) {
        pb_node u = m->g->inplace[k];
        if (m->last[u] == at && size_of(m, u) > most)
            most = size_of(m, u);
    }
    return most;
}

/* Most memory during a list, from `memory` at its start. `last` must say what stays. */
static uint64_t replay(maker *m, pbi_block_nodes list, uint64_t memory)
{
    const pb_graph *g = m->g;
    uint64_t peak = memory;
    for (uint32_t at = 0; at < list.count; at++)
        for (uint32_t k = g->in_start[m->event[list.start + at]]; k < g->in_start[m->event[list.start + at] + 1]; k++)
            note(m, g->in[k], at);
    for (uint32_t at = 0; at < list.count; at++) {
        pb_node v = m->event[list.start + at];
        uint64_t over = overwritten(m, v, at), own = size_of(m, v), made = own;
        for (uint32_t i = 0, count = parts_of(g, v); i < count; i++) {
            pb_node part = g->part[g->part_start[v] + i];
            made += m->last[part] != NEVER ? size_of(m, part) : 0;
        }
        uint64_t during = memory + made - (over < own ? over : own) + g->workspace[v];
        peak = during > peak ? during : peak;
        memory += made;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            memory -= m->last[g->in[k]] == at ? size_of(m, g->in[k]) : 0;
        if (m->last[v] == NEVER)
            memory -= own;
    }
    while (m->touched_count)
        m->last[m->touched[--m->touched_count]] = NEVER;
    return peak;
}

/* ---- lists ---- */

static void have(maker *m, pb_node v)
{
    if (!m->have[v])
        m->touched[m->touched_count++] = v;
    m->have[v] = 1;
}

static void forget(maker *m)
{
    while (m->touched_count)
        m->have[m->touched[--m->touched_count]] = 0;
}

static bool is_read(const maker *m, pb_node v)
{
    for (uint32_t k = m->g->out_start[v]; k < m->g->out_start[v + 1]; k++)
        if (m->c->role[m->g->out[k]] != PBI_UNUSED)
            return true;
    return false;
}

static bool wanted_part(const maker *m, pb_node v)
{
    const pb_graph *g = m->g;
    for (uint32_t i = 0, count = parts_of(g, v); i < count; i++) {
        pb_node w = g->part[g->part_start[v] + i];
        if ((g->flags[w] & PB_NODE_TARGET) && !is_read(m, w))
            return true;
    }
    return false;
}

/* A node that is run with its block whatever is kept: nobody else would compute it. */
static bool always_runs(const maker *m, pb_node v)
{
    const pb_graph *g = m->g;
    return (m->right != PB_NO_NODE && v == pb_graph_maker(g, m->right)) || (g->flags[v] & PB_NODE_ONCE) ||
           ((g->flags[v] & PB_NODE_TARGET) && !is_read(m, v)) || wanted_part(m, v);
}

/* Has the forward part to be run whatever the backward part reads? Nothing runs through the last block on its way. */
static bool must_run(const maker *m)
{
    bool must = false;
    if (m->block == m->c->count)
        for (uint32_t p = m->c->forward_start[m->block]; p < m->c->forward_start[m->block + 1]; p++)
            must = must || (m->g->flags[m->c->forward[p]] & (PB_NODE_ONCE | PB_NODE_TARGET)) ||
                   wanted_part(m, m->c->forward[p]);
    return must;
}

/* The forward nodes that lead to the right cut and to what is marked, in order. */
static pb_status list_forward(maker *m, pbi_block_nodes *out)
{
    const pb_graph *g = m->g;
    const pbi_block_chain *c = m->c;
    uint32_t from = c->forward_start[m->block], to = c->forward_start[m->block + 1];
    pb_status status = PB_OK;
    out->start = (uint32_t)m->event_count;
    for (uint32_t p = to; p-- > from;) {
        pb_node v = c->forward[p];
        if (!m->have[v] && !always_runs(m, v))
            continue;
        have(m, v);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            if (is_forward_here(m, g->in[k]))
                have(m, pb_graph_maker(g, g->in[k]));
    }
    for (uint32_t p = from; p < to && status == PB_OK; p++)
        if (m->have[c->forward[p]])
            status = add_event(m, c->forward[p]);
    out->count = (uint32_t)m->event_count - out->start;
    forget(m);
    return status;
}

/* Computes u and whatever it lacks. The stack is as deep as the block is long. */
static pb_status add_missing(maker *m, pb_node u)
{
    const pb_graph *g = m->g;
    uint32_t depth = 0;
    pb_status status = PB_OK;
    m->stack[depth++] = pb_graph_maker(g, u);
    while (depth && status == PB_OK) {
        pb_node v = m->stack[depth - 1];
        uint32_t before = depth;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1] && depth == before; k++)
            if (is_forward_here(m, g->in[k]) && !m->have[g->in[k]])
                m->stack[depth++] = pb_graph_maker(g, g->in[k]);
        if (depth != before)
            continue;
        depth--;
        status = add_event(m, v);
        have(m, v);
        for (uint32_t i = 0, count = parts_of(g, v); i < count; i++)
            have(m, g->part[g->part_start[v] + i]);
    }
    return status;
}

/* The backward nodes, each with what it lacks computed just before. What was kept is marked. */
static pb_status list_backward(maker *m, pbi_block_nodes *out)
{
    const pb_graph *g = m->g;
    const pbi_block_chain *c = m->c;
    pb_status status = PB_OK;
    out->start = (uint32_t)m->event_count;
    for (uint32_t i = c->backward_start[m->block]; i < c->backward_start[m->block + 1] && status == PB_OK; i++) {
        pb_node v = c->backward[i];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1] && status == PB_OK; k++)
            if (is_forward_here(m, g->in[k]) && !m->have[g->in[k]])
                status = add_missing(m, g->in[k]);
        if (status == PB_OK)
            status = add_event(m, v);
    }
    out->count = (uint32_t)m->event_count - out->start;
    forget(m);
    return status;
}

/* Work of a list; what is computed only once costs nothing again, and is left out. */
static uint64_t work_of(const maker *m, pbi_block_nodes list)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < list.count; i++)
        if (m->c->role[m->event[list.start + i]] == PBI_FORWARD)
            sum += m->g->cost[m->event[list.start + i]];
    return sum;
}

static bool reads(const maker *m, pbi_block_nodes list, pb_node u)
{
    for (uint32_t i = 0; i < list.count && u != PB_NO_NODE; i++)
        for (uint32_t k = m->g->in_start[m->event[list.start + i]]; k < m->g->in_start[m->event[list.start + i] + 1];
             k++)
            if (m->g->in[k] == u)
                return true;
    return false;
}

/* ---- ways ---- */

static void note_kept(maker *m, const uint8_t *kept)
{
    for (uint32_t i = 0; i < m->read_count; i++)
        if (kept[i])
            note(m, m->read[i], STAYS);
    if (m->right != PB_NO_NODE)
        note(m, m->right, STAYS);
}

/* Memory at the start of the backward part; notes which gradients stay behind it. */
static uint64_t start_backward(maker *m, pbi_block_nodes list)
{
    const pb_graph *g = m->g;
    for (uint32_t i = 0; i < list.count; i++) {
        pb_node v = m->event[list.start + i];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            if (m->c->role[g->in[k]] == PBI_BACKWARD && m->lowest[g->in[k]] < m->block)
                note(m, g->in[k], STAYS);
        if (m->c->role[v] != PBI_BACKWARD)
            continue;
        if (m->lowest[v] < m->block)
            note(m, v, STAYS);
        for (uint32_t j = 0, count = parts_of(g, v); j < count; j++)
            if (m->lowest[g->part[g->part_start[v] + j]] < m->block)
                note(m, g->part[g->part_start[v] + j], STAYS);
    }
    return m->gradient[m->block];
}

static bool grow(maker *m)
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

/* Appends the way that keeps these of the values that are read. */
static pb_status add_way(maker *m, const uint8_t *kept, uint64_t needed)
{
    pbi_block_way w = {.reads_run = must_run(m)};
    pbi_block_nodes forward, backward;
    if (!grow(m))
        return PB_ENOMEM;
    for (uint32_t i = 0; i < m->read_count; i++) {
        if (!kept[i])
            continue;
        have(m, pb_graph_maker(m->g, m->read[i]));
        w.kept += m->read[i] == m->right ? 0 : m->g->size[m->read[i]];
        w.reads_run |= m->read[i] != m->right;
        w.reads_right |= m->read[i] == m->right;
    }
    pb_status status = list_forward(m, &forward);
    for (uint32_t i = 0; i < m->read_count; i++)
        if (kept[i])
            have(m, m->read[i]);
    if (status == PB_OK)
        status = list_backward(m, &backward);
    if (status != PB_OK)
        return status;
    w.again = work_of(m, forward) + work_of(m, backward) - needed;
    w.reads_left = reads(m, backward, m->left);
    if (m->left != PB_NO_NODE)
        note(m, m->left, STAYS);
    note_kept(m, kept);
    w.forward = replay(m, forward, 0);
    if (m->left != PB_NO_NODE)
        note(m, m->left, STAYS);
    uint64_t start = start_backward(m, backward) + w.kept + (w.reads_right ? size_of(m, m->right) : 0);
    w.backward = replay(m, backward, start);
    m->way[m->way_count] = w;
    m->forward[m->way_count] = forward;
    m->backward[m->way_count++] = backward;
    return PB_OK;
}

static bool dominates(const pbi_block_way *a, const pbi_block_way *b)
{
    return a->kept <= b->kept && a->forward <= b->forward && a->backward <= b->backward && a->again <= b->again &&
           a->reads_left <= b->reads_left && a->reads_right <= b->reads_right && a->reads_run <= b->reads_run;
}

static void drop_way(maker *m, size_t i)
{
    m->way[i] = m->way[--m->way_count];
    m->forward[i] = m->forward[m->way_count];
    m->backward[i] = m->backward[m->way_count];
}

static void drop_dominated(maker *m, size_t first)
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

/* Could way b stand in for way a, with more work? */
static bool can_replace(const pbi_block_way *b, const pbi_block_way *a)
{
    return b->kept <= a->kept && b->reads_left <= a->reads_left && b->reads_right <= a->reads_right &&
           b->reads_run <= a->reads_run;
}

/* Drops the way that another one replaces for the least work; ways that do nothing again stay. */
static void drop_closest(maker *m, size_t first)
{
    size_t worst = m->way_count - 1;
    uint64_t least = UINT64_MAX;
    for (size_t i = first; i < m->way_count; i++)
        for (size_t j = first; j < m->way_count; j++) {
            const pbi_block_way *a = &m->way[i], *b = &m->way[j];
            uint64_t loss = b->again < a->again ? 0 : b->again - a->again;
            if (j != i && a->again && loss < least && can_replace(b, a)) {
                least = loss;
                worst = i;
            }
        }
    drop_way(m, worst);
}

static pb_status add_subsets(maker *m, uint64_t needed, bool single)
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

/* What it would cost to keep value i no more, for each unit of its memory; < 0 when memory is exhausted. */
static double price_of(maker *m, uint8_t *kept, uint32_t i, uint64_t needed, uint64_t now)
{
    size_t events = m->event_count;
    kept[i] = 0;
    bool made = add_way(m, kept, needed) == PB_OK;
    kept[i] = 1;
    m->event_count = events;
    return made ? (double)(m->way[--m->way_count].again - now) / ((double)m->g->size[m->read[i]] + 1) : -1;
}

/* All are kept; then, one after the other, what costs the least work for its memory is kept no more. */
static pb_status remove_one_by_one(maker *m, uint64_t needed)
{
    uint8_t kept[MOST_REMOVED];
    memset(kept, 1, sizeof kept);
    pb_status status = add_way(m, kept, needed);
    for (uint32_t left = m->read_count; left > 0 && status == PB_OK; left--) {
        uint32_t best = 0;
        double least = HUGE_VAL;
        for (uint32_t i = 0; i < m->read_count && status == PB_OK; i++) {
            double price = kept[i] ? price_of(m, kept, i, needed, m->way[m->way_count - 1].again) : HUGE_VAL;
            status = price < 0 ? PB_ENOMEM : pbi_poll(m->ctx);
            if (price < least) {
                least = price;
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
static pb_status all_or_none(maker *m, uint64_t needed)
{
    uint8_t *kept = pb_arena_alloc(m->arena, m->read_count, 1);
    if (!kept)
        return PB_ENOMEM;
    memset(kept, 1, m->read_count);
    pb_status status = add_way(m, kept, needed);
    memset(kept, 0, m->read_count);
    return status == PB_OK ? add_way(m, kept, needed) : status;
}

static pb_status find_ways(maker *m, pbi_block *b, bool single)
{
    uint64_t needed = 0;
    for (uint32_t p = m->c->forward_start[m->block]; p < m->c->forward_start[m->block + 1]; p++)
        if (m->c->role[m->c->forward[p]] == PBI_FORWARD)
            needed += m->g->cost[m->c->forward[p]];
    size_t first = m->way_count;
    pb_status status = m->read_count <= ALL_SUBSETS    ? add_subsets(m, needed, single)
                       : m->read_count <= MOST_REMOVED ? remove_one_by_one(m, needed)
                                                       : all_or_none(m, needed);
    if (status != PB_OK)
        return status;
    drop_dominated(m, first);
    while (m->way_count - first > MOST_WAYS)
        drop_closest(m, first);
    b->way = (uint32_t)first;
    b->way_count = (uint32_t)(m->way_count - first);
    return PB_OK;
}

static void find_read(maker *m)
{
    const pb_graph *g = m->g;
    m->read_count = 0;
    for (uint32_t i = m->c->backward_start[m->block]; i < m->c->backward_start[m->block + 1]; i++)
        for (uint32_t k = g->in_start[m->c->backward[i]]; k < g->in_start[m->c->backward[i] + 1]; k++)
            if (is_forward_here(m, g->in[k]) && !m->have[g->in[k]]) {
                have(m, g->in[k]);
                m->read[m->read_count++] = g->in[k];
            }
    forget(m);
}

/* ---- blocks that are alike ---- */

/* A network repeats its blocks. What a block's ways depend on, in words: equal words, equal ways. */
typedef struct portrait {
    uint64_t *word;
    size_t count;
    uint64_t hash;
    uint32_t block;
} portrait;

static bool put(maker *m, uint64_t word)
{
    void *items = m->word;
    if (!pbi_arena_reserve(m->arena, &items, &m->word_room, m->word_count + 1, sizeof *m->word))
        return false;
    m->word = items;
    m->word[m->word_count++] = word;
    return true;
}

/* A value, told by where its maker stands from the block's first forward or backward node. */
static bool put_value(maker *m, pb_node u)
{
    const pbi_block_chain *c = m->c;
    pb_node maker_of = pb_graph_maker(m->g, u);
    uint64_t part = maker_of == u ? 0 : 1;
    while (part && m->g->part[m->g->part_start[maker_of] + part - 1] != u)
        part++;
    bool back = m->position[maker_of] != NEVER && c->role[u] == PBI_BACKWARD;
    uint32_t start = back ? c->backward_start[m->block] : c->forward_start[m->block];
    uint64_t far = u == m->left ? 0 : (uint64_t)m->position[maker_of] - start;
    uint64_t stays = back && m->lowest[u] < m->block;
    return put(m,
               (uint64_t)(u == m->left) | back << 1 | stays << 2 | (uint64_t)c->role[u] << 3 | part << 8 | far << 24) &&
           put(m, m->g->size[u]);
}

static bool put_node(maker *m, pb_node v)
{
    const pb_graph *g = m->g;
    uint32_t parts = parts_of(g, v), inputs = g->in_start[v + 1] - g->in_start[v];
    uint32_t over = g->inplace_start ? g->inplace_start[v + 1] - g->inplace_start[v] : 0;
    bool fine = put_value(m, v) && put(m, g->cost[v]) && put(m, g->workspace[v]) && put(m, g->flags[v]) &&
                put(m, always_runs(m, v)) && put(m, (uint64_t)parts << 42 | (uint64_t)inputs << 21 | over);
    for (uint32_t k = 0; k < inputs && fine; k++)
        fine = put_value(m, g->in[g->in_start[v] + k]);
    for (uint32_t k = 0; k < parts && fine; k++)
        fine = put_value(m, g->part[g->part_start[v] + k]);
    for (uint32_t k = 0; k < over && fine; k++)
        fine = put_value(m, g->inplace[g->inplace_start[v] + k]);
    return fine;
}

static bool describe(maker *m)
{
    const pbi_block_chain *c = m->c;
    uint32_t first = c->forward_start[m->block], end = c->forward_start[m->block + 1];
    uint32_t back = c->backward_start[m->block], back_end = c->backward_start[m->block + 1];
    m->word_count = 0;
    bool fine = put(m, end - first) && put(m, back_end - back) && put(m, m->block == c->count) &&
                put(m, m->left == PB_NO_NODE ? UINT64_MAX : m->g->size[m->left]) && put(m, m->right == PB_NO_NODE) &&
                (m->right == PB_NO_NODE || put_value(m, m->right));
    for (uint32_t p = first; p < end && fine; p++)
        fine = put_node(m, c->forward[p]);
    for (uint32_t p = back; p < back_end && fine; p++)
        fine = put_node(m, c->backward[p]);
    return fine;
}

/* The block that looks the same, 0 for none; a new look is remembered. */
static uint32_t find_alike(maker *m, pb_status *status)
{
    uint64_t hash = 0xcbf29ce484222325u;
    *status = describe(m) ? PB_OK : PB_ENOMEM;
    for (size_t i = 0; i < m->word_count; i++)
        hash = (hash ^ m->word[i]) * 0x100000001b3u;
    for (uint32_t i = 0; i < m->known_count && *status == PB_OK; i++) {
        const portrait *k = &m->known[i];
        if (k->hash == hash && k->count == m->word_count && !memcmp(k->word, m->word, k->count * sizeof *k->word))
            return k->block;
    }
    if (*status != PB_OK || m->known_count == MOST_KNOWN)
        return 0;
    uint64_t *word = pb_arena_alloc(m->arena, m->word_count, sizeof *word);
    if (!word) {
        *status = PB_ENOMEM;
        return 0;
    }
    memcpy(word, m->word, m->word_count * sizeof *word);
    m->known[m->known_count++] = (portrait){word, m->word_count, hash, m->block};
    return 0;
}

/* The same computations in this block. */
static pb_status copy_list(maker *m, pbi_block_nodes from, uint32_t other, pbi_block_nodes *to)
{
    const pbi_block_chain *c = m->c;
    pb_status status = PB_OK;
    to->start = (uint32_t)m->event_count;
    to->count = from.count;
    for (uint32_t i = 0; i < from.count && status == PB_OK; i++) {
        pb_node v = m->event[from.start + i];
        uint32_t at = m->position[v];
        bool forward = at >= c->forward_start[other] && at < c->forward_start[other + 1] && c->forward[at] == v;
        status = add_event(m, forward ? c->forward[at - c->forward_start[other] + c->forward_start[m->block]]
                                      : c->backward[at - c->backward_start[other] + c->backward_start[m->block]]);
    }
    return status;
}

static pb_status copy_block(maker *m, const pbi_block *from, uint32_t other, pbi_block *to)
{
    *to = *from;
    to->way = (uint32_t)m->way_count;
    pb_status status = copy_list(m, m->plain[other], other, &m->plain[m->block]);
    for (uint32_t n = 0; n < from->way_count && status == PB_OK; n++) {
        if (!grow(m))
            return PB_ENOMEM;
        pbi_block_way w = m->way[from->way + n];
        pbi_block_nodes forward, backward;
        w.backward += m->gradient[m->block] - m->gradient[other]; /* more or less may be waiting beside it */
        status = copy_list(m, m->forward[from->way + n], other, &forward);
        if (status == PB_OK)
            status = copy_list(m, m->backward[from->way + n], other, &backward);
        if (status != PB_OK)
            break;
        m->way[m->way_count] = w;
        m->forward[m->way_count] = forward;
        m->backward[m->way_count++] = backward;
    }
    return status;
}

static pb_status make_block(maker *m, pbi_block *b)
{
    pb_status status = list_forward(m, &m->plain[m->block]);
    if (status != PB_OK)
        return status;
    pbi_block_nodes plain = m->plain[m->block];
    b->cost = work_of(m, plain);
    for (int counted = 0; counted < 2; counted++) {
        m->left_counts = counted;
        if (!counted && m->left != PB_NO_NODE)
            note(m, m->left, STAYS);
        if (m->right != PB_NO_NODE)
            note(m, m->right, STAYS);
        uint64_t need = replay(m, plain, counted && m->left != PB_NO_NODE ? m->g->size[m->left] : 0);
        *(counted ? &b->through : &b->beside) = need;
    }
    m->left_counts = false;
    find_read(m);
    return find_ways(m, b, plain.count == 1);
}

/* What crosses each cut on the way back. */
static bool weigh_gradients(maker *m)
{
    const pb_graph *g = m->g;
    const pbi_block_chain *c = m->c;
    uint64_t *change = pb_arena_zero(m->arena, (size_t)c->count + 2, sizeof *change); /* wraps around */
    if (!change)
        return false;
    for (pb_node v = 0; v < g->node_count; v++) {
        m->lowest[v] = NEVER;
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

static bool take_memory(maker *m)
{
    uint32_t nodes = m->g->node_count;
    m->lowest = pb_arena_alloc(m->arena, nodes, sizeof *m->lowest);
    m->last = pb_arena_alloc(m->arena, nodes, sizeof *m->last);
    m->have = pb_arena_zero(m->arena, nodes, sizeof *m->have);
    m->touched = pb_arena_alloc(m->arena, nodes, sizeof *m->touched);
    m->stack = pb_arena_alloc(m->arena, nodes, sizeof *m->stack);
    m->read = pb_arena_alloc(m->arena, nodes, sizeof *m->read);
    m->plain = pb_arena_zero(m->arena, (size_t)m->c->count + 1, sizeof *m->plain);
    m->known = pb_arena_alloc(m->arena, MOST_KNOWN, sizeof *m->known);
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
    maker m = {.ctx = ctx, .g = g, .c = chain, .arena = arena};
    uint64_t *value = pb_arena_zero(arena, (size_t)chain->count + 1, sizeof *value);
    pbi_block *block = pb_arena_zero(arena, (size_t)chain->count + 1, sizeof *block);
    if (!value || !block || !take_memory(&m) || !weigh_gradients(&m))
        return PB_ENOMEM;
    pb_status status = PB_OK;
    for (uint32_t b = 0; b <= chain->count && status == PB_OK; b++) {
        value[b] = chain->cut[b] == PB_NO_NODE ? 0 : g->size[chain->cut[b]];
        if (!b)
            continue;
        m.block = b;
        m.left = chain->cut[b - 1];
        m.right = chain->cut[b];
        uint32_t alike = find_alike(&m, &status);
        if (status == PB_OK)
            status = alike ? copy_block(&m, &block[alike], alike, &block[b]) : make_block(&m, &block[b]);
        if (status == PB_OK)
            status = pbi_tick(ctx, chain->forward_start[b + 1] - chain->forward_start[b]);
    }
    *out = (pbi_block_ways){.event = m.event, .plain = m.plain, .forward = m.forward, .backward = m.backward};
    out->numbers = (pbi_blocks){chain->count, block, m.way, value, m.gradient};
    return status;
}
