/* output.h -- standard output: either all of it arrives, or the command fails.
 *
 * Whoever prints need not look: a failed write is remembered, and the end of the program reports it. A reader that closed its end of
 * a pipe has seen enough; that alone is not an error.
 */
#ifndef PEBBLE_APP_OUTPUT_H
#define PEBBLE_APP_OUTPUT_H

#include "app.h"

#include <stdio.h>

/* Once, before anything is opened or printed. */
void output_begin(void);

/* A sink into an open stream. */
pb_sink stream_sink(FILE *stream);

/* What was printed so far goes out now. */
void output_flush(void);

/* The same, and whether all of it went out: `code`, or EXIT_FAILED after saying why not (once). */
exit_code output_finish(app *a, exit_code code);

#endif
