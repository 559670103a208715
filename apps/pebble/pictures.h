/* pictures.h -- --svg and --html: a comparison or a sweep as a file for browsers. */
#ifndef PEBBLE_APP_PICTURES_H
#define PEBBLE_APP_PICTURES_H

#include "app.h"

#include "pebble/full.h"

/* Before planning: EXIT_DONE, or the exit code after printing why the files of these options cannot be written. */
exit_code pictures_check(app *a);
exit_code comparison_pictures(app *a, const pb_game *base, const pb_comparison *rows);
exit_code sweep_pictures(app *a, const pb_sweep *const *sweeps, uint32_t count);

#endif
