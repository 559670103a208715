/* cluster.c -- which computations become one step.
 *
 * Problem     sets of computations that can run one after the other, so that the coarse graph has no cycle.
 * Idea        every set is a run of one topological order. Chains and labels first change the order so that what
 *             belongs together is next to each other.
 * Cost        O((nodes + edges) log nodes).
 */
#include "coarse/cluster.h"
#include "base/context.h"

#include <math.h>
#include <string.h>

static const char *const grain_names[] = {"operation", "chain", "size", "layer", "block", "region"};
enum { GRAINS = sizeof grain_names / sizeof *grain_names };

const char *pb_grain_name(pb_grain grain) { return (unsigned)grain < GRAINS ? grain_names[grain] : "?"; }

bool pb_grain_parse(const char *name, pb_grain *out)
{
    for (int i = 0; i < GRAINS; i++)
        if (strcmp(name, grain_names[i]) == 0) {
            *out = (pb_grain)i;
            return true;
        }
    if (strcmp(name, "group") != 0)
        return false;
    *out = PB_GRAIN_LAYER;
    return true;
}

/* The computation in which the only value of unit v is read, if v is the only computation whose value that one reads;
 * else PB_NO_NODE. */
static pb_node chain_next(const pb_graph *g, pb_node v)
{
    if (g->flags[v] & (PB_NODE_KEEP | PB_NODE_ONCE | PB_NODE_HAS_PARTS))
        return PB_NO_NODE;
    pb_node next = PB_NO_NODE;
    for (uint32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++)
        if (g->flags[g->out[e]] & PB_NODE_NEEDED) {
            if (next != PB_NO_NODE)
                return PB_NO_NODE;
            next = g->out[e];
        }
    if (next == PB_NO_NODE || (g->flags[next] & PB_NODE_ONCE))
        return PB_NO_NODE;
    for (uint32_t e = g->in_start[next]; e < g->in_start[next + 1]; e++)
        if (g->in[e] != v && !(g->flags[g->in[e]] & PB_NODE_GIVEN))
            return PB_NO_NODE;
    return next;
}

/* A chain runs where its last computation was. */
static pb_status find_chains(const pb_graph *g, pb_arena *arena, pbi_clusters *c)
{
    pb_node *before = pb_arena_alloc(arena, g->node_count + 1, sizeof *before);
    pb_node *order = pb_arena_alloc(arena, c->order_count + 1, sizeof *order);
    uint32_t used = 0;
    if (!before || !order)
        return PB_ENOMEM;
    memset(before, 0xff, (g->node_count + 1) * sizeof *before);
    for (uint32_t i = 0; i < c->order_count; i++) {
        pb_node next = chain_next(g, c->order[i]);
        if (next != PB_NO_NODE)
            before[next] = c->order[i];
    }
    for (uint32_t i = 0; i < c->order_count; i++) {
        pb_node v = c->order[i];
        if (chain_next(g, v) != PB_NO_NODE)
            continue;
        c->start[c->count++] = used;
        for (pb_node u = v; u != PB_NO_NODE; u = before[u])
            used++;
        uint32_t at = used;
        for (pb_node u = v; u != PB_NO_NODE; u = before[u])
            order[--at] = u;
    }
    c->start[c->count] = used;
    c->order = order;
    return PB_OK;
}

/* Every computation on its own. */
static void find_singles(pbi_clusters *c)
{
    for (uint32_t i = 0; i <= c->order_count; i++)
        c->start[i] = i;
    c->count = c->order_count;
}

/* A run goes on while the next computation reads a small value of it. */
static pb_status find_small(const pb_graph *g, uint64_t small, pb_arena *arena, pbi_clusters *c)
{
    uint32_t *run = pb_arena_alloc(arena, g->node_count + 1, sizeof *run);
    if (!run)
        return PB_ENOMEM;
    memset(run, 0xff, (g->node_count + 1) * sizeof *run);
    if (!small)
        small = g->node_count ? g->total_size / g->node_count : 0;
    for (uint32_t i = 0; i < c->order_count; i++) {
        pb_node v = c->order[i];
        bool joins = false, apart = g->flags[v] & PB_NODE_ONCE;
        for (uint32_t e = g->in_start[v]; e < g->in_start[v + 1] && !apart && c->count; e++) {
            pb_node u = pb_graph_maker(g, g->in[e]);
            joins |= run[u] == c->count - 1 && g->size[g->in[e]] <= small && !(g->flags[u] & PB_NODE_ONCE);
        }
        if (!joins)
            c->start[c->count++] = i;
        run[v] = c->count - 1;
    }
    c->start[c->count] = c->order_count;
    return PB_OK;
}

/* A run goes on while the label is the same. */
static void find_labelled(const pb_graph *g, pbi_clusters *c)
{
    for (uint32_t i = 0; i < c->order_count; i++) {
        bool joins = i && c->label[i] != UINT32_MAX && c->label[i] == c->label[i - 1] &&
                     !((g->flags[c->order[i]] | g->flags[c->order[i - 1]]) & PB_NODE_ONCE);
        if (!joins)
            c->start[c->count++] = i;
    }
    c->start[c->count] = c->order_count;
}

pb_status pbi_clusters_find(pb_context *ctx, const pb_graph *g, const pb_coarsen_options *options, pb_arena *arena,
                            pbi_clusters *out)
{
    pbi_clusters c = {.order = pb_arena_alloc(arena, g->order_count + 1, sizeof *c.order),
                      .start = pb_arena_alloc(arena, g->order_count + 2, sizeof *c.start)};
    pb_status status = PB_OK;
    uint32_t most = options->nodes;
    if (!c.order || !c.start)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            c.order[c.order_count++] = g->order[i];
    switch (options->by) {
    case PB_GRAIN_CHAIN: status = find_chains(g, arena, &c); break;
    case PB_GRAIN_SIZE: status = find_small(g, options->small, arena, &c); break;
    case PB_GRAIN_LAYER:
    case PB_GRAIN_BLOCK:
        status = pbi_order_labels(ctx, g, options->by == PB_GRAIN_BLOCK, arena, &c);
        if (status == PB_OK)
            find_labelled(g, &c);
        break;
    case PB_GRAIN_REGION: most = most ? most : (uint32_t)ceil(sqrt((double)c.order_count)); /* fall through */
    default: find_singles(&c);
    }
    if (status == PB_OK && most && c.count > most)
        status = pbi_join_neighbors(g, most, arena, &c);
    if (status == PB_OK)
        *out = c;
    return status;
}
