/* timed_cut.h -- a bound on the makespan of the timed game from what must happen before and after one moment.
 *
 * For machines with one processor, and graphs without by-products and recipes. */
#ifndef PBI_TIMED_CUT_H
#define PBI_TIMED_CUT_H

#include "pebble/bound.h"

/* Raises *makespan, and sets *at to the node whose first start is the moment. Gives up after `effort` arcs. */
pb_status pbi_timed_cut(pb_context *ctx, const pb_game *game, uint64_t effort, uint64_t *makespan, pb_node *at);

#endif
