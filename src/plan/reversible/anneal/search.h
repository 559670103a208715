/* search.h -- anytime search in the reversible game. */
#ifndef PBI_PLAN_REVERSIBLE_ANNEAL_SEARCH_H
#define PBI_PLAN_REVERSIBLE_ANNEAL_SEARCH_H

#include "plan/strategy.h"

pb_status pbi_rev_search(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan);

#endif
