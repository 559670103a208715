/* timed_columns.h -- what tables print about plans of the timed game. */
#ifndef PEBBLE_TIMED_COLUMNS_H
#define PEBBLE_TIMED_COLUMNS_H

#include "common/figures.h"
#include "table.h"

/* Columns of one plan, in this order. The processors' column is only there if the machine has several. */
typedef enum timed_column {
    TIMED_PEAK, /* of the first memory */
    TIMED_MAKESPAN,
    TIMED_EXTRA,
    TIMED_WAIT_COPY,
    TIMED_WAIT_PROCESSOR,
    TIMED_WAIT_MEMORY,
    TIMED_COPIES,
    TIMED_COLUMNS
} timed_column;

/* Whether the column is shown for plans on this machine, and its title. */
bool timed_shows(const pb_machine *m, timed_column column);
const char *timed_title(timed_column column);
/* The figures of a plan. */
void timed_texts(const pb_certificate *c, const pb_metrics *m, char text[TIMED_COLUMNS][FIGURE_ROOM]);
/* "stall: ...", what the columns of waiting time mean. */
const char *timed_note(void);

#endif
