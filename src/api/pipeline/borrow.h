/* borrow.h -- plans with borrowed memory, made from plans of games without it. */
#ifndef PBI_API_PIPELINE_BORROW_H
#define PBI_API_PIPELINE_BORROW_H

#include "api/pipeline/pipeline.h"
#include "plan/strategy.h"

/* Fills *bounds with what is proved for the game, and `plan`, which is not verified yet. */
pb_status pbi_plan_borrowed(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                            pb_bounds *bounds, pbi_plan *plan);

#endif
