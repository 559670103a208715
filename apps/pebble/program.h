/* program.h -- other programs, and what they print. */
#ifndef PEBBLE_APP_PROGRAM_H
#define PEBBLE_APP_PROGRAM_H

#include <stddef.h>

/* Runs a program, found as the shell finds it, and keeps what it writes to standard output, up to room - 1 bytes and
 * NUL.
 * Returns its exit code, 128 and more after a signal, or -1 with errno if it cannot be started. */
int program_run(const char *const words[], char *answer, size_t room);
/* The same with its messages thrown away. */
int program_quiet(const char *const words[], char *answer, size_t room);
/* The same as program_run with a text on its standard input. */
int program_feed(const char *const words[], const char *input, char *answer, size_t room);

#endif
