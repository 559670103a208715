/* program_order.h -- a plan in program order that the engine can run. */
#ifndef PBI_PROGRAM_ORDER_H
#define PBI_PROGRAM_ORDER_H

#include "pebble/verify.h"

/* Every node that can be computed, once, in program order, with all its by-products. `keep_all`: nothing is freed;
 * else each value is freed after its last use, unless it must be kept. The plan lives in `result`. */
pb_status pbi_program_plan(pb_context *ctx, const pb_graph *g, bool keep_all, pb_arena *result,
                           const pb_certificate **out);

#endif
