/* front_print.h -- the Pareto front of the reversible game, and how far plans are above it. */
#ifndef PEBBLE_APP_FRONT_PRINT_H
#define PEBBLE_APP_FRONT_PRINT_H

#include "app.h"

/* Below the table of `compare`. Nothing is printed for fewer than two points. */
pb_status front_print_text(app *a, const pb_graph *g, const pb_comparison *rows, const pb_front_view *view);

#endif
