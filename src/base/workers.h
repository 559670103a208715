/* workers.h -- runs a piece of work in several threads. */
#ifndef PBI_WORKERS_H
#define PBI_WORKERS_H

#include "pebble/base.h"

enum { PBI_MAX_WORKERS = 256 };

/* Calls work(state, i) once for each i below `count`, at most PBI_MAX_WORKERS: i = 0 in the calling thread, the
 * others in new threads; returns when all have finished. If the system refuses a thread, its call is omitted, so the
 * work must be taken from a common list. */
void pbi_workers_run(uint32_t count, void (*work)(void *state, uint32_t worker), void *state);

#endif
