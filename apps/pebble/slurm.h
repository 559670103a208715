/* slurm.h -- workers of a store as an array of Slurm jobs. */
#ifndef PEBBLE_APP_SLURM_H
#define PEBBLE_APP_SLURM_H

#include "app.h"

/* Submits an array of workers: one for each group of --threads processors, at most one for each cell that is left, and
 * not more than the cluster allows. Its number is noted in the store. */
exit_code slurm_submit(app *a, pb_store *store);
/* Until none of its jobs is left. */
exit_code slurm_wait(app *a, pb_store *store);
/* The jobs in the queue, and how far the store is. */
exit_code slurm_status(app *a, pb_store *store);
exit_code slurm_cancel(app *a, pb_store *store);

#endif
