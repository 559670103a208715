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
    const char *least_why; /* "working set", "lasting set", "best traversal", "start" or "end" */
    uint64_t beside;       /* of borrowed memory, which least_cap is short of; 0: borrowing does not help */
    bool attained;       /* a schedule that computes nothing twice has that peak: any cap from there on does without */
    uint64_t makespan;   /* free-order bound on work + io */
    pb_node makespan_at; /* the node whose first computation raised it; PB_NO_NODE: needed work alone */
    bool has_cost;       /* false when it passes 128 bits */
    pb_u128 cost;        /* bound on the weighted cost, in units of 10^-digits */
    bool impossible;     /* no cap at all helps: a needed value can never become resident, or slow memory cannot
                            * hold what starts there */
    pb_node impossible_at;
    bool over; /* no schedule fits the game's cap, though none of the above says so */
    pb_node over_at;
} pb_bounds;

/* Linear time; n log n for forests of in-trees in the remat game, whose least cap is exact. The cap of the game is not looked at. */
pb_status pb_bounds_make(pb_context *ctx, const pb_game *game, pb_bounds *out);

/* What pb_bounds_tighten spends by itself: by the size of the graph and ctx->tick_limit, about a second for hundreds of
 * nodes; in steps of which a machine does some hundred million a second. */
uint64_t pb_bounds_effort(const pb_context *ctx, const pb_game *game);
/* What bounds should take when planning has so many seconds: about an eighth of them on common machines. In steps, so it gives
 * the same bounds on all. */
uint64_t pb_bounds_effort_in(double seconds);

/* Raises bounds that pb_bounds_make has made, for schedules of remat and tiered under the game's cap, by looking at first
 * computations (docs/bounds.md). Makespan and cost then hold under this cap only, least_cap for every cap.
 *   in       effort   in steps; 0: pb_bounds_effort
 *   in, out  *bounds  never worse
 *   returns  PB_OK    after a stop too: what was found by then holds; ctx->stopped tells
 *            PB_ENOMEM
 * Deterministic for equal games and efforts; ctx->ticks does not count it. */
pb_status pb_bounds_tighten(pb_context *ctx, const pb_game *game, uint64_t effort, pb_bounds *bounds);

#ifdef __cplusplus
}
#endif
#endif
