/* fit_search.h -- the largest value that fits: doubling, then bisection. */
#ifndef PBI_FIT_SEARCH_H
#define PBI_FIT_SEARCH_H

#include "pebble/graph.h"

/* Whether a value fits; *taken false: there is nothing as large as that. */
typedef pb_status pbi_fit_try(void *state, uint64_t value, bool *fits, bool *taken);

/* A value that does not fit ends the search upwards.
 *   in       first     the value to begin with
 *   in, out  *value    one that is known to fit, 0: none; then the largest that fits (after a failure, so far)
 *   out      *bounded  false: larger values are not taken */
pb_status pbi_fit_search(pbi_fit_try *fits_at, void *state, uint64_t first, uint64_t *value, bool *bounded);

/* The cost of a training step's forward pass. */
pb_status pbi_forward_cost(pb_context *ctx, const pb_graph *g, uint64_t *cost);

#endif
