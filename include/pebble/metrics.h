/* metrics.h -- the figures of a certified schedule, and its memory over time. */
#ifndef PEBBLE_METRICS_H
#define PEBBLE_METRICS_H

#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All fields of pb_metrics (docs/games.md, "Metrics") except gap, which needs a bound and is set to a negative number.
 *   returns PB_ERANGE if the weighted cost passes 128 bits */
pb_status pb_metrics_measure(pb_context *ctx, const pb_certificate *c, pb_metrics *out);

/* What bounds and gaps are about: the makespan; in the timed game the span if that is the objective. */
uint64_t pb_metrics_objective(const pb_game *game, const pb_metrics *m);

/* The gap to a lower bound on the makespan; negative if the bound is 0 and the makespan is not. */
double pb_metrics_gap(uint64_t makespan, uint64_t lower_bound);

/* The weighted cost of these figures, in which recompute, uncompute and io are the cost of the work; not for the timed
 * game. False if it passes 128 bits. */
bool pb_metrics_cost(const pb_metrics *m, const pb_weights *w, pb_u128 *cost);
/* The same in any game. */
bool pb_metrics_cost_in(const pb_game *game, const pb_metrics *m, const pb_weights *w, pb_u128 *cost);
/* The figure that the cap limits: the peak; in the timed game that of the machine's first memory. */
uint64_t pb_metrics_capped(const pb_metrics *m);

/* Of the timed game: how long all processors together wait, by cause. */
void pb_metrics_stalls(const pb_certificate *c, uint64_t stall[PB_STALL_COUNT]);

typedef enum pb_axis { PB_AXIS_MOVES, PB_AXIS_TIME } pb_axis;

/* Memory over time in `bucket_count` equal parts of the schedule's moves, or of its makespan: the largest fast
 * memory during any move in the part, and the largest slow memory (all tiers). */
typedef struct pb_profile {
    uint32_t bucket_count;
    uint64_t *fast, *slow;
    uint64_t length; /* moves or makespan */
} pb_profile;
pb_status pb_profile_make(pb_context *ctx, const pb_certificate *c, pb_axis axis, uint32_t bucket_count,
                          pb_arena *result, pb_profile *out);

/* Fast memory during each move, one entry per move. */
pb_status pb_profile_moves(pb_context *ctx, const pb_certificate *c, pb_arena *result, uint64_t **out);

/* Marks the points that no other beats in both peak and makespan; of equal points only the first. */
void pb_pareto_mark(const pb_metrics *const *points, uint32_t count, bool *on_front);

#ifdef __cplusplus
}
#endif
#endif
