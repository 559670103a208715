/* test_json_scan.c -- strict JSON as a stream: grammar, places, text unchanged, whatever the size of the reads. */
#include "io/json_scan.h"
#include "support/io_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct scan {
    pb_context ctx;
    pb_arena arena;
    slow_memory memory;
    pbi_text text;
    pbi_json json;
} scan;

static void begin(scan *s, const char *bytes, size_t length, size_t chunk)
{
    pb_context_init(&s->ctx);
    pb_arena_init(&s->arena, &s->ctx);
    s->memory = (slow_memory){bytes, length, 0, chunk, SIZE_MAX};
    assert_int_equal(pbi_text_init(&s->text, &s->ctx, slow_source(&s->memory), &s->arena), PB_OK);
    pbi_json_init(&s->json, &s->text, &s->arena);
}

static void end(scan *s)
{
    pb_arena_release(&s->arena);
    assert_int_equal(s->ctx.memory_used, 0);
}

/* Skips the document as a whole. */
static pb_status judge(scan *s, const char *bytes, size_t length, size_t chunk)
{
    begin(s, bytes, length, chunk);
    pb_status status = pbi_json_skip(&s->json);
    return status == PB_OK ? pbi_json_end(&s->json) : status;
}

static void scanner_takes_every_kind_of_value(void **state)
{
    (void)state;
    static const char *const good[] = {
        "null",
        " true ",
        "\tfalse\r\n",
        "0",
        "-0",
        "-12.5e+3",
        "1E-9",
        "\"\"",
        "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"",
        "[]",
        "{}",
        "[1,[2,{\"a\":[]}],\"x\"]",
        "{\"a\":1,\"b\":{\"c\":null}}",
        "\xef\xbb\xbf[1]",
        "\"\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80 \x7f\"",
        "\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"",
    };
    for (size_t i = 0; i < COUNT(good); i++)
        for (size_t chunk = 1; chunk < 4; chunk++) {
            scan s;
            if (judge(&s, good[i], strlen(good[i]), chunk) != PB_OK)
                fail_msg("%s: %s", good[i], s.ctx.error.message);
            end(&s);
        }
}

typedef struct fault {
    const char *text;
    uint64_t line, column;
    const char *words;
} fault;

static void scanner_refuses_what_is_not_json_at_its_place(void **state)
{
    (void)state;
    static const fault bad[] = {
        {"", 1, 1, "end of the file"},
        {"  \n  ", 2, 3, "end of the file"},
        {"nul", 1, 1, "not a JSON word"},
        {"nullx", 1, 1, "not a JSON word"},
        {"True", 1, 1, "found 'T'"},
        {"01", 1, 1, "not a JSON number"},
        {"1.", 1, 1, "not a JSON number"},
        {".5", 1, 1, "found '.'"},
        {"+1", 1, 1, "found '+'"},
        {"[1e]", 1, 2, "not a JSON number"},
        {"[-]", 1, 2, "not a JSON number"},
        {"[1 2]", 1, 4, "',' or ']'"},
        {"[1,]", 1, 4, "a value after ','"},
        {"[,1]", 1, 2, "a value"},
        {"{\"a\"}", 1, 5, "':' after a key"},
        {"{\"a\":}", 1, 6, "a value"},
        {"{a:1}", 1, 2, "a key in quotes"},
        {"{\"a\":1,}", 1, 8, "a member after ','"},
        {"{\"a\":1 \"b\":2}", 1, 8, "',' or '}'"},
        {"[1}", 1, 3, "found '}'"},
        {"[\n\n \"a\nb\"]", 3, 4, "control character 0x0a"},
        {"\"abc", 1, 1, "never closed"},
        {"\"\\x\"", 1, 2, "not a JSON escape"},
        {"\"\\u12g4\"", 1, 2, "not a JSON escape"},
        {"\"\\ud800\"", 1, 2, "surrogate"},
        {"\"\\ud800\\u0041\"", 1, 2, "surrogate"},
        {"\"\\udc00\"", 1, 2, "surrogate"},
        {"\"\xff\"", 1, 2, "not UTF-8"},
        {"\"\xc0\x80\"", 1, 2, "not UTF-8"},
        {"\"\xe0\x80\x80\"", 1, 2, "not UTF-8"},
        {"\"\xed\xa0\x80\"", 1, 2, "not UTF-8"},
        {"\"\xf4\x90\x80\x80\"", 1, 2, "not UTF-8"},
        {"\"\xe6\x97", 1, 2, "not UTF-8"},
        {"[\"\xe6\x97\xa5\xc3\xa9\" x]", 1, 7, "found 'x'"}, /* columns count characters */
        {"\xef\xbb\xbf x", 1, 2, "found 'x'"},               /* the byte order mark has no width */
        {"1 1", 1, 3, "nothing after"},
        {"[1]\r\n]", 2, 1, "nothing after"},
    };
    for (size_t i = 0; i < COUNT(bad); i++)
        for (size_t chunk = 1; chunk < 40; chunk += 38) {
            scan s;
            assert_int_equal(judge(&s, bad[i].text, strlen(bad[i].text), chunk), PB_EFORMAT);
            const pb_error *error = &s.ctx.error;
            if (error->line != bad[i].line || error->column != bad[i].column || !strstr(error->message, bad[i].words))
                fail_msg("%s: %llu:%llu: %s", bad[i].text, (unsigned long long)error->line,
                         (unsigned long long)error->column, error->message);
            end(&s);
        }
}

static void scanner_refuses_a_nul_byte(void **state)
{
    (void)state;
    scan s;
    assert_int_equal(judge(&s, "[1,\0 2]", 7, SIZE_MAX), PB_EFORMAT);
    assert_int_equal(s.ctx.error.column, 4);
    end(&s);
    assert_int_equal(judge(&s, "\"a\0b\"", 5, 1), PB_EFORMAT);
    assert_non_null(strstr(s.ctx.error.message, "0x00"));
    end(&s);
    assert_int_equal(judge(&s, "1\0", 2, SIZE_MAX), PB_EFORMAT);
    end(&s);
}

static void scanner_limits_nesting_without_recursion(void **state)
{
    (void)state;
    enum { DEEP = 1000000 };
    char *text = malloc(DEEP);
    memset(text, '[', DEEP);
    scan s;
    assert_int_equal(judge(&s, text, DEEP, SIZE_MAX), PB_EFORMAT);
    assert_int_equal(s.ctx.error.column, PBI_JSON_DEPTH + 1);
    assert_non_null(strstr(s.ctx.error.message, "nested"));
    end(&s);
    memset(text + PBI_JSON_DEPTH, ']', PBI_JSON_DEPTH);
    assert_int_equal(judge(&s, text, (size_t)2 * PBI_JSON_DEPTH, 5), PB_OK);
    end(&s);
    free(text);
}

static void strings_are_decoded(void **state)
{
    (void)state;
    const char text[] = "\"a\\u0000\\u00e9\\ud83d\\ude00\\n\\/\xc3\xa9\"";
    const char wanted[] = "a\0\xc3\xa9\xf0\x9f\x98\x80\n/\xc3\xa9";
    for (size_t chunk = 1; chunk < 30; chunk++) {
        scan s;
        pbi_slice out;
        pbi_json_kind kind;
        begin(&s, text, sizeof text - 1, chunk);
        assert_int_equal(pbi_json_peek(&s.json, &kind), PB_OK);
        assert_int_equal(kind, PBI_JSON_STRING);
        assert_int_equal(pbi_json_string(&s.json, &out), PB_OK);
        assert_int_equal(out.length, sizeof wanted - 1);
        assert_memory_equal(out.bytes, wanted, out.length);
        end(&s);
    }
}

/* A document larger than the buffer, so that every kind of token is cut by its end somewhere. */
static void tokens_survive_the_end_of_the_buffer(void **state)
{
    (void)state;
    enum { ITEMS = 40000 };
    static const char item[] = "{\"key \\u00e9\" : [12345, \"text \xc3\xa9\", true, null, -1.5e3]}";
    size_t length = 0, room = ITEMS * (sizeof item + 1) + 3;
    char *text = malloc(room);
    text[length++] = '[';
    for (int i = 0; i < ITEMS; i++) {
        if (i)
            text[length++] = ',';
        memcpy(text + length, item, sizeof item - 1);
        length += sizeof item - 1;
    }
    text[length++] = ']';
    static const size_t chunks[] = {SIZE_MAX, 65536, 4097, 61};
    for (size_t c = 0; c < COUNT(chunks); c++) {
        scan s;
        pbi_json_kind kind;
        pbi_slice key, value;
        bool more;
        begin(&s, text, length, chunks[c]);
        assert_int_equal(pbi_json_peek(&s.json, &kind), PB_OK);
        assert_int_equal(pbi_json_enter(&s.json, kind), PB_OK);
        int items = 0;
        for (; pbi_json_item(&s.json, &more) == PB_OK && more; items++) {
            assert_int_equal(pbi_json_peek(&s.json, &kind), PB_OK);
            assert_int_equal(pbi_json_enter(&s.json, kind), PB_OK);
            assert_int_equal(pbi_json_member(&s.json, &key, &more), PB_OK);
            assert_int_equal(key.length, 6);
            assert_memory_equal(key.bytes, "key \xc3\xa9", 6);
            assert_int_equal(pbi_json_peek(&s.json, &kind), PB_OK);
            assert_int_equal(pbi_json_enter(&s.json, kind), PB_OK);
            assert_int_equal(pbi_json_item(&s.json, &more), PB_OK);
            assert_int_equal(pbi_json_peek(&s.json, &kind), PB_OK);
            assert_int_equal(pbi_json_number(&s.json, &value), PB_OK);
            assert_memory_equal(value.bytes, "12345", 5);
            assert_int_equal(pbi_json_item(&s.json, &more), PB_OK);
            assert_int_equal(pbi_json_peek(&s.json, &kind), PB_OK);
            assert_int_equal(pbi_json_string(&s.json, &value), PB_OK);
            assert_memory_equal(value.bytes, "text \xc3\xa9", 7);
            while (pbi_json_item(&s.json, &more) == PB_OK && more)
                assert_int_equal(pbi_json_skip(&s.json), PB_OK);
            assert_int_equal(pbi_json_member(&s.json, &key, &more), PB_OK);
            assert_false(more);
        }
        assert_int_equal(items, ITEMS);
        assert_int_equal(pbi_json_end(&s.json), PB_OK);
        end(&s);
    }
    free(text);
}

static void raw_text_is_kept_as_written(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    char *text = malloc(LONG + 64);
    size_t length = (size_t)sprintf(text, "[ 1 , {\"a\" :\n[ 2.50 , \"\\u0041");
    memset(text + length, 'x', LONG);
    length += LONG;
    length += (size_t)sprintf(text + length, "\" ] } , 3]");
    static const size_t chunks[] = {SIZE_MAX, 1000, 7};
    for (size_t c = 0; c < COUNT(chunks); c++) {
        scan s;
        pbi_json_kind kind;
        bool more;
        pb_buffer raw;
        begin(&s, text, length, chunks[c]);
        pb_buffer_init(&raw, &s.arena);
        assert_int_equal(pbi_json_peek(&s.json, &kind), PB_OK);
        assert_int_equal(pbi_json_enter(&s.json, kind), PB_OK);
        assert_int_equal(pbi_json_item(&s.json, &more), PB_OK);
        assert_int_equal(pbi_json_raw(&s.json, &raw), PB_OK);
        assert_int_equal(raw.length, 1);
        assert_int_equal(raw.bytes[0], '1');
        assert_int_equal(pbi_json_item(&s.json, &more), PB_OK);
        raw.length = 0;
        assert_int_equal(pbi_json_raw(&s.json, &raw), PB_OK);
        assert_int_equal(raw.length, length - strlen("[ 1 , ") - strlen(" , 3]"));
        assert_memory_equal(raw.bytes, text + 6, raw.length);
        assert_int_equal(pbi_json_item(&s.json, &more), PB_OK);
        assert_int_equal(pbi_json_skip(&s.json), PB_OK);
        assert_int_equal(pbi_json_item(&s.json, &more), PB_OK);
        assert_false(more);
        assert_int_equal(pbi_json_end(&s.json), PB_OK);
        end(&s);
    }
    free(text);
}

static void numbers_have_a_largest_length(void **state)
{
    (void)state;
    char text[3000];
    memset(text, '7', sizeof text);
    for (size_t length = 999; length <= 1001; length++) {
        scan s;
        assert_int_equal(judge(&s, text, length, 100), length <= 1000 ? PB_OK : PB_EFORMAT);
        end(&s);
    }
    scan s;
    assert_int_equal(judge(&s, text, sizeof text, SIZE_MAX), PB_EFORMAT);
    end(&s);
}

static void a_failing_source_is_told_from_a_short_file(void **state)
{
    (void)state;
    scan s;
    begin(&s, "[1,2,3,4,5,6,7,8,9,10]", 22, 1);
    s.memory.fail_at = 20;
    assert_int_equal(pbi_json_skip(&s.json), PB_EIO);
    assert_non_null(strstr(s.ctx.error.message, "20 bytes"));
    end(&s);
}

static pb_stop always_stop(void *state)
{
    (void)state;
    return PB_STOP_INTERRUPT;
}

static void reading_stops_when_asked(void **state)
{
    (void)state;
    size_t length = 1 << 20;
    char *text = malloc(length);
    memset(text, ' ', length);
    scan s;
    begin(&s, text, length, SIZE_MAX);
    s.ctx.stop = always_stop;
    assert_int_equal(pbi_json_skip(&s.json), PB_ECANCELLED);
    end(&s);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scanner_takes_every_kind_of_value),
        cmocka_unit_test(scanner_refuses_what_is_not_json_at_its_place),
        cmocka_unit_test(scanner_refuses_a_nul_byte),
        cmocka_unit_test(scanner_limits_nesting_without_recursion),
        cmocka_unit_test(strings_are_decoded),
        cmocka_unit_test(tokens_survive_the_end_of_the_buffer),
        cmocka_unit_test(raw_text_is_kept_as_written),
        cmocka_unit_test(numbers_have_a_largest_length),
        cmocka_unit_test(a_failing_source_is_told_from_a_short_file),
        cmocka_unit_test(reading_stops_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
