/* step_print.h -- what `pebble info --machine` adds: memory at the peak and time of a step. */
#ifndef PEBBLE_APP_STEP_PRINT_H
#define PEBBLE_APP_STEP_PRINT_H

#include "app.h"

/* PB_ENOMEM, else PB_OK. */
pb_status print_step(app *a, const pb_graph *g, const pb_step_report *r);

#endif
