/* written.h -- the program as written, as a plan that the engine can run. */
#ifndef PBI_WRITTEN_H
#define PBI_WRITTEN_H

#include "pebble/verify.h"

/* Every node that can be computed, once, in the graph's order, with all its by-products. `keep_all`: nothing is freed; else each value
 * goes after its last use, unless it is to be kept. All of it lives in `result`. */
pb_status pbi_program_plan(pb_context *ctx, const pb_graph *g, bool keep_all, pb_arena *result,
                           const pb_certificate **out);

#endif
