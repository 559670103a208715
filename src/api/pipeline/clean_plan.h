/* clean_plan.h -- the last step of every plan: verify, clean up, verify again, measure. */
#ifndef PBI_API_PIPELINE_CLEAN_PLAN_H
#define PBI_API_PIPELINE_CLEAN_PLAN_H

#include "pebble/metrics.h"

typedef struct pbi_certified {
    pb_verdict verdict;
    pb_metrics metrics; /* when legal */
} pbi_certified;

/* Replays a plan, drops its useless moves, replays the rest and measures it.
 *   in, out  *moves   lives in `result`; the certificate points to it
 *   out      *out     verdict: of an illegal plan as passed in, of a legal one with the certificate of the new *moves;
 *                     metrics: of a legal plan; its cost under the weights is at most that of the plan passed in
 * Without enough memory for the clean-up, the plan does not change. A stop only shortens the clean-up.
 * least_memory: the plan was made for its peak, so the clean-up must not raise it. as_made: without the clean-up. */
pb_status pbi_certify_as_made(pb_context *ctx, const pb_game *game, const pb_moves *moves, pb_arena *result,
                              pbi_certified *out);
pb_status pbi_certify(pb_context *ctx, const pb_game *game, bool least_memory, pb_moves *moves, pb_arena *result,
                      pbi_certified *out);

/* Does every computation have a price? Then an optimal plan has no useless moves. */
bool pbi_nothing_is_free(const pb_game *game);

#endif
