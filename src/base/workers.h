/* workers.h -- a piece of work done by several threads at once. */
#ifndef PBI_WORKERS_H
#define PBI_WORKERS_H

#include "pebble/base.h"

enum { PBI_MOST_WORKERS = 256 };

/* Calls work(state, i) once for each i below `count`, at most PBI_MOST_WORKERS: i = 0 in the calling thread, the others in
 * threads of their own; returns when all have. A thread that the system refuses is left out, so the work must be taken
 * from a common list. */
void pbi_workers_run(uint32_t count, void (*work)(void *state, uint32_t worker), void *state);

#endif
