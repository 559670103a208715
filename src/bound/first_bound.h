/* first_bound.h -- work that no schedule under the cap avoids, by looking at first computations. docs/bounds.md. */
#ifndef PBI_FIRST_BOUND_H
#define PBI_FIRST_BOUND_H

#include "pebble/bound.h"

typedef struct pbi_first {
    uint64_t extra; /* work or io beyond what every schedule does */
    pb_node at;     /* the node whose first computation says so, PB_NO_NODE when extra is 0 */
    bool over;      /* no schedule fits the cap: over_at says where */
    pb_node over_at;
    uint64_t least_cap; /* no schedule has a smaller peak */
    pb_node least_at;   /* PB_NO_NODE: nothing new is known of it */
    uint64_t effort;    /* spent, in arcs looked at */
} pbi_first;

/* Spends about `effort` on single moments and `several` on several together, less when it is sure of the answer. A stop of the context keeps what is known so far.
 * `least_cap` is known already. PB_OK, or PB_ENOMEM. */
pb_status pbi_first_bound(pb_context *ctx, const pb_game *game, uint64_t least_cap, uint64_t effort, uint64_t several,
                          pbi_first *out);

#endif
