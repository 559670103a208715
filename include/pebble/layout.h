/* layout.h -- where to draw the nodes of a graph.
 *
 *     pb_layout l;
 *     if (pb_layout_make(&ctx, g, &(pb_layout_options){0}, &arena, &l) == PB_OK)
 *         draw(l.x[v], l.y[v]);
 *
 * x grows with the depth of a node, y is perpendicular; neighbours are one unit apart, and (0,0) is the upper left
 * corner. Positions are the same on every run. docs/layout.md explains how they are chosen.
 */
#ifndef PEBBLE_LAYOUT_H
#define PEBBLE_LAYOUT_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_layout_kind {
    PB_LAYOUT_LAYERED, /* columns by depth */
    PB_LAYOUT_TREE,    /* each node centred on the nodes it reads */
    PB_LAYOUT_LANES    /* a training step: the backward pass below the forward pass, in the opposite direction */
} pb_layout_kind;

typedef enum pb_lanes { PB_LANES_AUTO, PB_LANES_NEVER } pb_lanes;

typedef struct pb_layout_options {
    pb_lanes lanes;
    const uint8_t *lane; /* by node: 1 for the backward pass, as pb_layout_close found it; NULL: as `lanes` says */
    bool fold;           /* break a very long drawing into rows, so that it is about twice as wide as high */
} pb_layout_options;

/* The rectangle of a group; all zero if it has no members. */
typedef struct pb_layout_box {
    float x, y, width, height;
    pb_node first; /* its first member, or PB_NO_NODE */
} pb_layout_box;

typedef struct pb_layout {
    pb_layout_kind kind;
    float width, height; /* every node is inside, at least half a unit from the edge */
    float *x, *y;
    float *radius; /* 0.2 to 0.46, by the square root of the size */
    uint8_t *lane; /* 0: forward pass, 1: backward pass */
    pb_layout_box *boxes;
    uint32_t box_count; /* group_count of the graph */
} pb_layout;

/* Linear in nodes and edges except for a few sorts; the arrays live in `result`.
 *   returns PB_ENOMEM, PB_ECANCELLED */
pb_status pb_layout_make(pb_context *ctx, const pb_graph *g, const pb_layout_options *options, pb_arena *result,
                         pb_layout *out);

/* Groups as single nodes, for an overview. */
typedef struct pb_layout_groups {
    const pb_graph *graph; /* to draw instead: edges point along the drawing, also where groups are on a cycle */
    const uint32_t *item;  /* by node of the whole graph: its node there */
    const uint32_t *of;    /* by node there: a node of the whole graph, or its node_count + a group */
    const uint8_t *lane;   /* for pb_layout_options; NULL: there is one lane */
} pb_layout_groups;

/* Closes every group but those with `open[group]` (NULL: every one). A group with members in both passes of a training
 * step becomes two nodes; one with a single member in a pass stays that node.
 *   returns PB_ENOMEM, PB_ECANCELLED */
pb_status pb_layout_close(pb_context *ctx, const pb_graph *g, pb_lanes lanes, const bool *open, pb_arena *result,
                          pb_layout_groups *out);

/* Which nodes belong to the backward pass of a training step: lane[v] is 1 for them. If the graph has none, *found
 * is false and lane is all 0. */
pb_status pb_layout_backward(pb_context *ctx, const pb_graph *g, uint8_t *lane, bool *found);

#ifdef __cplusplus
}
#endif
#endif
