/* tree_inputs.h -- what each computation reads, with by-products as part of their node; for trees of graphs. */
#ifndef PBI_COARSE_TREE_INPUTS_H
#define PBI_COARSE_TREE_INPUTS_H

#include "pebble/graph.h"

typedef struct pbi_tree_inputs {
    uint32_t *start; /* by node, one more */
    pb_node *node;   /* computed nodes in program order, then given values; each once */
} pbi_tree_inputs;

pb_status pbi_tree_inputs_find(pb_context *ctx, const pb_graph *g, pb_arena *arena, pbi_tree_inputs *out);

/* Is the node, or one of its by-products, needed? Is it a target or kept? */
bool pbi_tree_needed(const pb_graph *g, pb_node v);
bool pbi_tree_is_goal(const pb_graph *g, pb_node v);

#endif
