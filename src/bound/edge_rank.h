/* edge_rank.h -- trees of a reversible game, and the least ranks for their edges.
 *
 * An *edge ranking* of a tree gives every edge a rank such that between two edges of one rank there is a higher one. The
 * least number of ranks, plus one, is the least number of pebbles that the tree takes in the reversible game.
 */
#ifndef PBI_EDGE_RANK_H
#define PBI_EDGE_RANK_H

#include "pebble/game.h"

#define PBI_NO_PLACE UINT32_MAX

/* Trees in postorder: a place comes after all below it, and a subtree is a range that ends with its root. Values that stay
 * at the end are roots: they need not be made twice, so whoever reads them is in another tree. */
typedef struct pbi_trees {
    const pb_graph *g;
    uint32_t count;
    pb_node *node;    /* of each place */
    uint32_t *parent; /* the place that reads it; PBI_NO_PLACE for a root */
    uint32_t *root;   /* tree i ends with root[i]; trees stand in an order in which they can be made */
    uint32_t root_count;
    uint64_t budget; /* memory beside what is always there */
    bool equal;      /* all sizes are one size, and there is no workspace */
    bool overwrites; /* some node may be computed in place: plans that do are not considered */
} pbi_trees;

/* Fills rank[] of every place whose edge to its parent is not cut, from 0 on, with the least ranks for each of the parts
 * that are left; *most is how many ranks the part with the most needs. `cut` may be NULL.
 *   cost  nearly linear where few values are read at a time */
pb_status pbi_edge_rank(pb_context *ctx, const pbi_trees *trees, const uint8_t *cut, uint32_t *rank, uint32_t *most);

#endif
