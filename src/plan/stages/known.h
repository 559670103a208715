/* known.h -- the published schedules of pipelines, as orders of steps. */
#ifndef PBI_PLAN_STAGES_KNOWN_H
#define PBI_PLAN_STAGES_KNOWN_H

#include "plan/stages/stages.h"

typedef enum pbi_known {
    PBI_KNOWN_GPIPE,
    PBI_KNOWN_1F1B,
    PBI_KNOWN_INTERLEAVED,
    PBI_KNOWN_ZB_H1,
    PBI_KNOWN_ZB_H2,
    PBI_KNOWN_ZB_V,
    PBI_KNOWN_V_HALF,
    PBI_KNOWN_V_MIN
} pbi_known;

/* A strategy that makes this schedule, with the option `recompute`. */
pb_status pbi_stages_plan_known(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_known which,
                                pbi_plan *plan);

#endif
