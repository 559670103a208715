/* portfolio.h -- the stage that runs several strategies and keeps the best plan: `auto`. */
#ifndef PBI_API_PIPELINE_PORTFOLIO_H
#define PBI_API_PIPELINE_PORTFOLIO_H

#include "api/pipeline/run_strategy.h"

/* Runs the strategies of the game in rounds (rounds.h), each in its own arena, and keeps the cheapest verified plan.
 * The kept plan never gets worse, and after a stop it is the answer.
 *   out  *plan  outcome, reason, what is proved; with a plan, also the strategy that made it, and the moves of *best
 *        *best  if there is a plan: the plan as verified. Everything that it points to is in plan->arena */
pb_status pbi_portfolio_run(const pbi_task *t, pbi_plan *plan, pb_plan_result *best);

#endif
