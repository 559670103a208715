/* tests/unit/reader_fixture.h -- a graph read from a text, for the tests of each reader: define READER_FORMAT first. */
#ifndef READER_FIXTURE_H
#define READER_FIXTURE_H

#include "support/io_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/error_table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
} desk;

static inline pb_status open_text(desk *d, const char *text, size_t chunk)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    d->g = NULL;
    return graph_from(&d->ctx, text, strlen(text), chunk, READER_FORMAT, &d->arena, &d->g);
}

static inline void must_open(desk *d, const char *text, size_t chunk)
{
    if (open_text(d, text, chunk) != PB_OK)
        fail_msg("%s: %llu:%llu: %s", text, (unsigned long long)d->ctx.error.line,
                 (unsigned long long)d->ctx.error.column, d->ctx.error.message);
    const char *fault = graph_round_trips(&d->ctx, d->g);
    if (fault)
        fail_msg("%s: %s", text, fault);
}

static inline void shut(desk *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

#endif
