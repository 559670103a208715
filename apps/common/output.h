/* output.h -- standard output: either all of it arrives, or the command fails.
 *
 * Callers need not check: a failed write is remembered, and reported at the end of the program. A reader that
 * closed its end of a pipe is not an error.
 */
#ifndef PEBBLE_COMMON_OUTPUT_H
#define PEBBLE_COMMON_OUTPUT_H

#include "pebble/base.h"

#include <stdio.h>

/* Call once, before anything is opened or printed. */
void output_begin(void);

/* A sink into an open stream. */
pb_sink stream_sink(FILE *stream);

/* Writes what was printed so far. */
void output_flush(void);

/* The same. Returns NULL if all was written, or the reader is gone; else the reason as a text. */
const char *output_failure(void);

#endif
