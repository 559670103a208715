/* expand.h -- a list of computations as a verified plan. */
#ifndef PBI_API_GRAIN_EXPAND_H
#define PBI_API_GRAIN_EXPAND_H

#include "pebble/api.h"
#include "plan/strategy.h"

/* Verifies and measures moves as the strategy does that plays a user's own schedule. */
pb_status pbi_certify_moves(pb_context *ctx, const pb_game *game, const pbi_plan *plan, uint64_t peak, pb_arena *result,
                            pb_plan_result *out);

#endif
