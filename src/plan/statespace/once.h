/* once.h -- nodes that no plan of less work than one at hand computes twice.
 *
 *     pb_game narrow;
 *     pbi_fix_make(ctx, game, work, most, &scratch, &narrow, &fix);
 *
 * A search for a better plan may take such nodes for `once`: it loses nothing, and has far less to look at.
 */
#ifndef PBI_PLAN_STATESPACE_ONCE_H
#define PBI_PLAN_STATESPACE_ONCE_H

#include "pebble/game.h"

typedef struct pbi_fix {
    uint32_t count; /* nodes that are `once` now and were not before */
    uint32_t open;  /* nodes that cost something and may be computed again */
    bool none;      /* there is no plan of less work at all */
    uint64_t bound; /* no plan has less work than this, or than the one at hand */
} pbi_fix;

/* The game with up to `most` of those nodes marked, of remat; `*narrow` and its graph live in `arena`. `work` is that of the
 * plan at hand. After a stop or a limit, PB_ECANCELLED or PB_ELIMIT, what is known by then is there as well. */
pb_status pbi_fix_make(pb_context *ctx, const pb_game *game, uint64_t work, uint32_t most, pb_arena *arena,
                       pb_game *narrow, pbi_fix *out);

#endif
