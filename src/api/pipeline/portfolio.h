/* portfolio.h -- one row of the strategies at work; a portfolio asks others of them and keeps the best plan. */
#ifndef PBI_API_PIPELINE_PORTFOLIO_H
#define PBI_API_PIPELINE_PORTFOLIO_H

#include "api/pipeline/pipeline.h"
#include "plan/strategy.h"

/* What the row says of the game, not verified. The moves are in plan->arena.
 *   in   bounds   of this game */
pb_status pbi_run_strategy(const pbi_job *job, const pb_game *game, const pbi_spec *spec, const pb_bounds *bounds,
                           pbi_plan *plan);

#endif
