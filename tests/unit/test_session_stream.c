/* test_flat_stream.c -- adjoint actions across the flat border are those of adjoint.h. */
#include "unit/session_fixture.h"

enum { ROOM = 4096 };

static void same(const uint64_t *row, const pb_action *a)
{
    const uint64_t expected[PB_ACTION_FIELDS] = {a->kind, a->n0, a->n1, a->slot, a->flags, a->from, a->to};
    assert_memory_equal(row, expected, sizeof expected);
}

static void revolve_gives_the_same_actions(void **state)
{
    (void)state;
    static uint64_t rows[ROOM * PB_ACTION_FIELDS];
    pb_session *s = open_session(NULL);
    pb_stream *stream;
    pb_revolve plain;
    pb_action a = {.n0 = 0};
    uint64_t count = 0, got;
    must(s, pb_session_revolve(s, 500, 7, &stream));
    must(s, pb_revolve_init(&s->ctx, 500, 7, &s->arena, &plain));
    while ((got = pb_stream_actions(stream, 300, rows)) > 0) /* more than a batch at a time */
        for (uint64_t i = 0; i < got; i++, count++) {
            assert_true(pb_revolve_next(&plain, &a));
            same(rows + PB_ACTION_FIELDS * i, &a);
        }
    assert_false(pb_revolve_next(&plain, &a));
    must(s, pb_session_revolve_count(s, 500, 7));
    char figure[64];
    snprintf(figure, sizeof figure, "\"actions\":%" PRIu64 ",", count);
    assert_true(text_has(s, figure));
    assert_int_equal(pb_stream_cost(stream), 0);
    assert_int_equal(pb_stream_online_steps(stream, 3, rows), 0); /* not an online stream */
    pb_stream_online_end(stream);
    pb_session_free(s);
}

static void levels_give_the_same_actions(void **state)
{
    (void)state;
    static uint64_t rows[ROOM * PB_ACTION_FIELDS];
    pb_multilevel_spec spec = {.steps = 40, .forward_cost = 1, .reverse_cost = 2, .level_count = 2};
    pb_session *s = open_session(NULL);
    pb_stream *stream;
    pb_multilevel plain;
    pb_action a = {.n0 = 0};
    spec.level[0] = (pb_level){2, 0, 0};
    spec.level[1] = (pb_level){20, 3, 2};
    must(s, pb_session_add_level(s, 2, 0, 0));
    must(s, pb_session_add_level(s, 20, 3, 2));
    must(s, pb_session_multilevel(s, 40, 1, 2, &stream));
    must(s, pb_multilevel_init(&s->ctx, &spec, &s->arena, &plain));
    assert_int_equal(pb_stream_cost(stream), plain.cost);
    uint64_t count = pb_stream_actions(stream, ROOM, rows);
    for (uint64_t i = 0; i < count; i++) {
        assert_true(pb_multilevel_next(&plain, &a));
        same(rows + PB_ACTION_FIELDS * i, &a);
    }
    assert_false(pb_multilevel_next(&plain, &a));
    pb_session_free(s);
}

static void an_open_end_is_reversed(void **state)
{
    (void)state;
    static uint64_t rows[ROOM * PB_ACTION_FIELDS];
    pb_session *s = open_session(NULL);
    pb_stream *stream;
    uint64_t reversed = 0;
    must(s, pb_session_online(s, 3, &stream));
    assert_int_equal(pb_stream_online_steps(stream, 20, rows), 20);
    assert_int_equal(rows[PB_ACTION_FIELDS * 19 + 2], 20);
    assert_int_equal(pb_stream_actions(stream, ROOM, rows), 0); /* not before the end */
    pb_stream_online_end(stream);
    uint64_t count = pb_stream_actions(stream, ROOM, rows);
    for (uint64_t i = 0; i < count; i++)
        if (rows[PB_ACTION_FIELDS * i] == PB_ACTION_REVERSE)
            reversed += rows[PB_ACTION_FIELDS * i + 2] - rows[PB_ACTION_FIELDS * i + 1];
    assert_int_equal(reversed, 20);
    assert_int_equal(rows[PB_ACTION_FIELDS * (count - 1)], PB_ACTION_END_REVERSE);
    assert_int_equal(pb_stream_online_steps(stream, 1, rows), 0);
    pb_session_free(s);
}

static void wrong_counts_are_refused(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    pb_stream *stream = NULL;
    refused_as(s, pb_session_revolve(s, 5, 0, &stream), PB_EINVAL, "");
    refused_as(s, pb_session_revolve_count(s, UINT64_MAX, 3), PB_ERANGE, "");
    refused_as(s, pb_session_online(s, 0, &stream), PB_EINVAL, "");
    for (int i = 0; i < PB_MAX_LEVELS; i++)
        must(s, pb_session_add_level(s, 1, 1, 1));
    refused_as(s, pb_session_add_level(s, 1, 1, 1), PB_EINVAL, "levels");
    refused_as(s, pb_session_multilevel(s, 5, 1, 1, &stream), PB_EINVAL, ""); /* all levels are gone */
    must(s, pb_session_add_level(s, 1, 5, 1));
    must(s, pb_session_add_level(s, 1, 1, 1));
    refused_as(s, pb_session_multilevel(s, 5, 1, 1, &stream), PB_EINVAL, "");
    assert_null(stream);
    assert_string_equal(pb_action_label(PB_ACTION_COPY), "Copy");
    assert_null(pb_action_label(PB_ACTION_KIND_COUNT));
    assert_string_equal(pb_storage_label(PB_STORAGE_DISK), "DISK");
    assert_null(pb_storage_label(PB_STORAGE_COUNT));
    pb_session_free(s);
}

static void any_allocation_may_be_refused(void **state)
{
    (void)state;
    for (refusal r = {.refused = 1};; r.refused++) {
        pb_session *s = open_session(&r);
        pb_stream *stream = NULL;
        pb_status status = pb_session_revolve(s, 100, 5, &stream);
        if (status == PB_OK)
            status = pb_session_add_level(s, 2, 0, 0);
        if (status == PB_OK)
            status = pb_session_add_level(s, 9, 3, 3);
        if (status == PB_OK)
            status = pb_session_multilevel(s, 30, 1, 1, &stream);
        if (status == PB_OK)
            status = pb_session_online(s, 5, &stream);
        if (status == PB_OK)
            status = pb_session_revolve_count(s, 100, 5);
        bool reached = r.count >= r.refused;
        assert_int_equal(status, reached ? PB_ENOMEM : PB_OK);
        pb_session_free(s);
        if (!reached)
            break;
        assert_true(r.refused < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(revolve_gives_the_same_actions), cmocka_unit_test(levels_give_the_same_actions),
        cmocka_unit_test(an_open_end_is_reversed),        cmocka_unit_test(wrong_counts_are_refused),
        cmocka_unit_test(any_allocation_may_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
