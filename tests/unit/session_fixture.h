/* tests/unit/session_fixture.h -- a session whose allocations can be refused, and a small graph made at it. */
#ifndef SESSION_FIXTURE_H
#define SESSION_FIXTURE_H

#include "api/session/session.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct refusal {
    uint64_t count, refused; /* the allocation to refuse, counted from 1; 0: none */
} refusal;

static inline void *refusing(void *state, void *block, size_t old_bytes, size_t new_bytes)
{
    refusal *r = state;
    (void)old_bytes;
    if (!new_bytes) {
        free(block);
        return NULL;
    }
    if (++r->count == r->refused)
        return NULL;
    return realloc(block, new_bytes);
}

static inline pb_session *open_session(refusal *r)
{
    pb_session *s = pb_session_new();
    assert_non_null(s);
    if (r) {
        r->count = 0;
        s->ctx.resize = refusing;
        s->ctx.allocator_state = r;
    }
    return s;
}

static inline void must(pb_session *s, pb_status status)
{
    if (status != PB_OK)
        fail_msg("%s", pb_session_message(s));
}

/* a -> b -> c and a -> c; c takes 2. */
static inline pb_status small_graph(pb_session *s, const pb_graph **out)
{
    static const uint64_t cost[] = {1, 1, 3}, size[] = {1, 1, 2};
    static const uint32_t from[] = {0, 1, 0}, to[] = {1, 2, 2};
    pb_status status = pb_session_name_nodes(s, 3, "a\0b\0c", 6);
    if (status == PB_OK)
        status = pb_session_add_nodes(s, 3, cost, size, NULL, NULL);
    if (status == PB_OK)
        status = pb_session_add_pairs(s, "edge", 3, from, to);
    return status == PB_OK ? pb_session_make_graph(s, "tiny", NULL, NULL, 0, out) : status;
}

static inline bool text_has(pb_session *s, const char *piece)
{
    uint64_t length;
    const char *text = pb_session_text(s, &length);
    assert_int_equal(strlen(text), length);
    return strstr(text, piece) != NULL;
}

static inline void refused_as(pb_session *s, pb_status status, pb_status expected, const char *piece)
{
    assert_int_equal(status, expected);
    assert_int_equal(pb_session_status(s), expected);
    if (!strstr(pb_session_message(s), piece))
        fail_msg("\"%s\" does not say \"%s\"", pb_session_message(s), piece);
}

#endif
