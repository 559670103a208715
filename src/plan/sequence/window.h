/* window.h -- plans that keep a chosen set of values and recompute the others in windows.
 *
 * The order is followed. A kept value stays in memory. Any other value is freed unless its next reader in the order
 * is near (at most `reach` further on), and is recomputed, from the nearest resident values, when a later node reads
 * it. On a training graph with every k-th value kept and a reach of k this is segment-wise checkpointing; with all
 * kept it is freeing after the last use; with none kept and a reach of 1 it keeps nothing.
 *
 * Windows may be nested: then not all recomputed values between two kept ones are kept, but `slots` of them, placed
 * as binomial checkpointing places them. On an adjoint chain that is two-level checkpointing.
 */
#ifndef PBI_PLAN_SEQUENCE_WINDOW_H
#define PBI_PLAN_SEQUENCE_WINDOW_H

#include "plan/sequence/sequence.h"

typedef struct pbi_window {
    const uint8_t *kept;        /* per node; NULL: none. Given and `once` values are always kept */
    const uint32_t *coordinate; /* per node, the coordinate for distances; NULL: the place in the order */
    uint32_t reach;
    uint64_t limit; /* max computations */

    bool nested;    /* then distance is the place in the order: */
    uint32_t slots; /* values within reach that may be kept at a time, */
    uint32_t near;  /* in addition to those whose next reader is this near: at least 1 */
    const uint8_t
        *slow; /* per node, 1: this kept value is stored in tier 1 while its next reader is out of reach; or NULL */
} pbi_window;

/* Appends the computations to `s`. PB_ELIMIT above the limit. */
pb_status pbi_window_plan(pb_context *ctx, const pb_game *game, const pbi_window *window, pbi_sequence *s);

/* The place in the order (among needed nodes) before which program order has most memory in use: where a training
 * step turns from its forward to its backward pass. */
pb_status pbi_window_turn(pb_context *ctx, const pb_graph *g, uint32_t *turn);

/* A family of windows by one number k: fills kept, coordinate and reach for it. */
typedef pb_status (*pbi_window_maker)(const pb_game *game, uint64_t k, pb_arena *arena, pbi_window *out);

/* Every k-th needed node of the order kept, reach k. */
pb_status pbi_window_periodic(const pb_game *game, uint64_t k, pb_arena *arena, pbi_window *out);

/* Plan by the window of one k. */
pb_status pbi_window_one(pb_context *ctx, const pb_game *game, pbi_window_maker maker, uint64_t k, uint64_t limit,
                         pbi_plan *plan);

/* Plan with the window of a given k, or of the best of several (k 0): the cheapest under the weights that fits the
 * cap. Records k with the plan. `max_k` is the largest k that makes sense. */
pb_status pbi_window_best(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_window_maker maker,
                          uint64_t max_k, pbi_plan *plan);

#endif
