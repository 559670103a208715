/* game_bounds.h -- the bounds of the game at hand: made in one place for every row that plans it. */
#ifndef PBI_API_PIPELINE_GAME_BOUNDS_H
#define PBI_API_PIPELINE_GAME_BOUNDS_H

#include "api/pipeline/pipeline.h"

/* The bounds of the game, at least as good as `wanted` if the job has a cache; there they are made once for all
 * rows. */
pb_status pbi_bounds_raise(const pbi_job *job, const pb_game *game, pbi_bound_level wanted, pbi_bound_cache *own,
                           pb_bounds **bounds);

/* What is needed before the row runs: where the shape of the graph is one that exact rows answer for, they need no
 * bounds to prove what they find. */
pbi_bound_level pbi_bounds_first(const pb_strategy *row, const pb_graph *g);

/* This row has run with all the effort there is: proofs need not ask it again. */
void pbi_bounds_tried(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pbi_bound_cache *own);

/* Into the schedule's record. */
void pbi_bounds_state(const pb_game *game, const pb_bounds *bounds, pb_schedule *s);

#endif
