/* plain_print.h -- text without control characters for the terminal.
 *
 * Names, units, paths and options may contain any character. Text with them is printed through here or through table.h;
 * JSON has its own escapes, and files for other programs follow their formats.
 */
#ifndef PEBBLE_APP_PLAIN_PRINT_H
#define PEBBLE_APP_PLAIN_PRINT_H

#include <stdarg.h>
#include <stdio.h>

/* Prints the text with control characters escaped (pb_plain_text). */
void print_plain(FILE *out, const char *text);
/* Prints one line like printf, escaped as a whole, with a newline. */
void print_line(FILE *out, const char *format, ...);
void print_line_args(FILE *out, const char *format, va_list args);

#endif
