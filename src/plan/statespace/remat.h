/* remat.h -- the strategy `exact` in the remat game: a search over states (live.h), narrowed by a known plan. */
#ifndef PBI_PLAN_STATESPACE_REMAT_H
#define PBI_PLAN_STATESPACE_REMAT_H

#include "plan/strategy.h"

/* Keeps at most `limit` bytes of states. `options->start` may be a plan to improve on. */
pb_status pbi_plan_exact_remat(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, uint64_t limit,
                               pbi_plan *plan);

#endif
