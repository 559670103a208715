/* plain_print.c -- see plain_print.h. */
#include "plain_print.h"

#include "pebble/base.h"

#include <stdlib.h>

enum { LINE_ROOM = 2048 };

void print_plain(FILE *out, const char *text)
{
    char shown[PB_PLAIN_CHAR];
    for (size_t used; (used = pb_plain_char(text, shown)) > 0; text += used)
        fputs(shown, out);
}

void print_line_args(FILE *out, const char *format, va_list args)
{
    char room[LINE_ROOM], *line = room, *longer = NULL;
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(room, sizeof room, format, args);
    if (length >= LINE_ROOM && (longer = malloc((size_t)length + 1)) != NULL) {
        vsnprintf(longer, (size_t)length + 1, format, again);
        line = longer;
    }
    va_end(again);
    print_plain(out, line);
    fputc('\n', out);
    free(longer);
}

void print_line(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line_args(out, format, args);
    va_end(args);
}
