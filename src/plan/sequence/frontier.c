/* frontier.c -- see frontier.h. */
#include "plan/sequence/frontier.h"

#include "base/arena.h"
#include "base/context.h"

typedef struct entry {
    int64_t growth;
    uint32_t place;
} entry;

typedef struct chooser {
    pb_context *ctx;
    const pbi_training *t;
    pb_arena *arena;
    uint32_t *waits;   /* per forward place: inputs that are not computed yet */
    uint32_t *readers; /* per node: forward readers that are not placed yet */
    uint8_t *placed;   /* per forward place */
    int64_t *growth;   /* per forward place: the current value; heap entries with another value are outdated */
    entry *heap;
    size_t count, room;
    int shift; /* sizes lose their last bits if their sum would exceed 63 bits */
} chooser;

static bool before(const entry *a, const entry *b)
{
    return a->growth != b->growth ? a->growth < b->growth : a->place < b->place;
}

static pb_status push_entry(chooser *c, entry e)
{
    void *items = c->heap;
    if (!pbi_arena_reserve(c->arena, &items, &c->room, c->count + 1, sizeof *c->heap))
        return PB_ENOMEM;
    c->heap = items;
    size_t at = c->count++;
    for (; at && before(&e, &c->heap[(at - 1) / 2]); at = (at - 1) / 2)
        c->heap[at] = c->heap[(at - 1) / 2];
    c->heap[at] = e;
    return PB_OK;
}

static entry pop(chooser *c)
{
    entry top = c->heap[0], last = c->heap[--c->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < c->count; at = child) {
        child += child + 1 < c->count && before(&c->heap[child + 1], &c->heap[child]);
        if (!before(&c->heap[child], &last))
            break;
        c->heap[at] = c->heap[child];
    }
    c->heap[at] = last;
    return top;
}

static bool is_forward(const chooser *c, pb_node v) { return c->t->place[v] < c->t->forward; }

/* By how much memory grows if the node is placed now. */
static int64_t growth_of(const chooser *c, uint32_t p)
{
    const pb_graph *g = c->t->g;
    pb_node v = c->t->order[p];
    int64_t growth = c->readers[v] ? (int64_t)(g->size[v] >> c->shift) : 0;
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            growth += c->readers[g->part[k]] ? (int64_t)(g->size[g->part[k]] >> c->shift) : 0;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (is_forward(c, g->in[k]) && c->readers[g->in[k]] == 1)
            growth -= (int64_t)(g->size[g->in[k]] >> c->shift);
    return growth;
}

static pb_status push_ready(chooser *c, uint32_t p)
{
    c->growth[p] = growth_of(c, p);
    return push_entry(c, (entry){c->growth[p], p});
}

/* u has one reader left, which will free it: updates that reader's growth. */
static pb_status update_reader(chooser *c, pb_node u)
{
    const pb_graph *g = c->t->g;
    for (uint32_t k = g->out_start[u]; k < g->out_start[u + 1]; k++) {
        uint32_t p = c->t->place[g->out[k]];
        if (p < c->t->forward && !c->placed[p])
            return c->waits[p] ? PB_OK : push_ready(c, p);
    }
    return PB_OK;
}

static pb_status place(chooser *c, uint32_t p)
{
    const pb_graph *g = c->t->g;
    pb_node v = c->t->order[p];
    pb_status status = PB_OK;
    c->placed[p] = 1;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1] && status == PB_OK; k++)
        if (is_forward(c, g->in[k]) && --c->readers[g->in[k]] == 1)
            status = update_reader(c, g->in[k]);
    uint32_t parts = g->flags[v] & PB_NODE_HAS_PARTS ? g->part_start[v + 1] - g->part_start[v] : 0;
    for (uint32_t m = 0; m <= parts; m++) {
        pb_node w = m ? g->part[g->part_start[v] + m - 1] : v;
        for (uint32_t k = g->out_start[w]; k < g->out_start[w + 1] && status == PB_OK; k++) {
            uint32_t q = c->t->place[g->out[k]];
            if (q < c->t->forward && --c->waits[q] == 0)
                status = push_ready(c, q);
        }
    }
    return status;
}

static pb_status allocate_chooser(chooser *c)
{
    const pbi_training *t = c->t;
    const pb_graph *g = t->g;
    c->waits = pb_arena_zero(c->arena, t->forward, sizeof *c->waits);
    c->placed = pb_arena_zero(c->arena, t->forward, sizeof *c->placed);
    c->growth = pb_arena_alloc(c->arena, t->forward, sizeof *c->growth);
    c->readers = pb_arena_zero(c->arena, g->node_count, sizeof *c->readers);
    if (!c->waits || !c->placed || !c->growth || !c->readers)
        return PB_ENOMEM;
    c->shift = t->all_sizes >> 62 ? 2 : 0;
    for (uint32_t p = 0; p < t->forward; p++)
        for (uint32_t k = g->in_start[t->order[p]]; k < g->in_start[t->order[p] + 1]; k++)
            if (is_forward(c, g->in[k])) {
                c->waits[p]++;
                c->readers[g->in[k]]++;
            }
    pb_status status = PB_OK;
    for (uint32_t p = 0; p < t->forward && status == PB_OK; p++)
        if (!c->waits[p])
            status = push_ready(c, p);
    return status;
}

pb_status pbi_frontier_order(pb_context *ctx, const pbi_training *t, pb_arena *arena, pb_node *order)
{
    chooser c = {.ctx = ctx, .t = t, .arena = arena};
    pb_status status = allocate_chooser(&c);
    uint32_t count = 0;
    while (c.count && status == PB_OK) {
        entry e = pop(&c);
        if (c.placed[e.place] || c.growth[e.place] != e.growth)
            continue;
        order[count++] = t->order[e.place];
        status = place(&c, e.place);
        if (status == PB_OK && (count & 0x3ff) == 0)
            status = pbi_tick(ctx, 0x400);
    }
    return status;
}
