/* plan_timed.h -- plans of the timed game. */
#ifndef PBI_API_PIPELINE_PLAN_TIMED_H
#define PBI_API_PIPELINE_PLAN_TIMED_H

#include "api/pipeline/pipeline.h"

/* pbi_plan_row for the timed game. */
pb_status pbi_plan_timed(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                         pb_plan_result *out);

#endif
