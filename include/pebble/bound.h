/* bound.h -- what no schedule can beat: proved limits on memory, work and cost. */
#ifndef PEBBLE_BOUND_H
#define PEBBLE_BOUND_H

#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pb_bounds {
    uint64_t least_cap;    /* no schedule of the game has a smaller peak */
    pb_node least_at;      /* the node whose working set says so; PB_NO_NODE: the start or the end does */
    const char *least_why; /* "working set", "start" or "end" */
    uint64_t makespan;     /* free-order bound on work + io */
    bool has_cost;         /* false when it passes 128 bits */
    pb_u128 cost;          /* bound on the weighted cost, in units of 10^-digits */
    bool impossible;       /* no cap at all helps: a needed value can never become resident, or slow memory cannot
                            * hold what starts there */
    pb_node impossible_at;
} pb_bounds;

/* Linear time. The cap of the game is not looked at. */
pb_status pb_bounds_make(pb_context *ctx, const pb_game *game, pb_bounds *out);

#ifdef __cplusplus
}
#endif
#endif
