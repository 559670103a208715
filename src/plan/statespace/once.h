/* once.h -- nodes that no plan with less work than a known one computes twice.
 *
 *     pbi_once_narrow(ctx, game, work, max_nodes, &scratch, &once);
 *
 * A search for a better plan may treat such nodes as `once`: it loses nothing, and has far fewer states.
 */
#ifndef PBI_PLAN_STATESPACE_ONCE_H
#define PBI_PLAN_STATESPACE_ONCE_H

#include "pebble/game.h"

typedef struct pbi_once {
    pb_game game;   /* the narrowed one: its graph has these nodes marked */
    uint32_t count; /* nodes that are `once` now and were not before */
    uint32_t open;  /* nodes that cost something and may be recomputed */
    bool none;      /* there is no plan of less work at all */
    uint64_t bound; /* no plan has less work than this, or than the known one */
} pbi_once;

/* Narrows the remat game by up to `max_nodes` of those nodes; the new graph lives in `arena`. `work` is that of the
 * known plan. After a stop or a limit, PB_ECANCELLED or PB_ELIMIT, the results so far are valid as well. */
pb_status pbi_once_narrow(pb_context *ctx, const pb_game *game, uint64_t work, uint32_t max_nodes, pb_arena *arena,
                          pbi_once *out);

#endif
