/* sweep_text.h -- a sweep in words: the table, and what can be read from it. */
#ifndef PEBBLE_APP_SWEEP_TEXT_H
#define PEBBLE_APP_SWEEP_TEXT_H

#include "app.h"

/* Prints to standard output. */
pb_status print_sweep(app *a, const pb_sweep *s);

#endif
