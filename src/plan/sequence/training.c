/* training.c -- see training.h. */
#include "plan/sequence/training.h"

#include "graph/graph_turn.h"

#include <string.h>

static bool is_needed(const pb_graph *g, pb_node v) { return (g->flags[v] & PB_NODE_NEEDED) != 0; }

static void number_places(pbi_training *t)
{
    const pb_graph *g = t->g;
    memset(t->place, 0xff, g->node_count * sizeof *t->place);
    for (uint32_t i = 0; i < g->order_count; i++)
        if (is_needed(g, g->order[i])) {
            t->place[g->order[i]] = t->count;
            t->order[t->count++] = g->order[i];
        }
    for (pb_node v = 0; g->owner && v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_BYPRODUCT)
            t->place[v] = t->place[g->owner[v]];
}

/* The place of the last reader of each unit, of all readers at places below `end`; its own place for none. */
static void find_last_reads(const pbi_training *t, uint32_t end, uint32_t *last)
{
    const pb_graph *g = t->g;
    for (uint32_t p = 0; p < end; p++)
        last[p] = p;
    for (uint32_t p = 0; p < end; p++)
        for (uint32_t k = g->in_start[t->order[p]]; k < g->in_start[t->order[p] + 1]; k++) {
            uint32_t q = t->place[g->in[k]];
            if (q != PBI_NO_PLACE && last[q] < p)
                last[q] = p;
        }
}

static void measure(pbi_training *t)
{
    const pb_graph *g = t->g;
    for (uint32_t p = 0; p < t->count; p++)
        t->size[p] = g->size[t->order[p]];
    for (pb_node v = 0; g->owner && v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_BYPRODUCT) && is_needed(g, v))
            t->size[t->place[v]] += g->size[v]; /* the sum of all sizes is below 2^64 */
    t->all_sizes = 0;
    memset(t->leaving, 0, t->count * sizeof *t->leaving);
    for (uint32_t p = 0; p < t->forward; p++) {
        t->all_sizes += t->size[p];
        if (t->read[p] != p)
            t->leaving[t->read[p]] += t->size[p];
    }
}

pb_status pbi_training_find(const pb_graph *g, pb_arena *arena, pbi_training *out)
{
    pbi_training t = {.g = g};
    t.order = pb_arena_alloc(arena, g->order_count, sizeof *t.order);
    t.place = pb_arena_alloc(arena, g->node_count, sizeof *t.place);
    t.read = pb_arena_alloc(arena, g->order_count, sizeof *t.read);
    t.size = pb_arena_alloc(arena, g->order_count, sizeof *t.size);
    t.leaving = pb_arena_alloc(arena, g->order_count, sizeof *t.leaving);
    uint32_t *ends = pb_arena_zero(arena, g->order_count, sizeof *ends);
    if (!t.order || !t.place || !t.read || !t.size || !t.leaving || !ends)
        return PB_ENOMEM;
    number_places(&t);
    if (t.count) {
        find_last_reads(&t, t.count, t.read);
        t.forward = pbi_find_turn(t.read, t.count, ends) + 1;
        find_last_reads(&t, t.forward, t.read);
    }
    measure(&t);
    *out = t;
    return PB_OK;
}

void pbi_training_reorder(pbi_training *t, const pb_node *order)
{
    const pb_graph *g = t->g;
    memcpy(t->order, order, t->forward * sizeof *order);
    for (uint32_t p = 0; p < t->forward; p++) {
        pb_node v = t->order[p];
        t->place[v] = p;
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                t->place[g->part[k]] = p;
    }
    find_last_reads(t, t->forward, t->read);
    measure(t);
}

bool pbi_unit_stays(const pb_graph *g, pb_node v)
{
    if (g->flags[v] & (PB_NODE_ONCE | PB_NODE_KEEP))
        return true;
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            if (g->flags[g->part[k]] & PB_NODE_KEEP)
                return true;
    return false;
}

uint64_t pbi_training_frontier(const pbi_training *t)
{
    uint64_t now = 0, max = 0;
    for (uint32_t p = 0; p < t->forward; p++) {
        now += t->read[p] != p ? t->size[p] : 0;
        now -= t->leaving[p];
        max = now > max ? now : max;
    }
    return max;
}
