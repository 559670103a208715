/* bound.h -- proved lower bounds on memory, work and cost. */
#ifndef PEBBLE_BOUND_H
#define PEBBLE_BOUND_H

#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pb_bounds {
    uint64_t least_cap;    /* no schedule of the game has a smaller peak */
    pb_node least_at;      /* the node whose working set proves it; PB_NO_NODE: the start or the end does */
    const char *least_why; /* "working set", "lasting set", "best traversal", "start" or "end" */
    uint64_t borrowed;     /* borrowed memory that is needed in addition to least_cap; 0: borrowing does not help */
    bool attained;         /* a schedule that computes nothing twice has that peak: no larger cap needs recomputation */
    uint64_t makespan;     /* free-order bound on work + io */
    pb_node makespan_at;   /* the node whose first computation raised it; PB_NO_NODE: needed work alone */
    bool has_cost;         /* false when it passes 128 bits */
    pb_u128 cost;          /* bound on the weighted cost, in units of 10^-digits */
    /* No cap helps: a needed value can never become resident, or slow memory is too small for what starts there. */
    bool impossible;
    pb_node impossible_at;
    bool over; /* no schedule fits the game's cap, even if least_cap and impossible do not show it */
    pb_node over_at;
} pb_bounds;

/* Linear time; O(n log n) for forests of in-trees in the remat game, whose least_cap is exact. Ignores the game's
 * cap. */
pb_status pb_bounds_make(pb_context *ctx, const pb_game *game, pb_bounds *out);

/* The default effort of pb_bounds_tighten: depends on the size of the graph and on ctx->tick_limit, about a second
 * for hundreds of nodes. Counted in steps; a machine does some hundred million of them a second. */
uint64_t pb_bounds_effort(const pb_context *ctx, const pb_game *game);
/* The effort for bounds if planning has this many seconds: about an eighth of them on common machines. Counted in
 * steps, so that all machines get the same bounds. */
uint64_t pb_bounds_effort_in(double seconds);

/* Raises bounds from pb_bounds_make for schedules of remat and tiered under the game's cap, from first computations
 * (docs/bounds.md). Makespan and cost then apply under this cap only, least_cap under every cap.
 *   in       effort   in steps; 0: pb_bounds_effort
 *   in, out  *bounds  never worse
 *   returns  PB_OK    after a stop too: bounds found by then are valid, and ctx->stopped is set
 *            PB_ENOMEM
 * Deterministic for equal games and efforts; not counted in ctx->ticks. */
pb_status pb_bounds_tighten(pb_context *ctx, const pb_game *game, uint64_t effort, pb_bounds *bounds);

/* Bounds of the timed game (docs/bounds.md, "The timed game"). */
typedef enum pb_timed_why { PB_TIMED_LANE, PB_TIMED_PATH, PB_TIMED_CUT, PB_TIMED_STAGES } pb_timed_why;
typedef struct pb_timed_bounds {
    uint64_t makespan; /* no schedule of the game ends before */
    uint64_t span;     /* nor has any a smaller span */
    pb_timed_why why;  /* of the makespan: the busiest processor, the longest path, the cut at one moment, a pipeline */
    pb_node at;        /* the last node of the path, or the one whose first start is the moment; else PB_NO_NODE */
    bool infeasible;   /* a memory is too small for what starts there, or for computing a needed node */
    pb_node infeasible_at; /* that node; PB_NO_NODE: the start */
    uint32_t memory;       /* too small: it needs at least `needed`, whatever is done */
    uint64_t needed;
} pb_timed_bounds;

/* in       effort   limit of the work for cuts, in arcs examined; 0: a default of about a second
 * out      *out     valid for every schedule of the game, in any order
 * returns  PB_OK    after a stop too, with what was proved until then
 *          PB_ERANGE the times together pass 2^64 */
pb_status pb_timed_bounds_make(pb_context *ctx, const pb_game *game, uint64_t effort, pb_timed_bounds *out);

#ifdef __cplusplus
}
#endif
#endif
