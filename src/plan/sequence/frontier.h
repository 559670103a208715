/* frontier.h -- an order of the forward part with a small frontier: few values waiting for readers at any time.
 *
 * Greedy: of the nodes whose inputs are computed, always the one that increases memory least; on ties the first in
 * program order.
 */
#ifndef PBI_PLAN_SEQUENCE_FRONTIER_H
#define PBI_PLAN_SEQUENCE_FRONTIER_H

#include "plan/sequence/training.h"

/* order[0 .. t->forward). O((nodes + edges) log nodes). */
pb_status pbi_frontier_order(pb_context *ctx, const pbi_training *t, pb_arena *arena, pb_node *order);

#endif
