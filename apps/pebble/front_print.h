/* front_print.h -- the least work for every amount of memory in the reversible game, and where plans stand beside it. */
#ifndef PEBBLE_APP_FRONT_PRINT_H
#define PEBBLE_APP_FRONT_PRINT_H

#include "app.h"

#include <stdio.h>

typedef struct front_view {
    pb_front front;    /* no points: the graph is too large for it */
    uint64_t *bennett; /* what Bennett's recursion takes in the memory of each point; UINT64_MAX: it does not fit */
} front_view;

/* Takes a fraction of a second, and of a limit on the time. */
pb_status front_make(app *a, const pb_graph *g, front_view *view);

/* Below the table of `compare`. Nothing is printed for fewer than two points. */
pb_status front_print_text(app *a, const pb_graph *g, const pb_comparison *rows, const front_view *view);
/* An object, or null. */
void front_print_json(FILE *out, const pb_comparison *rows, const front_view *view);

#endif
