/* coarse.h -- the same computation with fewer, larger steps.
 *
 *     const pb_coarse *c;
 *     pb_coarsen_options options = {.by = PB_GRAIN_BLOCK};
 *     pb_coarsen(&ctx, g, &options, &arena, &c);
 *     ... plan c->graph, verify it ...
 *     pb_coarse_computations(&ctx, c, &planned.schedule.moves, &arena, &list, &count);
 *
 * A cluster is a set of computations that run one after the other; it becomes one node. Its cost is their sum. What
 * is read outside of the cluster becomes values: those with the same readers are one value, the first of them is the
 * node's own, the others are its by-products. Its workspace is the rest of the memory that the cluster needs while it
 * runs. So a plan of the coarse graph, expanded, needs no more memory than it states (docs/granularity.md).
 */
#ifndef PEBBLE_COARSE_H
#define PEBBLE_COARSE_H

#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which computations become one step. */
typedef enum pb_grain {
    PB_GRAIN_OPERATION, /* each is its own */
    PB_GRAIN_CHAIN,     /* chains of computations that only the next one reads */
    PB_GRAIN_SIZE,      /* neighbors in program order that are joined by small values */
    PB_GRAIN_LAYER,     /* those of a group that can run one after the other */
    PB_GRAIN_BLOCK,  /* the same by the first part of the group's name, up to its first number: block3 of block3.mlp */
    PB_GRAIN_REGION, /* stretches of program order, divided where little memory is in use */
} pb_grain;
/* operation, chain, size, layer, block, region; `group` also means layer. */
const char *pb_grain_name(pb_grain grain);
bool pb_grain_parse(const char *name, pb_grain *out);

typedef struct pb_coarsen_options {
    pb_grain by;
    uint32_t
        nodes; /* 0, or join neighbors until at most so many computations are left; regions: auto, the square root */
    uint64_t small; /* PB_GRAIN_SIZE: values up to this size join their neighbors; 0: the mean size */
} pb_coarsen_options;

/* A graph and its coarse form. Nodes of the coarse graph are clusters, their by-products and given values. */
typedef struct pb_coarse {
    const pb_graph *fine, *graph;
    uint32_t cluster_count;
    const uint32_t *member_start; /* by cluster, one more */
    const pb_node *member;        /* computations of the fine graph, in the order they run */
    const uint32_t *cluster;      /* by fine node: its cluster or, of a by-product, its owner's; UINT32_MAX: none */
    const pb_node *node;          /* by cluster: its node of the coarse graph */
    const uint32_t *cluster_of;   /* by coarse node: the cluster that makes it; UINT32_MAX: given */
    const pb_node *value; /* by fine node: the coarse node that has its value; PB_NO_NODE: inside of a cluster */
} pb_coarse;

/* Computations that no target needs are left out, and so are recipes and notes for machines: price the graph first.
 * Values that may be computed only once are clusters of their own.
 *   returns PB_EINVAL layers or blocks of a graph without groups */
pb_status pb_coarsen(pb_context *ctx, const pb_graph *g, const pb_coarsen_options *options, pb_arena *result,
                     const pb_coarse **out);

/* The computations of the fine graph for a legal schedule of the coarse one, in their order: those of each cluster
 * that are needed for what the move makes and that is not in memory. Values are to be freed after their last use. */
pb_status pb_coarse_computations(pb_context *ctx, const pb_coarse *c, const pb_moves *moves, pb_arena *result,
                                 const pb_node **out, uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
