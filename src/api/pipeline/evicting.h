/* evicting.h -- what a policy does for a strategy whose plan does not fit the cap. */
#ifndef PBI_API_PIPELINE_EVICTING_H
#define PBI_API_PIPELINE_EVICTING_H

#include "api/pipeline/run_strategy.h"

/* `plan` is what the task's strategy returned with `status`. If it has no plan within the cap, and the request names a
 * policy that the strategy has not used itself: asks the strategy for plans of larger caps, follows their computations
 * under the cap of the task, and evicts by the policy where a move does not fit. Fills `plan`, with the policy, if one
 * of them fits then; else the reason says that evicting does not help. Returns the status of the strategy if nothing
 * changes. */
pb_status pbi_plan_evicting(const pbi_task *t, pb_status status, pbi_plan *plan);

#endif
