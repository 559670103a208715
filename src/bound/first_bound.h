/* first_bound.h -- work that no schedule under the cap avoids, from first computations. docs/bounds.md. */
#ifndef PBI_FIRST_BOUND_H
#define PBI_FIRST_BOUND_H

#include "pebble/bound.h"

typedef struct pbi_first {
    uint64_t extra; /* work or io in addition to that of every schedule */
    pb_node at;     /* the node whose first computation proves it, PB_NO_NODE if extra is 0 */
    bool over;      /* no schedule fits the cap, as the first computation of over_at proves */
    pb_node over_at;
    uint64_t least_cap; /* no schedule has a smaller peak */
    pb_node least_at;   /* PB_NO_NODE: no improvement */
    uint64_t effort;    /* spent, in arcs examined */
} pbi_first;

/* Spends about `effort` on single moments and `several` on several together, less if the answer is certain. A stop
 * of the context keeps what is known so far. `least_cap` is the bound known so far. PB_OK, or PB_ENOMEM. */
pb_status pbi_first_bound(pb_context *ctx, const pb_game *game, uint64_t least_cap, uint64_t effort, uint64_t several,
                          pbi_first *out);

#endif
