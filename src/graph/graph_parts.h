/* graph_parts.h -- the steps of freezing that have separate files. */
#ifndef PBI_GRAPH_PARTS_H
#define PBI_GRAPH_PARTS_H

#include "pebble/graph.h"

/* Fills order, order_count, order_named, depth and max_depth from rows, flags and by-products; `named` may be empty.
 * PB_EGRAPH names a cycle's nodes or the error in the named order. */
pb_status pbi_graph_order(pb_context *ctx, pb_graph *g, const pb_node *named, size_t named_count, pb_arena *result,
                          pb_arena *scratch);

/* Fills shape. */
pb_status pbi_graph_shape(pb_context *ctx, pb_graph *g, pb_arena *scratch);

/* The parts of an adjoint chain: forward x_0 .. x_steps, gradients in the order they are computed. */
typedef struct pbi_adjoint {
    pb_node *forward, *gradient;
    uint32_t forward_count, gradient_count;
} pbi_adjoint;
/* True (and filled from `arena`) if the graph is one; false also if memory is exhausted (*status). */
bool pbi_graph_adjoint(const pb_graph *g, pb_arena *arena, pbi_adjoint *out, pb_status *status);

#endif
