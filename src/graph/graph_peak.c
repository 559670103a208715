/* graph_peak.c -- the peak in program order, to which percent caps refer; finding nodes by name. */
#include "base/checked.h"
#include "pebble/graph.h"

#include <string.h>

pb_node pb_graph_find(const pb_graph *g, const char *name)
{
    for (pb_node v = 0; v < g->node_count; v++)
        if (strcmp(pb_graph_name(g, v), name) == 0)
            return v;
    uint64_t index;
    if (pbi_u64_parse(name, strlen(name), &index) && index < g->node_count)
        return (pb_node)index;
    return PB_NO_NODE;
}

/* Position in the order after which each value is no longer read; UINT32_MAX: never freed, or never read if given. */
static void fill_last_use(const pb_graph *g, uint32_t *last)
{
    memset(last, 0xff, g->node_count * sizeof *last);
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        last[v] = i;
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                last[g->part[k]] = i;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            last[g->in[k]] = i;
    }
}

static uint64_t freed_here(const pb_graph *g, const uint32_t *last, pb_node v, uint32_t at)
{
    return last[v] == at && !(g->flags[v] & PB_NODE_KEEP) ? g->size[v] : 0;
}

/* Values that are in memory during the computation at this position; UINT32_MAX: before the first. */
static void mark_resident(const pb_graph *g, const uint32_t *last, uint32_t position, uint8_t *resident)
{
    bool start = position == UINT32_MAX;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool needed = (last[v] != UINT32_MAX && last[v] >= position) || (g->flags[v] & PB_NODE_KEEP);
        resident[v] = (g->flags[v] & PB_NODE_GIVEN) && (start || needed);
    }
    for (uint32_t i = 0; !start && i <= position; i++) {
        pb_node v = g->order[i];
        resident[v] = last[v] >= position || (g->flags[v] & PB_NODE_KEEP);
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                resident[g->part[k]] = last[g->part[k]] >= position || (g->flags[g->part[k]] & PB_NODE_KEEP);
    }
}

pb_status pb_graph_program_peak(pb_context *ctx, const pb_graph *g, uint64_t *peak)
{
    uint32_t position;
    return pb_graph_program_peak_at(ctx, g, peak, &position, NULL);
}

pb_status pb_graph_program_peak_at(pb_context *ctx, const pb_graph *g, uint64_t *peak, uint32_t *position,
                                   uint8_t *resident)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint32_t *last = pb_arena_alloc(&scratch, g->node_count, sizeof *last);
    if (!last)
        return PB_ENOMEM;
    fill_last_use(g, last);
    uint64_t now = g->fixed_size, unread = 0, most;
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_GIVEN) {
            now += g->size[v];
            if (last[v] == UINT32_MAX && !(g->flags[v] & PB_NODE_KEEP))
                unread += g->size[v];
        }
    most = now;
    now -= unread;
    *position = UINT32_MAX;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        uint64_t gone = freed_here(g, last, v, i);
        now += g->size[v];
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++) {
                now += g->size[g->part[k]];
                gone += freed_here(g, last, g->part[k], i);
            }
        if (now + g->workspace[v] > most) {
            most = now + g->workspace[v];
            *position = i;
        }
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            gone += freed_here(g, last, g->in[k], i);
        now -= gone;
    }
    if (resident)
        mark_resident(g, last, *position, resident);
    pb_arena_release(&scratch);
    *peak = most;
    return PB_OK;
}
