/* table.h -- aligned tables on standard output. */
#ifndef PEBBLE_APP_TABLE_H
#define PEBBLE_APP_TABLE_H

#include "pebble/base.h"

#include <stdio.h>

enum { MAX_COLUMNS = 20 };

typedef struct table_column {
    const char *title;
    bool right; /* numbers */
    int spare;  /* above 0: left out if the screen is too narrow, the highest first */
} table_column;

typedef struct table {
    pb_arena *arena;
    const table_column *columns;
    int column_count;
    char ***rows; /* [row][column]; a NULL cell: the one before it runs on to the end of the line */
    const char **inks;
    size_t row_count, room;
    bool color;
    int width; /* of the screen */
    bool fit;  /* leave out columns that do not fit the width */
} table;

void table_init(table *t, pb_arena *arena, const table_column *columns, int column_count);
/* Cells are copied, escaped as pb_plain_text does; `ink` is an SGR code such as "1" or "31", or NULL. False if out of
 * memory. */
bool table_row(table *t, const char *const *cells, const char *ink);
void table_print(const table *t, FILE *out);

/* The width of a text on the screen: a UTF-8 sequence counts as one character. */
int text_width(const char *text);
/* Prints text, escaped likewise, in lines of at most `width`: the first one continues at column `used`, later ones are
 * indented by `indent`. */
void print_wrapped(FILE *out, const char *text, int used, int indent, int width);

/* A count for a narrow column: 12,345 as it is, more than `digits` digits as 1.23e12. */
void short_number(pb_u128 value, int digits, char *text); /* room for 64 */
/* A cost for a cell: "12.34 ms" if the unit is one of time, else a short number. */
void short_cost(pb_u128 value, const char *unit, int digits, char *text); /* room for 64 */

#endif
