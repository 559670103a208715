/* graph_order.c -- program order, depth, and cycles with their nodes. */
#include "base/context.h"
#include "graph/graph_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A min-heap of node indices. */
typedef struct heap {
    pb_node *item;
    uint32_t count;
} heap;

static void heap_push(heap *h, pb_node v)
{
    uint32_t at = h->count++;
    for (; at && h->item[(at - 1) / 2] > v; at = (at - 1) / 2)
        h->item[at] = h->item[(at - 1) / 2];
    h->item[at] = v;
}

static pb_node heap_pop(heap *h)
{
    pb_node least = h->item[0], v = h->item[--h->count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= h->count)
            break;
        if (child + 1 < h->count && h->item[child + 1] < h->item[child])
            child++;
        if (h->item[child] >= v)
            break;
        h->item[at] = h->item[child];
        at = child;
    }
    h->item[at] = v;
    return least;
}

static bool numbered_topologically(const pb_graph *g)
{
    for (pb_node v = 0; v < g->node_count; v++) {
        uint32_t end = g->in_start[v + 1];
        if (end > g->in_start[v] && g->in[end - 1] >= v) /* rows ascend: the last input is the largest */
            return false;
        if (g->owner && g->owner[v] != PB_NO_NODE && g->owner[v] >= v)
            return false;
    }
    return true;
}

/* Follows inputs that are not done, from a node on or after a cycle, until a node repeats. */
static pb_status report_cycle(pb_context *ctx, const pb_graph *g, const uint32_t *waiting, pb_arena *scratch)
{
    uint32_t n = g->node_count;
    uint32_t *seen = pb_arena_zero(scratch, n, sizeof *seen);
    pb_node *path = pb_arena_alloc(scratch, (size_t)n + 1, sizeof *path);
    if (!seen || !path)
        return PB_ENOMEM;
    pb_node v = 0;
    while (!waiting[v])
        v++;
    uint32_t length = 0;
    while (!seen[v]) {
        path[length++] = v;
        seen[v] = length;
        pb_node next = g->owner && g->owner[v] != PB_NO_NODE ? g->owner[v] : PB_NO_NODE;
        for (uint32_t k = g->in_start[v]; next == PB_NO_NODE && k < g->in_start[v + 1]; k++)
            if (waiting[g->in[k]])
                next = g->in[k];
        v = next;
    }
    uint32_t first = seen[v] - 1, count = length - first;
    char text[400];
    int used = snprintf(text, sizeof text, "%.40s", pb_graph_name(g, v));
    for (uint32_t i = 0; i < count; i++) { /* the path runs against the edges: print it backwards */
        if (count > 8 && i == 4) {
            used += snprintf(text + used, sizeof text - (size_t)used, " -> ... (%" PRIu32 " more)", count - 7);
            i = count - 4;
            continue;
        }
        used += snprintf(text + used, sizeof text - (size_t)used, " -> %.40s", pb_graph_name(g, path[length - 1 - i]));
        if ((size_t)used >= sizeof text)
            break;
    }
    return pbi_fail(ctx, PB_EGRAPH, "the graph has a cycle of %" PRIu32 " node%s: %s; remove one of its edges", count,
                    count == 1 ? "" : "s", text);
}

/* Kahn's algorithm with a heap: always the smallest index that is ready. */
static pb_status smallest_order(pb_context *ctx, pb_graph *g, pb_node *order, pb_arena *scratch)
{
    uint32_t n = g->node_count, done = 0;
    uint32_t *waiting = pb_arena_alloc(scratch, n, sizeof *waiting);
    heap ready = {pb_arena_alloc(scratch, (size_t)n + 1, sizeof *ready.item), 0};
    if (!waiting || !ready.item)
        return PB_ENOMEM;
    for (pb_node v = 0; v < n; v++) {
        waiting[v] = g->in_start[v + 1] - g->in_start[v] + (g->owner && g->owner[v] != PB_NO_NODE);
        if (!waiting[v])
            heap_push(&ready, v);
    }
    while (ready.count) {
        pb_node v = heap_pop(&ready);
        order[done++] = v;
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++)
            if (!--waiting[g->out[k]])
                heap_push(&ready, g->out[k]);
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                if (!--waiting[g->part[k]])
                    heap_push(&ready, g->part[k]);
    }
    return done == n ? PB_OK : report_cycle(ctx, g, waiting, scratch);
}

/* Stores the computed nodes of a full order in g. */
static void keep_computed(pb_graph *g, pb_node *order, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (pb_graph_is_computed(g, order[i]))
            order[kept++] = order[i];
    g->order = order;
    g->order_count = kept;
}

static pb_status check_named(pb_context *ctx, const pb_graph *g, const pb_node *named, size_t count, pb_arena *scratch)
{
    uint32_t n = g->node_count;
    uint32_t *place = pb_arena_zero(scratch, n, sizeof *place); /* 1-based position */
    if (!place)
        return PB_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (named[i] >= n)
            return pbi_fail(ctx, PB_EGRAPH,
                            "`order` names node %" PRIu32 ", but the graph has %" PRIu32
                            " nodes, counted from 0; correct it",
                            named[i], n);
        if (place[named[i]])
            return pbi_fail(ctx, PB_EGRAPH, "`order` lists node \"%.80s\" twice; remove one",
                            pb_graph_name(g, named[i]));
        place[named[i]] = (uint32_t)i + 1;
    }
    for (pb_node v = 0; v < n; v++) {
        if (!pb_graph_is_computed(g, v))
            continue;
        if (!place[v])
            return pbi_fail(ctx, PB_EGRAPH, "`order` does not list node \"%.80s\"; add it", pb_graph_name(g, v));
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            pb_node maker = g->owner && g->owner[u] != PB_NO_NODE ? g->owner[u] : u;
            if (!(g->flags[u] & PB_NODE_GIVEN) && place[maker] >= place[v])
                return pbi_fail(ctx, PB_EGRAPH,
                                "`order` computes \"%.80s\" before \"%.80s\", which it reads; swap them",
                                pb_graph_name(g, v), pb_graph_name(g, u));
        }
    }
    return PB_OK;
}

static pb_status fill_depth(pb_graph *g, pb_arena *result)
{
    uint32_t *depth = pb_arena_zero(result, g->node_count, sizeof *depth);
    if (!depth)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            if (depth[g->in[k]] >= depth[v])
                depth[v] = depth[g->in[k]] + 1;
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                depth[g->part[k]] = depth[v];
        if (depth[v] > g->max_depth)
            g->max_depth = depth[v];
    }
    g->depth = depth;
    return PB_OK;
}

pb_status pbi_graph_order(pb_context *ctx, pb_graph *g, const pb_node *named, size_t named_count, pb_arena *result,
                          pb_arena *scratch)
{
    uint32_t n = g->node_count;
    pb_node *order = pb_arena_alloc(result, n, sizeof *order);
    if (!order)
        return PB_ENOMEM;
    pb_status status = PB_OK;
    if (named_count) {
        status = check_named(ctx, g, named, named_count, scratch);
        if (status != PB_OK)
            return status;
        memcpy(order, named, named_count * sizeof *order);
        keep_computed(g, order, (uint32_t)named_count);
        g->order_named = true;
    } else {
        if (numbered_topologically(g))
            for (pb_node v = 0; v < n; v++)
                order[v] = v;
        else
            status = smallest_order(ctx, g, order, scratch);
        if (status != PB_OK)
            return status;
        keep_computed(g, order, n);
    }
    return fill_depth(g, result);
}
