/* quick_bounds.h -- bounds in linear time, for callers that cannot spend more. */
#ifndef PBI_QUICK_BOUNDS_H
#define PBI_QUICK_BOUNDS_H

#include "pebble/bound.h"

/* pb_bounds_make without what depends on the order of computations: the best traversal of forests, edge ranks.
 *   cost     O(nodes + edges) */
pb_status pbi_bounds_quick(pb_context *ctx, const pb_game *game, pb_bounds *out);

#endif
