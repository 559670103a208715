/* layout.h -- where to draw the nodes of a graph.
 *
 *     pb_layout l;
 *     if (pb_layout_make(&ctx, g, &(pb_layout_options){0}, &arena, &l) == PB_OK)
 *         draw(l.x[v], l.y[v]);
 *
 * x goes with the depth of a node, y lies across; neighbours are one unit apart, and (0,0) is the upper left corner.
 * Positions are the same on every run. docs/layout.md says how they are chosen.
 */
#ifndef PEBBLE_LAYOUT_H
#define PEBBLE_LAYOUT_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_layout_kind {
    PB_LAYOUT_LAYERED, /* columns by depth */
    PB_LAYOUT_TREE,    /* each node in the middle of what it reads */
    PB_LAYOUT_LANES    /* a training step: the way back below the way there, in the other direction */
} pb_layout_kind;

typedef enum pb_lanes { PB_LANES_AUTO, PB_LANES_NEVER } pb_lanes;

typedef struct pb_layout_options {
    pb_lanes lanes;
    bool fold;     /* cut what is very long into rows, about twice as wide as high together */
    bool collapse; /* put the members of a group together, so that its box covers them and nothing else */
} pb_layout_options;

/* The place of a group; all zero where it has no members. */
typedef struct pb_layout_box {
    float x, y, width, height;
    pb_node first; /* its first member, or PB_NO_NODE */
} pb_layout_box;

typedef struct pb_layout {
    pb_layout_kind kind;
    float width, height; /* every node lies within, half a unit from the edge at least */
    float *x, *y;
    float *radius; /* 0.2 to 0.46, by the square root of the size */
    uint8_t *lane; /* 0 there, 1 back */
    pb_layout_box *boxes;
    uint32_t box_count; /* group_count of the graph */
} pb_layout;

/* Linear in nodes and edges but for a few sorts; the arrays live in `result`.
 *   returns PB_ENOMEM, PB_ECANCELLED */
pb_status pb_layout_make(pb_context *ctx, const pb_graph *g, const pb_layout_options *options, pb_arena *result,
                         pb_layout *out);

/* Which nodes belong to the way back of a training step: lane[v] is 1 for them. *found is false where the graph has none,
 * and lane is all 0 then. */
pb_status pb_layout_backward(pb_context *ctx, const pb_graph *g, uint8_t *lane, bool *found);

#ifdef __cplusplus
}
#endif
#endif
