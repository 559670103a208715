/* layout_tree.c -- in-trees: leaves next to each other, every other node centred on the nodes it reads.
 *
 * The leaves below a node take consecutive places, so no two nodes of a column can collide. The column of a node is its
 * number of edges from the root.
 */
#include "graph/layout_parts.h"

pb_status pbi_layout_tree(const pb_graph *g, pb_arena *scratch, pb_layout *out)
{
    uint32_t n = g->node_count, farthest = 0;
    pb_node *by_depth = pbi_layout_by_depth(g, scratch);
    uint32_t *leaves = pb_arena_zero(scratch, n, sizeof *leaves);
    uint32_t *first = pb_arena_zero(scratch, n, sizeof *first); /* place of the first leaf below */
    uint32_t *far = pb_arena_zero(scratch, n, sizeof *far);     /* edges to the root */
    if (!by_depth || !leaves || !first || !far)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        pb_node v = by_depth[i];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            leaves[v] += leaves[g->in[k]];
        leaves[v] += leaves[v] == 0;
    }
    for (uint32_t i = n; i > 0; i--) {
        pb_node v = by_depth[i - 1];
        uint32_t next = first[v];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            first[u] = next;
            next += leaves[u];
            far[u] = far[v] + 1;
        }
        farthest = far[v] > farthest ? far[v] : farthest;
    }
    for (uint32_t i = 0; i < n; i++) {
        pb_node v = by_depth[i];
        uint32_t begin = g->in_start[v], end = g->in_start[v + 1];
        out->x[v] = 0.5f + (float)(farthest - far[v]);
        if (begin == end)
            out->y[v] = 0.5f + (float)first[v];
        else
            out->y[v] = (out->y[g->in[begin]] + out->y[g->in[end - 1]]) / 2;
    }
    out->width = (float)farthest + 1;
    out->height = (float)(n ? leaves[by_depth[n - 1]] : 1);
    return PB_OK;
}
