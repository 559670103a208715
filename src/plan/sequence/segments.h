/* segments.h -- the forward part of a training step cut into segments whose ends are kept.
 *
 * Other values are dropped after the forward pass and recomputed, at most once, when the backward pass needs them.
 * The last segment is not dropped: the backward pass begins with it. Ends may be limited to candidates. They are
 * chosen
 *   sqrt     as every k-th candidate, k the square root of the number of candidates, rounded up, or
 *   greedy   as the first candidate at which the sizes since the last end exceed b.
 */
#ifndef PBI_PLAN_SEQUENCE_SEGMENTS_H
#define PBI_PLAN_SEQUENCE_SEGMENTS_H

#include "plan/sequence/training.h"
#include "plan/strategy.h"

/* Plans with the options `variant` (auto, sqrt, greedy) and `b` (auto: a grid), and records them. `candidate`: per
 * forward place, or NULL for all. */
pb_status pbi_segments_plan(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                            const pbi_training *training, const uint8_t *candidate, pbi_plan *plan);

#endif
