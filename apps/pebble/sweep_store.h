/* sweep_store.h -- `pebble sweep --store DIR`: cells that other processes may plan as well. */
#ifndef PEBBLE_APP_SWEEP_STORE_H
#define PEBBLE_APP_SWEEP_STORE_H

#include "app.h"

bool sweep_of_store(const app *a);
/* The options that need --store, and those that it excludes. */
exit_code sweep_store_check(app *a);
/* Adds the sweeps of all graphs, plans their cells here or by Slurm, and shows the results. */
exit_code sweep_store_run(app *a, const char *strategies, pb_sweep *sweeps, const pb_sweep **list);
/* Without graphs: --status and --cancel of jobs. */
exit_code sweep_store_jobs(app *a);

#endif
