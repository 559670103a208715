/* frontier.h -- an order of the forward part in which little waits to be read at a time.
 *
 * Greedy: of the nodes whose inputs are there, always the one that lets memory grow least, the first as written of several.
 */
#ifndef PBI_PLAN_SEQUENCE_FRONTIER_H
#define PBI_PLAN_SEQUENCE_FRONTIER_H

#include "plan/sequence/training.h"

/* order[0 .. t->forward). O((nodes + edges) log nodes). */
pb_status pbi_frontier_order(pb_context *ctx, const pbi_training *t, pb_arena *arena, pb_node *order);

#endif
