/* tests/unit/error_table.h -- broken inputs with the status, the place and a part of the message that a reader must give.
 *
 *     static pb_status open_text(desk *d, const char *text, size_t chunk);   reads `text`, `chunk` bytes at a time
 *     static void shut(desk *d);                                             `desk` has a pb_context `ctx`
 *     EXPECT_ERRORS(cases);                                                  an array of error_case
 */
#ifndef ERROR_TABLE_H
#define ERROR_TABLE_H

#include "pebble/base.h"

#include <string.h>

typedef struct error_case {
    const char *text;
    pb_status status;
    uint64_t line, column; /* from 1; 0: no place */
    const char *words;     /* part of the message */
} error_case;

static inline void check_error(const error_case *c, pb_status status, const pb_error *error)
{
    if (status != c->status || error->line != c->line || error->column != c->column ||
        !strstr(error->message, c->words))
        fail_msg("%s\nstatus %d, %llu:%llu: %s", c->text, status, (unsigned long long)error->line,
                 (unsigned long long)error->column, error->message);
}

/* A macro, since each reader has its own desk. Once byte by byte, once as a whole. */
#define EXPECT_ERRORS(cases)                                          \
    for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++)      \
        for (size_t chunk = 1; chunk < 1000; chunk += 998) {          \
            desk d;                                                   \
            pb_status status = open_text(&d, (cases)[i].text, chunk); \
            check_error(&(cases)[i], status, &d.ctx.error);           \
            shut(&d);                                                 \
        }

#endif
