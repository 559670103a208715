/* layout.c -- see layout.h. */
#include "pebble/layout.h"

#include <math.h>

static void radii(const pb_graph *g, float *radius)
{
    uint64_t most = 1;
    for (pb_node v = 0; v < g->node_count; v++)
        most = g->size[v] > most ? g->size[v] : most;
    for (pb_node v = 0; v < g->node_count; v++)
        radius[v] = 0.25f + 0.35f * (float)sqrt((double)g->size[v] / (double)most);
}

bool pb_layout_backward(const pb_graph *g, uint8_t *lane)
{
    for (pb_node v = 0; v < g->node_count; v++)
        lane[v] = 0;
    return false;
}

pb_status pb_layout_make(pb_context *ctx, const pb_graph *g, const pb_layout_options *options, pb_arena *result,
                         pb_layout *out)
{
    pb_layout l = {.kind = PB_LAYOUT_LAYERED, .box_count = g->group_count};
    (void)ctx;
    (void)options;
    l.x = pb_arena_alloc(result, g->node_count, sizeof *l.x);
    l.y = pb_arena_alloc(result, g->node_count, sizeof *l.y);
    l.radius = pb_arena_alloc(result, g->node_count, sizeof *l.radius);
    l.lane = pb_arena_zero(result, g->node_count, 1);
    l.boxes = pb_arena_zero(result, g->group_count, sizeof *l.boxes);
    uint32_t *used = pb_arena_zero(result, (size_t)g->max_depth + 1, sizeof *used);
    if (!l.x || !l.y || !l.radius || !l.lane || !l.boxes || !used)
        return PB_ENOMEM;
    uint32_t most = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        l.y[v] = (float)used[g->depth[v]]++;
        most = used[g->depth[v]] > most ? used[g->depth[v]] : most;
    }
    for (pb_node v = 0; v < g->node_count; v++) {
        l.x[v] = 0.5f + (float)g->depth[v];
        l.y[v] += 0.5f + (float)(most - used[g->depth[v]]) / 2;
    }
    l.width = (float)g->max_depth + 1;
    l.height = (float)(most ? most : 1);
    radii(g, l.radius);
    *out = l;
    return PB_OK;
}
