/* prove.h -- what exact strategies prove of a game, as bounds: the same whichever strategy plans it. */
#ifndef PBI_API_PIPELINE_PROVE_H
#define PBI_API_PIPELINE_PROVE_H

#include "api/pipeline/pipeline.h"

/* Raises tightened bounds by what exact rows prove under the game's cap: of chains, and of graphs so small that every
 * plan can be looked at. `tried` has a bit for each row of pb_strategies() that was asked already.
 *   in, out  *bounds   never worse; over, without a node, where nothing fits
 *   returns  PB_OK     after a stop and without memory, too: what is known by then holds */
pb_status pbi_prove(const pbi_job *job, const pb_game *game, uint64_t tried, pb_bounds *bounds);

#endif
