/* test_context.c -- errors with a place, ticks, stops and holds. */
#include "base/context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_status_has_a_sentence_of_its_own(void **state)
{
    (void)state;
    for (int a = 0; a < PB_STATUS_COUNT; a++) {
        assert_true(strlen(pb_status_text((pb_status)a)) > 3);
        for (int b = 0; b < a; b++)
            assert_string_not_equal(pb_status_text((pb_status)a), pb_status_text((pb_status)b));
    }
    assert_int_equal(PB_OK, 0);
    assert_string_equal(pb_status_text(PB_ENOMEM), "out of memory");
    assert_string_equal(pb_status_text(PB_STATUS_COUNT), "unknown status");
    assert_string_equal(pb_status_text((pb_status)-1), "unknown status");
}

static void failing_keeps_the_sentence_and_the_place(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    assert_string_equal(ctx.error.message, "");
    assert_int_equal(pbi_fail_at(&ctx, PB_EFORMAT, 12, 7, "bad %s %d", "thing", 3), PB_EFORMAT);
    assert_string_equal(ctx.error.message, "bad thing 3");
    assert_int_equal(ctx.error.line, 12);
    assert_int_equal(ctx.error.column, 7);
    assert_int_equal(pbi_fail(&ctx, PB_EINVAL, "worse"), PB_EINVAL);
    assert_string_equal(ctx.error.message, "worse");
    assert_int_equal(ctx.error.line, 0); /* an old place does not stay */
    assert_int_equal(ctx.error.column, 0);
}

static void long_sentences_are_cut_not_overrun(void **state)
{
    (void)state;
    pb_context ctx;
    char text[2000];
    pb_context_init(&ctx);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    pbi_fail(&ctx, PB_EINVAL, "%s", text);
    assert_int_equal(strlen(ctx.error.message), sizeof ctx.error.message - 1);
}

typedef struct outside {
    pb_stop answer;
    int polls;
    const char *what;
    uint64_t done, total;
} outside;

static void bugs_ask_for_a_report_once(void **state)
{
    (void)state;
    const char *request = "; this is a bug in pebble: please report it with the command and its files";
    pb_context ctx;
    char before[sizeof ctx.error.message], full[2 * sizeof ctx.error.message] = "";
    pb_context_init(&ctx);
    pbi_fail(&ctx, PB_EBUG, "the plan is illegal");
    assert_string_equal(
        ctx.error.message,
        "the plan is illegal; this is a bug in pebble: please report it with the command and its files");
    memcpy(before, ctx.error.message, sizeof before);
    pbi_fail(&ctx, PB_EBUG, "%s", before);
    assert_string_equal(ctx.error.message, before);
    for (size_t i = 0; i + 2 < sizeof full; i += 2)
        memcpy(full + i, "\xc3\xa9", 3);
    pbi_fail(&ctx, PB_EBUG, "x%s", full); /* the request fits, whatever the length, and no character is cut */
    const char *end = strstr(ctx.error.message, request);
    assert_non_null(end);
    assert_string_equal(end, request);
    assert_true((unsigned char)end[-1] == 0xa9);
}

static pb_stop stop(void *state)
{
    outside *o = state;
    o->polls++;
    return o->answer;
}

static void progress(void *state, const char *what, uint64_t done, uint64_t total)
{
    outside *o = state;
    o->what = what;
    o->done = done;
    o->total = total;
}

static void nothing_stops_without_a_callback(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    assert_int_equal(pbi_poll(&ctx), PB_OK);
    assert_int_equal(pbi_tick(&ctx, UINT64_C(1) << 60), PB_OK);
    pbi_progress(&ctx, "nothing", 1, 2);
    assert_int_equal(ctx.stopped, PB_GO_ON);
}

static void a_stop_is_remembered_with_its_reason(void **state)
{
    (void)state;
    pb_context ctx;
    outside o = {0};
    pb_context_init(&ctx);
    ctx.stop = stop;
    ctx.callback_state = &o;
    assert_int_equal(pbi_poll(&ctx), PB_OK);
    assert_int_equal(o.polls, 1);
    o.answer = PB_STOP_TIME;
    assert_int_equal(pbi_poll(&ctx), PB_ECANCELLED);
    assert_string_equal(ctx.error.message, "the time limit was reached; allow more time");
    o.answer = PB_GO_ON; /* the first answer holds: it is not asked again */
    assert_int_equal(pbi_poll(&ctx), PB_ECANCELLED);
    assert_int_equal(pbi_tick(&ctx, 1), PB_ECANCELLED);
    assert_int_equal(o.polls, 2);
    assert_int_equal(ctx.stopped, PB_STOP_TIME);
    ctx.stopped = PB_GO_ON;
    o.answer = PB_STOP_INTERRUPT;
    assert_int_equal(pbi_poll(&ctx), PB_ECANCELLED);
    assert_string_equal(ctx.error.message, "interrupted");
}

static void ticks_run_out_behind_the_limit(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    ctx.tick_limit = 10;
    assert_int_equal(pbi_tick(&ctx, 10), PB_OK);
    assert_int_equal(pbi_tick(&ctx, 0), PB_OK);
    assert_int_equal(pbi_tick(&ctx, 1), PB_ELIMIT);
    assert_int_equal(ctx.ticks, 11);
    assert_string_equal(ctx.error.message, "the limit of 10 ticks was reached; allow more ticks");
}

static void nothing_stops_while_held(void **state)
{
    (void)state;
    pb_context ctx;
    outside o = {.answer = PB_STOP_INTERRUPT};
    pb_context_init(&ctx);
    ctx.stop = stop;
    ctx.callback_state = &o;
    ctx.tick_limit = 1;
    assert_int_equal(pbi_poll(&ctx), PB_ECANCELLED);
    pbi_held held = pbi_hold(&ctx);
    assert_int_equal(pbi_poll(&ctx), PB_OK);
    assert_int_equal(pbi_tick(&ctx, 100), PB_OK);
    assert_int_equal(ctx.stopped, PB_GO_ON);
    pbi_resume(&ctx, held);
    assert_int_equal(ctx.stopped, PB_STOP_INTERRUPT);
    assert_int_equal(ctx.tick_limit, 1);
    assert_int_equal(pbi_poll(&ctx), PB_ECANCELLED);
    assert_int_equal(pbi_tick(&ctx, 1), PB_ELIMIT);
    assert_int_equal(o.polls, 1);
}

static void progress_reaches_the_callback(void **state)
{
    (void)state;
    pb_context ctx;
    outside o = {0};
    pb_context_init(&ctx);
    ctx.progress = progress;
    ctx.callback_state = &o;
    pbi_progress(&ctx, "planning", 3, 9);
    assert_string_equal(o.what, "planning");
    assert_int_equal(o.done, 3);
    assert_int_equal(o.total, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_sentence_of_its_own),
        cmocka_unit_test(failing_keeps_the_sentence_and_the_place),
        cmocka_unit_test(bugs_ask_for_a_report_once),
        cmocka_unit_test(long_sentences_are_cut_not_overrun),
        cmocka_unit_test(nothing_stops_without_a_callback),
        cmocka_unit_test(a_stop_is_remembered_with_its_reason),
        cmocka_unit_test(ticks_run_out_behind_the_limit),
        cmocka_unit_test(nothing_stops_while_held),
        cmocka_unit_test(progress_reaches_the_callback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
