/* graph_shape.c -- recognises the shapes that have exact methods: chains, adjoint chains, in-trees. */
#include "base/context.h"
#include "graph/graph_parts.h"

#include <string.h>

const char *pb_shape_name(pb_shape shape)
{
    static const char *const names[] = {"empty", "chain", "adjoint-chain", "in-tree", "general"};
    return (unsigned)shape <= PB_SHAPE_GENERAL ? names[shape] : "unknown";
}

static uint32_t in_count(const pb_graph *g, pb_node v) { return g->in_start[v + 1] - g->in_start[v]; }
static uint32_t out_count(const pb_graph *g, pb_node v) { return g->out_start[v + 1] - g->out_start[v]; }

/* With n-1 edges and no node with two readers, a forest is one tree; if also no node reads two, one path. */
static pb_shape tree_shape(const pb_graph *g)
{
    if (g->owner || (uint64_t)g->edge_count + 1 != g->node_count)
        return PB_SHAPE_GENERAL;
    bool chain = true;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (out_count(g, v) > 1)
            return PB_SHAPE_GENERAL;
        chain = chain && in_count(g, v) <= 1;
    }
    return chain ? PB_SHAPE_CHAIN : PB_SHAPE_IN_TREE;
}

/* Whether `v` is a gradient of an adjoint chain. It reads no other gradient than the one before it on the path, and no
 * later forward nodes than that one. *low and *high: the first and last forward position that the gradient before it
 * read; then those of `v`. */
static bool gradient_fits(const pb_graph *g, const uint32_t *place, pb_node v, uint32_t turn, uint32_t *low,
                          uint32_t *high)
{
    uint32_t least = UINT32_MAX, most = 0, at = place[v];
    bool reads_forward = false;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        uint32_t p = place[g->in[k]];
        if (p > turn) {
            if (p != at - 1)
                return false;
            continue;
        }
        reads_forward = true;
        least = p < least ? p : least;
        most = p > most ? p : most;
    }
    if (!reads_forward || least > *low || most > *high)
        return false;
    *low = least;
    *high = most;
    return true;
}

bool pbi_graph_adjoint(const pb_graph *g, pb_arena *arena, pbi_adjoint *out, pb_status *status)
{
    uint32_t n = g->node_count;
    *status = PB_OK;
    if (n < 3 || g->owner || g->max_depth != n - 1)
        return false;
    pb_node *path = pb_arena_alloc(arena, n, sizeof *path); /* every depth has exactly one node: a path through all */
    if (!path) {
        *status = PB_ENOMEM;
        return false;
    }
    memset(path, 0xff, n * sizeof *path);
    for (pb_node v = 0; v < n; v++) {
        if (path[g->depth[v]] != PB_NO_NODE)
            return false;
        path[g->depth[v]] = v;
    }
    uint32_t turn = 0; /* the last forward node */
    while (turn + 1 < n && in_count(g, path[turn + 1]) == 1)
        turn++;
    uint32_t low = turn, high = turn;
    for (uint32_t i = turn + 1; i < n; i++)
        if (!gradient_fits(g, g->depth, path[i], turn, &low, &high))
            return false;
    if (turn + 1 >= n || turn == 0)
        return false;
    *out = (pbi_adjoint){path, path + turn + 1, turn + 1, n - turn - 1};
    return true;
}

pb_status pbi_graph_shape(pb_context *ctx, pb_graph *g, pb_arena *scratch)
{
    (void)ctx;
    if (!g->node_count) {
        g->shape = PB_SHAPE_EMPTY;
        return PB_OK;
    }
    g->shape = tree_shape(g);
    pbi_adjoint parts;
    pb_status status = PB_OK;
    if (g->shape == PB_SHAPE_GENERAL && pbi_graph_adjoint(g, scratch, &parts, &status))
        g->shape = PB_SHAPE_ADJOINT_CHAIN;
    return status;
}
