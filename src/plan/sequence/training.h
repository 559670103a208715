/* training.h -- a graph read as a training step: a forward part, and a backward part that reads it.
 *
 * The order is taken as written and divided where most values wait to be read: going forward adds some, going back takes
 * them away. In a training step that is the loss or a step behind it; a graph that does not turn is divided all the same,
 * and what is planned on it is legal, only of less use. A node and its by-products are one unit, named by the node.
 */
#ifndef PBI_PLAN_SEQUENCE_TRAINING_H
#define PBI_PLAN_SEQUENCE_TRAINING_H

#include "pebble/game.h"

#define PBI_NO_PLACE UINT32_MAX

typedef struct pbi_training {
    const pb_graph *g;
    pb_node *order; /* needed nodes that are computed */
    uint32_t count;
    uint32_t forward;   /* the first so many of them run forward */
    uint32_t *place;    /* per node: of its unit in `order`; PBI_NO_PLACE: given, or not needed */
    uint32_t *read;     /* per forward place: the last forward place that reads the unit, or its own place */
    uint64_t *size;     /* per place: of the unit, with the by-products that are needed */
    uint64_t *leaving;  /* per forward place: sizes of the units that it is the last forward place to read */
    uint64_t all_sizes; /* of the forward part */
} pbi_training;

/* Everything is allocated in `arena`. O(nodes and edges). */
pb_status pbi_training_find(const pb_graph *g, pb_arena *arena, pbi_training *out);

/* Takes another order of the forward places, a topological one; `order` has `forward` nodes. */
void pbi_training_reorder(pbi_training *t, const pb_node *order);

/* Is there at most one computation of v in any plan worth making: `once`, or it or a by-product is kept to the end? */
bool pbi_unit_stays(const pb_graph *g, pb_node v);

/* The most that forward values before a place hold for forward readers behind it, over all places. */
uint64_t pbi_training_frontier(const pbi_training *t);

#endif
