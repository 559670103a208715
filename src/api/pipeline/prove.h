/* prove.h -- what exact strategies prove about a game, as bounds: the same for every strategy that plans it. */
#ifndef PBI_API_PIPELINE_PROVE_H
#define PBI_API_PIPELINE_PROVE_H

#include "api/pipeline/pipeline.h"

/* Raises tightened bounds by what exact strategies prove under the game's cap: for chains, and for graphs so small that
 * all plans can be searched. `tried` has a bit for each row of pb_strategies() whose strategy has already run.
 *   in, out  *bounds   never worse; `over` without a node if no plan fits
 *   returns  PB_OK     also after a stop and without memory: what is proved by then holds */
pb_status pbi_prove(const pbi_job *job, const pb_game *game, uint64_t tried, pb_bounds *bounds);

#endif
