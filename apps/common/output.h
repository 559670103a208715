/* output.h -- standard output: either all of it arrives, or the command fails.
 *
 * Whoever prints need not look: a failed write is remembered, and the end of the program reports it. A reader that closed its end of
 * a pipe has seen enough; that alone is not an error.
 */
#ifndef PEBBLE_COMMON_OUTPUT_H
#define PEBBLE_COMMON_OUTPUT_H

#include "pebble/base.h"

#include <stdio.h>

/* Once, before anything is opened or printed. */
void output_begin(void);

/* A sink into an open stream. */
pb_sink stream_sink(FILE *stream);

/* What was printed so far goes out now. */
void output_flush(void);

/* The same. NULL if all of it went out, or nobody reads it any more; else why not, as a text. */
const char *output_failure(void);

#endif
