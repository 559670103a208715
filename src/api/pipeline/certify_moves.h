/* certify_moves.h -- moves from elsewhere as a verified plan. */
#ifndef PBI_API_PIPELINE_CERTIFY_MOVES_H
#define PBI_API_PIPELINE_CERTIFY_MOVES_H

#include "pebble/api.h"
#include "plan/strategy.h"

/* Verifies and measures moves as the strategy does that plays a user's own schedule.
 *   in   request  NULL: no proofs of bounds
 *        given    name, moves and peak */
pb_status pbi_certify_moves(pb_context *ctx, const pb_game *game, const pb_request *request, const pbi_given *given,
                            pb_arena *result, pb_plan_result *out);

#endif
