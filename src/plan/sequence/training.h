/* training.h -- a graph as a training step: a forward part, and a backward part that reads it.
 *
 * Program order is divided at the place where most memory is in use: the forward pass adds values, the backward pass
 * frees them. In a training step that is the loss or a step behind it. A graph without a backward pass is divided
 * too; plans for it are legal, only less useful. A node and its by-products are one unit, named by the node.
 */
#ifndef PBI_PLAN_SEQUENCE_TRAINING_H
#define PBI_PLAN_SEQUENCE_TRAINING_H

#include "pebble/game.h"

#define PBI_NO_PLACE UINT32_MAX

typedef struct pbi_training {
    const pb_graph *g;
    pb_node *order; /* needed nodes that are computed */
    uint32_t count;
    uint32_t forward;   /* how many of them are the forward part */
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

/* Does every useful plan compute v at most once: it is `once`, or it or a by-product is kept to the end? */
bool pbi_unit_stays(const pb_graph *g, pb_node v);

/* The largest memory, over all places, of forward values before a place that forward nodes behind it read. */
uint64_t pbi_training_frontier(const pbi_training *t);

#endif
