/* sweep_files.h -- what sweeps are written to: tables, plots, plans, JSON; and the exit code they deserve. */
#ifndef PEBBLE_APP_SWEEP_FILES_H
#define PEBBLE_APP_SWEEP_FILES_H

#include "app.h"

/* The exit code of a sweep: done if any cap has a plan; infeasible if it is proved that none has. */
exit_code sweep_judge(const pb_sweep *s);
/* False if standard output is for JSON or CSV. */
bool sweep_shows_text(const app *a);
/* --csv, --svg, --html, --plans and --json. */
exit_code sweep_write_files(app *a, const pb_sweep *const *sweeps, uint32_t count);

#endif
