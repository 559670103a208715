/* clean_plan.h -- the last step of every plan: verified, cleaned up, verified again, measured. */
#ifndef PBI_API_PIPELINE_CLEAN_PLAN_H
#define PBI_API_PIPELINE_CLEAN_PLAN_H

#include "pebble/metrics.h"

/* Replay a plan, drop what it does in vain, replay what is left, and measure it.
 *   in, out  *moves     lives in `result`; a certificate borrows it
 *   out      *verdict   of the plan as it came where it is illegal; else with the certificate of what *moves is now
 *            *metrics   of a legal plan; its cost under the weights is never above that of the plan as it came
 * Without the memory for that the plan stays as it came. A stop ends the dropping soon, and nothing else.
 * least_memory: its peak is what was asked for, and stays. as_made: without dropping anything. */
pb_status pbi_certify_as_made(pb_context *ctx, const pb_game *game, const pb_moves *moves, pb_arena *result,
                              pb_verdict *verdict, pb_metrics *metrics);
pb_status pbi_certify(pb_context *ctx, const pb_game *game, bool least_memory, pb_moves *moves, pb_arena *result,
                      pb_verdict *verdict, pb_metrics *metrics);

/* Does every move that makes something have a price? Then an optimal plan does nothing in vain. */
bool pbi_nothing_is_free(const pb_game *game);

#endif
