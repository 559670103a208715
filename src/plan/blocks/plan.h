/* plan.h -- from a graph to a plan, by way of its chain of blocks. */
#ifndef PBI_PLAN_BLOCKS_PLAN_H
#define PBI_PLAN_BLOCKS_PLAN_H

#include "plan/sequence/sequence.h"

/* Plans a graph that is a chain of blocks for the remat rules: the least work among plans that reverse it part by
 * part and treat each block in one of the ways found for it. `limit` bounds the work of the exact program; `slots`
 * above 0 counts memory in that many parts instead, UINT64_MAX does so once the limit is hit. Gives up on other
 * graphs: *blocks is then 0, else the number of blocks. */
pb_status pbi_blocks_plan_graph(pb_context *ctx, const pb_game *game, uint64_t limit, uint64_t slots, pbi_plan *plan,
                                uint32_t *blocks);

/* The same plan as a sequence; left empty when there is none. */
pb_status pbi_blocks_sequence(pb_context *ctx, const pb_game *game, uint64_t limit, pbi_sequence *out);

#endif
