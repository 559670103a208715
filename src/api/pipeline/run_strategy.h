/* run_strategy.h -- runs one strategy on a game. */
#ifndef PBI_API_PIPELINE_RUN_STRATEGY_H
#define PBI_API_PIPELINE_RUN_STRATEGY_H

#include "api/pipeline/pipeline.h"
#include "plan/strategy.h"

/* A strategy, or a portfolio, and the game that it plans. */
typedef struct pbi_task {
    const pbi_job *job;
    const pb_game *game;
    const pbi_spec *spec;
    const pb_bounds *bounds; /* of this game */
} pbi_task;

/* The policy for the task's strategy; NULL: the strategy chooses. */
const char *pbi_task_policy(const pbi_task *t);
/* Fills `plan` with what the strategy returns, not verified. The moves are in plan->arena. Not for portfolios. */
pb_status pbi_run_strategy(const pbi_task *t, pbi_plan *plan);

/* Reports a better plan to the request's event handler. */
void pbi_emit_plan(const pbi_task *t, const char *strategy, uint64_t peak, uint64_t makespan);

#endif
