/* cleanup.h -- removes unnecessary moves of a plan.
 *
 *     bool changed;
 *     pbi_cleanup(ctx, game, &moves, arena, &cleaner, &changed);
 *
 * A value that is removed and recomputed or loaded again is kept in memory instead, if there is room for it
 * throughout; nothing else in the plan moves. Computations, loads and stores that nothing reads any more are removed
 * too.
 */
#ifndef PBI_PLAN_CLEANUP_CLEANUP_H
#define PBI_PLAN_CLEANUP_CLEANUP_H

#include "pebble/schedule.h"

/* Drop unnecessary recomputations, uncomputations, loads and stores.
 *   in       moves     a legal plan of the game
 *   out      *out      the plan without them, legal too, in `result`; untouched if *changed is false
 *   returns  PB_OK, also when the context stops: *out then lacks what was dropped until then, or shortly after
 *            PB_ENOMEM
 *   cost     O(r * (m + e) * log m) for m moves that read e values, r rounds: 2 or 3 in practice
 * A plan of 2^32 moves or reads, or more, is not changed. With weights for work alone, and without a stop, no
 * recomputed value of *out would have fit throughout, and neither its work nor its io is more than before. With a
 * price on peak or flux only what lowers the cost is dropped, by an estimate: compare the costs. */
pb_status pbi_cleanup(pb_context *ctx, const pb_game *game, const pb_moves *moves, pb_arena *result, pb_moves *out,
                      bool *changed);

#endif
