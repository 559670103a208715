/* edge_rank.h -- trees of a reversible game, and minimum ranks for their edges.
 *
 * An *edge ranking* of a tree gives every edge a rank such that between two edges of one rank there is a higher
 * one. The minimum number of ranks, plus one, is the minimum number of pebbles for the tree in the reversible game.
 */
#ifndef PBI_EDGE_RANK_H
#define PBI_EDGE_RANK_H

#include "pebble/game.h"

#define PBI_NO_PLACE UINT32_MAX

/* Trees in postorder: a place comes after all places below it, and a subtree is a range that ends with its root.
 * Final values are roots: they need not be computed twice, so their readers are in other trees. */
typedef struct pbi_trees {
    const pb_graph *g;
    uint32_t count;
    pb_node *node;    /* of each place */
    uint32_t *parent; /* the place that reads it; PBI_NO_PLACE for a root */
    uint32_t *root;   /* tree i ends with root[i]; the trees are in an order in which they can be computed */
    uint32_t root_count;
    uint64_t budget; /* memory in addition to what is always resident */
    bool equal;      /* all sizes are equal, and there is no workspace */
    bool overwrites; /* some node may be computed in place: such plans are not considered */
} pbi_trees;

/* Fills rank[] of every place whose edge to its parent is not cut, from 0 on, with minimum ranks for each remaining
 * part; *most is the largest number of ranks of any part. `cut` may be NULL.
 *   cost  nearly linear if nodes have few inputs */
pb_status pbi_edge_rank(pb_context *ctx, const pbi_trees *trees, const uint8_t *cut, uint32_t *rank, uint32_t *most);

#endif
