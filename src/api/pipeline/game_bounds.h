/* game_bounds.h -- the bounds of the game that is planned: computed in one place for all strategies. */
#ifndef PBI_API_PIPELINE_GAME_BOUNDS_H
#define PBI_API_PIPELINE_GAME_BOUNDS_H

#include "api/pipeline/pipeline.h"

/* The bounds of the game. If the job has a cache, they are at least as good as `level_needed`, and are computed once
 * for all strategies. Without a cache they are quick bounds. */
pb_status pbi_bounds_raise(const pbi_job *job, const pb_game *game, pbi_bound_level level_needed, pbi_bound_cache *own,
                           pb_bounds **bounds);

/* The level that is needed before the strategy runs. On graphs of a special shape, exact strategies prove what they
 * find, and so do portfolios, which run them. They need only quick bounds. */
pbi_bound_level pbi_bounds_first(const pb_strategy *row, const pb_graph *g);

/* Records that this strategy has run, so that proofs need not run it again. It counts only with the caller's full
 * effort, without options, and with weights on work alone. */
void pbi_bounds_tried(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pbi_bound_cache *own);

/* Copies the bounds into the schedule. */
void pbi_bounds_state(const pb_game *game, const pb_bounds *bounds, pb_schedule *s);

#endif
