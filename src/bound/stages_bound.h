/* stages_bound.h -- lower bounds for pipelines (docs/bounds.md, "Pipelines"). */
#ifndef PBI_BOUND_STAGES_BOUND_H
#define PBI_BOUND_STAGES_BOUND_H

#include "game/stages_model.h"

/* No schedule of the game has a smaller makespan or span. */
uint64_t pbi_stages_bound(const pbi_stages *s, pb_objective objective);

#endif
