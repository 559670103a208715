/* store_app.h -- what `sweep --store`, `work` and `store` share. */
#ifndef PEBBLE_APP_STORE_APP_H
#define PEBBLE_APP_STORE_APP_H

#include "app.h"

/* Opens the store, or says why not. */
exit_code store_open(app *a, const char *path, bool create, pb_store **out);
/* --threads, --time, --memory (of the worker) and --timeout. */
exit_code store_work_options(app *a, pb_work_options *out);
/* A size in bytes such as 2GiB, or a time such as 60s in nanoseconds; unchanged if the option is not given. */
exit_code store_bytes(app *a, option_id id, uint64_t *out);
exit_code store_nanoseconds(app *a, option_id id, uint64_t *out);
/* Plans cells, and says on standard error how it ended. */
exit_code store_work(app *a, pb_store *store, const pb_work_options *how, pb_work_report *report);
/* Reads sweeps from their rows: *missing cells have none. */
exit_code store_collect(app *a, pb_store *store, const char *id, pb_sweep *out, uint64_t *missing);

#endif
