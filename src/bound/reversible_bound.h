/* reversible_bound.h -- work that the cap forces in the reversible game (docs/bounds.md, "Reversible work"). */
#ifndef PBI_REVERSIBLE_BOUND_H
#define PBI_REVERSIBLE_BOUND_H

#include "pebble/bound.h"

typedef struct pbi_reversible_extra {
    uint64_t work; /* in addition to every needed node computed once and, unless it is final, uncomputed once */
    pb_node at;    /* the node whose first computation gives most of it, or PB_NO_NODE */
    bool over;     /* no schedule fits the cap */
    pb_node over_at;
} pbi_reversible_extra;

/* About `effort` steps; any effort gives a bound. PB_ENOMEM. */
pb_status pbi_reversible_bound(pb_context *ctx, const pb_game *game, uint64_t effort, pbi_reversible_extra *out);

#endif
