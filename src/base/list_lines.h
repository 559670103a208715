/* list_lines.h -- texts with one word per line, as people write them: blank lines and lines after # do not count. */
#ifndef PBI_LIST_LINES_H
#define PBI_LIST_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pbi_lines {
    const char *at, *end; /* what is left of the text */
    uint32_t number;      /* of the current line, from 1 */
    const char *word;     /* the line without blanks around it; not terminated */
    size_t length;
} pbi_lines;

/* The next line with a word; false at the end. Start with `at` and `end` set and all else 0. */
bool pbi_lines_next(pbi_lines *lines);

bool pbi_is_blank(char c);

#endif
