/* list_lines.c -- see list_lines.h. */
#include "base/list_lines.h"

#include <string.h>

bool pbi_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool pbi_lines_next(pbi_lines *lines)
{
    while (lines->at < lines->end) {
        const char *from = lines->at, *stop = memchr(from, '\n', (size_t)(lines->end - from));
        stop = stop ? stop : lines->end;
        lines->at = stop < lines->end ? stop + 1 : lines->end;
        lines->number++;
        while (from < stop && pbi_is_blank(*from))
            from++;
        while (stop > from && pbi_is_blank(stop[-1]))
            stop--;
        lines->word = from;
        lines->length = (size_t)(stop - from);
        if (from < stop && *from != '#')
            return true;
    }
    return false;
}
