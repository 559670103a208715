/* compare_text.h -- the table of pebble compare. */
#ifndef PEBBLE_APP_COMPARE_TEXT_H
#define PEBBLE_APP_COMPARE_TEXT_H

#include "app.h"

typedef struct contest {
    pb_game base;
    unsigned games;
    pb_request request;
    pb_comparison result;
    pb_view view;
    bool reduced;        /* the view has the lines that decide, not every row */
    pb_front_view front; /* of the reversible game, if the graph is small */
    uint64_t program_peak;
} contest;

pb_status print_comparison(app *a, const contest *c);

#endif
