/* test_out.c -- buffered text and JSON, memory sources and sinks. */
#include "base/out.h"
#include "base/rng.h"
#include "support/io_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pb_buffer buffer;
    pbi_out out;
} desk;

static void open_desk(desk *d)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    pb_buffer_init(&d->buffer, &d->arena);
    pbi_out_init(&d->out, &d->ctx, pb_sink_buffer(&d->buffer));
}

/* What was written must be `expected`. */
static void close_desk(desk *d, const char *expected)
{
    assert_int_equal(pbi_out_finish(&d->out), PB_OK);
    assert_string_equal(d->buffer.bytes ? d->buffer.bytes : "", expected);
    assert_int_equal(d->buffer.length, strlen(expected));
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

static void json_texts_escape_what_json_demands(void **state)
{
    (void)state;
    static const struct {
        const char *text, *json;
    } cases[] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"line\nend\ttab", "\"line\\nend\\ttab\""},
        {"\r\b\f\x01\x1f", "\"\\u000d\\u0008\\u000c\\u0001\\u001f\""},
        {"\x7f/", "\"\\u007f/\""},
        {"caf\xc3\xa9 \xe2\x86\x92", "\"caf\xc3\xa9 \xe2\x86\x92\""}, /* UTF-8 goes as it is */
        {"\"", "\"\\\"\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        desk d;
        open_desk(&d);
        pbi_out_json_text(&d.out, cases[i].text);
        close_desk(&d, cases[i].json);
    }
}

static void integers_above_2_to_53_become_strings(void **state)
{
    (void)state;
    desk d;
    open_desk(&d);
    static const uint64_t values[] = {0, 9, 10, UINT64_C(9007199254740991), UINT64_C(9007199254740992), UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        pbi_out_json_u64(&d.out, values[i]);
        pbi_out_char(&d.out, ' ');
        pbi_out_json_u128(&d.out, (pb_u128){0, values[i]});
        pbi_out_char(&d.out, ' ');
    }
    pbi_out_json_u128(&d.out, (pb_u128){1, 0});
    pbi_out_char(&d.out, ' ');
    pbi_out_json_u128(&d.out, (pb_u128){UINT64_MAX, UINT64_MAX});
    pbi_out_char(&d.out, ' ');
    pbi_out_u64(&d.out, UINT64_MAX);
    close_desk(&d, "0 0 9 9 10 10 9007199254740991 9007199254740991 \"9007199254740992\" \"9007199254740992\" "
                   "\"18446744073709551615\" \"18446744073709551615\" \"18446744073709551616\" "
                   "\"340282366920938463463374607431768211455\" 18446744073709551615");
}

static void reals_are_as_short_as_they_can_be(void **state)
{
    (void)state;
    desk d;
    open_desk(&d);
    static const double values[] = {0, 1, -1, 0.5, 0.1, 1.0 / 3, 1e22, 1e-7, 123456789, 5e-324, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        pbi_out_json_real(&d.out, values[i]);
        pbi_out_char(&d.out, ' ');
    }
    pbi_out_json_real(&d.out, NAN);
    close_desk(&d, "0.0 1.0 -1.0 0.5 0.1 0.3333333333333333 1e+22 1e-07 123456789.0 5e-324 null null null");
}

static void reals_read_back_equal(void **state)
{
    (void)state;
    pbi_rng rng = {5};
    for (int i = 0; i < 2000; i++) {
        uint64_t bits = pbi_rng_next(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        desk d;
        open_desk(&d);
        pbi_out_json_real(&d.out, value);
        assert_int_equal(pbi_out_finish(&d.out), PB_OK);
        double back = strtod(d.buffer.bytes, NULL);
        assert_memory_equal(&back, &value, sizeof value);
        pb_arena_release(&d.arena);
    }
}

static void formats_are_cut_at_1023_bytes(void **state)
{
    (void)state;
    char text[3000], expected[1024];
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memset(expected, 'y', 1023);
    expected[1023] = '\0';
    desk d;
    open_desk(&d);
    pbi_out_format(&d.out, "%s", text);
    close_desk(&d, expected);
    open_desk(&d);
    pbi_out_format(&d.out, "%d-%s", 7, "x");
    close_desk(&d, "7-x");
}

static void long_output_crosses_the_buffer_unharmed(void **state)
{
    (void)state;
    desk d;
    open_desk(&d);
    enum { LINES = 20000 };
    for (unsigned i = 0; i < LINES; i++) {
        pbi_out_u64(&d.out, i);
        pbi_out_char(&d.out, '\n');
    }
    assert_int_equal(pbi_out_finish(&d.out), PB_OK);
    const char *at = d.buffer.bytes;
    for (unsigned i = 0; i < LINES; i++) {
        char *end;
        assert_int_equal(strtoul(at, &end, 10), i);
        assert_int_equal(*end, '\n');
        at = end + 1;
    }
    assert_ptr_equal(at, d.buffer.bytes + d.buffer.length);
    assert_int_equal(*at, '\0');
    pb_arena_release(&d.arena);
}

typedef struct broken_sink {
    int calls, good;
} broken_sink;

static pb_status broken_write(void *state, const char *bytes, size_t length)
{
    broken_sink *sink = state;
    (void)bytes;
    (void)length;
    return sink->calls++ < sink->good ? PB_OK : PB_EIO;
}

static void the_first_failure_sticks(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    pbi_out out;
    broken_sink sink = {.good = 1};
    pbi_out_init(&out, &ctx, (pb_sink){broken_write, &sink});
    for (int i = 0; i < 100000; i++)
        pbi_out_text(&out, "0123456789");
    assert_int_equal(pbi_out_finish(&out), PB_EIO);
    assert_int_equal(sink.calls, 2); /* nothing is written behind a failure */
    assert_int_equal(pbi_out_finish(&out), PB_EIO);
}

static void nothing_written_calls_no_sink(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    pbi_out out;
    broken_sink sink = {0};
    pbi_out_init(&out, &ctx, (pb_sink){broken_write, &sink});
    pbi_out_text(&out, "");
    assert_int_equal(pbi_out_finish(&out), PB_OK);
    assert_int_equal(sink.calls, 0);
}

static void a_buffer_out_of_memory_says_so(void **state)
{
    (void)state;
    for (uint64_t refuse = 1; refuse <= 3; refuse++) {
        pb_context ctx;
        failing_allocator memory = {.refuse = refuse};
        failing_context(&ctx, &memory);
        pb_arena arena;
        pb_arena_init(&arena, &ctx);
        pb_buffer buffer;
        pb_buffer_init(&buffer, &arena);
        pbi_out out;
        pbi_out_init(&out, &ctx, pb_sink_buffer(&buffer));
        for (int i = 0; i < 20000; i++)
            pbi_out_text(&out, "0123456789");
        assert_int_equal(pbi_out_finish(&out), PB_ENOMEM);
        pb_arena_release(&arena);
        assert_int_equal(ctx.memory_used, 0);
        assert_int_equal(memory.blocks, 0);
    }
}

static void a_memory_source_hands_out_every_byte_once(void **state)
{
    (void)state;
    pb_memory memory = {.bytes = "hello world", .length = 11};
    pb_source source = pb_source_memory(&memory);
    char bytes[8];
    size_t got;
    assert_int_equal(source.read(source.state, bytes, sizeof bytes, &got), PB_OK);
    assert_int_equal(got, 8);
    assert_memory_equal(bytes, "hello wo", 8);
    assert_int_equal(source.read(source.state, bytes, sizeof bytes, &got), PB_OK);
    assert_int_equal(got, 3);
    assert_memory_equal(bytes, "rld", 3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(source.read(source.state, bytes, sizeof bytes, &got), PB_OK);
        assert_int_equal(got, 0);
    }
    pb_memory nothing = {0};
    source = pb_source_memory(&nothing);
    assert_int_equal(source.read(source.state, bytes, sizeof bytes, &got), PB_OK);
    assert_int_equal(got, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_texts_escape_what_json_demands),
        cmocka_unit_test(integers_above_2_to_53_become_strings),
        cmocka_unit_test(reals_are_as_short_as_they_can_be),
        cmocka_unit_test(reals_read_back_equal),
        cmocka_unit_test(formats_are_cut_at_1023_bytes),
        cmocka_unit_test(long_output_crosses_the_buffer_unharmed),
        cmocka_unit_test(the_first_failure_sticks),
        cmocka_unit_test(nothing_written_calls_no_sink),
        cmocka_unit_test(a_buffer_out_of_memory_says_so),
        cmocka_unit_test(a_memory_source_hands_out_every_byte_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
