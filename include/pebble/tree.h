/* tree.h -- a graph as a tree: values that are read several times are copied, or keep one of their readers.
 *
 *     const pb_tree_form *t;
 *     pb_tree_options options = {.by = PB_TREE_DUPLICATE};
 *     pb_tree_make(&ctx, g, &options, &arena, &t);
 *     ... plan t->tree, verify it ...
 *     pb_tree_computations(&ctx, t, &planned.schedule.moves, &arena, &list, &count);
 *
 * Exact methods for trees then apply, but to another problem: copies compute again what the graph computes once, and a
 * spanning tree leaves reads out. docs/trees.md says what this costs and when it is useful.
 */
#ifndef PEBBLE_TREE_H
#define PEBBLE_TREE_H

#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_tree_way {
    PB_TREE_DUPLICATE, /* a copy for each read: the graph unfolded from its targets */
    PB_TREE_SPANNING,  /* one node for each value, read by the last of its readers in program order only */
} pb_tree_way;

#define PB_TREE_NODES 1000000u
typedef struct pb_tree_options {
    pb_tree_way by;
    uint64_t nodes; /* max number of nodes; 0: PB_TREE_NODES */
} pb_tree_options;

/* The tree by PB_TREE_DUPLICATE, counted without making it. */
typedef struct pb_tree_size {
    uint64_t nodes; /* UINT64_MAX: that many or more */
    uint64_t cost;  /* of computing each node once; UINT64_MAX: that much or more */
    double digits;  /* decimal logarithm of the number of nodes */
    pb_node most;   /* the node with the most copies; PB_NO_NODE: there are no nodes */
    uint64_t most_copies;
} pb_tree_size;
pb_status pb_tree_measure(pb_context *ctx, const pb_graph *g, pb_tree_size *out);

typedef struct pb_tree_form {
    const pb_graph *graph, *tree;
    const pb_node *origin; /* by node of the tree: the node that it stands for; PB_NO_NODE: it joins targets */
    uint32_t dropped;      /* reads that the spanning tree leaves out */
    uint32_t copies;       /* nodes of the tree beyond one for each value */
} pb_tree_form;

/* Only needed nodes are in the tree. By-products are part of their node, given values are leaves without cost, recipes
 * are left out. Several targets are joined, one after the other, by nodes without size and cost.
 *   returns PB_ELIMIT the tree has more nodes than options->nodes
 *           PB_EINVAL a value that may be computed only once would be copied */
pb_status pb_tree_make(pb_context *ctx, const pb_graph *g, const pb_tree_options *options, pb_arena *result,
                       const pb_tree_form **out);

/* The computations of the graph for a legal remat schedule of the tree, in their order: a copy is not computed while
 * another one is in memory, and what the spanning tree leaves out is computed when it is first read. Values are to be
 * freed after their last use. */
pb_status pb_tree_computations(pb_context *ctx, const pb_tree_form *t, const pb_moves *moves, pb_arena *result,
                               const pb_node **out, uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
