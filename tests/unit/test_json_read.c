/* test_json_read.c -- typed values with sentences, quoted keys, and the set that finds repeated ones. */
#include "io/json_read.h"
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

static void begin(scan *s, const char *text)
{
    pb_context_init(&s->ctx);
    pb_arena_init(&s->arena, &s->ctx);
    s->memory = (slow_memory){text, strlen(text), 0, 3, SIZE_MAX};
    assert_int_equal(pbi_text_init(&s->text, &s->ctx, slow_source(&s->memory), &s->arena), PB_OK);
    pbi_json_init(&s->json, &s->text, &s->arena);
}

static void end(scan *s) { pb_arena_release(&s->arena); }

static void whole_numbers_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        uint64_t value;
    } cases[] = {
        {"0", true, 0},
        {"\"0\"", true, 0},
        {"9999999999999999999", true, UINT64_C(9999999999999999999)},
        {"10000000000000000000", true, UINT64_C(10000000000000000000)},
        {"18446744073709551615", true, UINT64_MAX},
        {"\"18446744073709551615\"", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"99999999999999999999999999999999999999999", false, 0},
        {"\"007\"", true, 7},
        {"\"\"", false, 0},
        {"\" 1\"", false, 0},
        {"-1", false, 0},
        {"-0", false, 0},
        {"1.0", false, 0},
        {"1e1", false, 0},
        {"true", false, 0},
        {"[]", false, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        scan s;
        begin(&s, cases[i].text);
        uint64_t value = 77;
        pb_status status = pbi_read_whole(&s.json, (pbi_field){"x", NULL, 0}, &value);
        assert_int_equal(status, cases[i].good ? PB_OK : PB_EFORMAT);
        assert_true(value == (cases[i].good ? cases[i].value : 77)); /* untouched on failure */
        end(&s);
    }
}

static void sentences_name_the_field(void **state)
{
    (void)state;
    static const struct {
        pbi_field field;
        const char *begin;
    } cases[] = {
        {{"cap", NULL, 0}, "\"cap\" must be a boolean, not null"},
        {{"size", "node", 3}, "\"size\" of node 3 must be"},
        {{"edges", "item", 9}, "item 9 of \"edges\" must be"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        scan s;
        begin(&s, "null");
        bool flag;
        assert_int_equal(pbi_read_flag(&s.json, cases[i].field, &flag), PB_EFORMAT);
        assert_int_equal(strncmp(s.ctx.error.message, cases[i].begin, strlen(cases[i].begin)), 0);
        end(&s);
    }
}

static void reals_and_texts_are_read(void **state)
{
    (void)state;
    scan s;
    double value = 0;
    begin(&s, "-1.25e-2");
    assert_int_equal(pbi_read_real(&s.json, (pbi_field){"x", NULL, 0}, &value), PB_OK);
    assert_true(value == -0.0125);
    end(&s);
    const char *copy = NULL;
    begin(&s, "\"a\\u00e9\"");
    assert_int_equal(pbi_read_copy(&s.json, (pbi_field){"x", NULL, 0}, &s.arena, &copy), PB_OK);
    assert_string_equal(copy, "a\xc3\xa9");
    end(&s);
    pb_u128 wide;
    begin(&s, "\"340282366920938463463374607431768211455\"");
    assert_int_equal(pbi_read_u128(&s.json, (pbi_field){"x", NULL, 0}, &wide), PB_OK);
    assert_true(wide.high == UINT64_MAX && wide.low == UINT64_MAX);
    end(&s);
}

static void keys_are_quoted_as_json(void **state)
{
    (void)state;
    scan s;
    begin(&s, "0");
    pb_buffer out;
    pb_buffer_init(&out, &s.arena);
    assert_true(pbi_bytes_add_quoted(&out, (pbi_slice){"a\"\\\0\n\x7f\xc3\xa9", 8}));
    static const char wanted[] = "\"a\\\"\\\\\\u0000\\u000a\\u007f\xc3\xa9\"";
    assert_int_equal(out.length, sizeof wanted - 1);
    assert_memory_equal(out.bytes, wanted, out.length);
    end(&s);
}

static void repeated_keys_are_found_in_their_object_only(void **state)
{
    (void)state;
    scan s;
    begin(&s, "0");
    pbi_keys keys;
    pb_buffer text;
    pbi_keys_init(&keys, &s.arena);
    for (int object = 0; object < 3; object++) {
        pb_buffer_init(&text, &s.arena);
        bool fresh;
        for (int i = 0; i < 3000; i++) {
            char key[16];
            size_t at = text.length, length = (size_t)snprintf(key, sizeof key, "k%d", i % 2000);
            assert_true(pbi_bytes_add(&text, key, length));
            assert_int_equal(pbi_keys_add(&keys, &text, at, length, &fresh), PB_OK);
            assert_int_equal(fresh, i < 2000);
        }
        pbi_keys_clear(&keys);
    }
    keys.stamp = UINT32_MAX; /* stamps go round without bringing old keys back */
    bool fresh;
    assert_int_equal(pbi_keys_add(&keys, &text, 0, 2, &fresh), PB_OK);
    assert_true(fresh);
    pbi_keys_clear(&keys);
    assert_int_equal(pbi_keys_add(&keys, &text, 0, 2, &fresh), PB_OK);
    assert_true(fresh);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(sentences_name_the_field),
        cmocka_unit_test(reals_and_texts_are_read),
        cmocka_unit_test(keys_are_quoted_as_json),
        cmocka_unit_test(repeated_keys_are_found_in_their_object_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
