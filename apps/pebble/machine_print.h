/* machine_print.h -- figures of machines, and the parts of `pebble machine` that measure. */
#ifndef PEBBLE_APP_MACHINE_PRINT_H
#define PEBBLE_APP_MACHINE_PRINT_H

#include "app.h"
#include "common/figures.h"

/* "19.5 T", "1.555 T": four digits at most. */
void rate_text(uint64_t rate, char text[FIGURE_ROOM]);
/* "40 GB"; sizes of an abstract machine are numbers. */
void size_text(const pb_machine *m, uint64_t size, char text[FIGURE_ROOM]);

/* --machine, else the graph's own. EXIT_DONE, or the exit code after printing why not. */
exit_code machine_option(app *a, const pb_graph *g, const pb_machine **out);
/* The graph with times by that machine. */
exit_code time_graph(app *a, const pb_graph *g, const pb_machine *m, const pb_graph **out, pb_time_report *report);
/* Writes the graph with times by the machine to -o, and prints the time of each operation and what lies outside the
 * measured range. */
exit_code price_graph(app *a, const pb_graph *g);

exit_code machine_measure(app *a);
exit_code machine_rescale(app *a);
exit_code machine_fit(app *a);

#endif
