/* machine_print.c -- see machine_print.h. */
#include "machine_print.h"

#include <stdio.h>
#include <string.h>

void rate_text(uint64_t rate, char text[FIGURE_ROOM])
{
    static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
    double shown = (double)rate;
    int at = 0;
    for (; shown >= 999.95 && at < 6; at++)
        shown /= 1000;
    snprintf(text, FIGURE_ROOM, "%.4g%s", shown, prefixes[at]);
}

void size_text(const pb_machine *m, uint64_t size, char text[FIGURE_ROOM])
{
    rate_text(size, text);
    if (size == PB_UNLIMITED)
        snprintf(text, FIGURE_ROOM, "no limit");
    else if (m->per_second)
        snprintf(text + strlen(text), FIGURE_ROOM - strlen(text), "%s", strchr(text, ' ') ? "B" : " B");
}
