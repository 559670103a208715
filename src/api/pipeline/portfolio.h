/* portfolio.h -- the stage that asks several strategies and keeps the best plan: `auto`. */
#ifndef PBI_API_PIPELINE_PORTFOLIO_H
#define PBI_API_PIPELINE_PORTFOLIO_H

#include "api/pipeline/run_strategy.h"

/* Asks the strategies of the game in rounds (rounds.h), each in an arena of its own, and keeps the cheapest verified
 * plan. What is kept never gets worse, and a stop keeps the best so far.
 *   out  *plan  outcome, reason, what was proved, and with a plan who made it; its moves are those of *best
 *        *best  with a plan: as it was verified. Everything that it refers to is in plan->arena */
pb_status pbi_portfolio_run(const pbi_task *t, pbi_plan *plan, pb_plan_result *best);

#endif
