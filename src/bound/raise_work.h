/* raise_work.h -- applies a proved makespan to bounds. */
#ifndef PBI_RAISE_WORK_H
#define PBI_RAISE_WORK_H

#include "pebble/bound.h"

/* No schedule of the game has a makespan below `makespan`, as the first computation of `at` (or PB_NO_NODE) proves. */
void pbi_bounds_raise_work(const pb_game *game, uint64_t makespan, pb_node at, pb_bounds *b);

#endif
