/* plain_print.h -- text for people, with nothing in it that a terminal would obey.
 *
 * Names, units, paths and options may hold anything. Whatever of them is printed as text goes through here or through table.h;
 * JSON has its own escapes, and files for other programs are written as their formats demand.
 */
#ifndef PEBBLE_APP_PLAIN_PRINT_H
#define PEBBLE_APP_PLAIN_PRINT_H

#include <stdarg.h>
#include <stdio.h>

/* The text, control characters and the like as escapes (pb_plain_text). */
void print_plain(FILE *out, const char *text);
/* One line in the manner of printf, escaped as a whole; the newline is added. */
void print_line(FILE *out, const char *format, ...);
void print_line_args(FILE *out, const char *format, va_list args);

#endif
