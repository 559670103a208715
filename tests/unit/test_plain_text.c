/* test_plain_text.c -- what a terminal would obey is escaped, and nothing else. */
#include "pebble/base.h"

#include "base/context.h"
#include "base/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void becomes(const char *text, const char *plain)
{
    char got[256];
    assert_int_equal(pb_plain_text(text, got, sizeof got), strlen(plain));
    assert_string_equal(got, plain);
    assert_int_equal(pb_plain_text(plain, got, sizeof got), strlen(plain)); /* once is enough */
    assert_string_equal(got, plain);
}

static void text_of_every_script_stays(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "layer.3/attn (x2) `a` \\n \"q\"",
                                        "gr\xc3\xbc\xc3\x9f!",
                                        "\xe5\xb1\x82 \xe2\x98\x85",
                                        "\xc2\xa0\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
                                        "\xf0\x90\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        becomes(texts[i], texts[i]);
}

static void controls_are_escaped(void **state)
{
    (void)state;
    char expected[16];
    for (int c = 1; c < 0x20; c++) {
        const char text[] = {(char)c, '\0'};
        snprintf(expected, sizeof expected, c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : "\\x%02x", c);
        becomes(text, expected);
    }
    becomes("a\x7f", "a\\x7f");
    for (int c = 0x80; c < 0xa0; c++) { /* C1 */
        const char text[] = {'\xc2', (char)c, 'z', '\0'};
        snprintf(expected, sizeof expected, "\\u%04xz", c);
        becomes(text, expected);
    }
    becomes("\x1b]0;t\x07", "\\x1b]0;t\\x07");
}

static void text_is_not_turned_around(void **state)
{
    (void)state;
    static const struct {
        char last;
        const char *plain;
    } first[] = {{'\xa8', "\\u2028"}, {'\xa9', "\\u2029"}, {'\xaa', "\\u202a"}, {'\xab', "\\u202b"},
                 {'\xac', "\\u202c"}, {'\xad', "\\u202d"}, {'\xae', "\\u202e"}};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        becomes((const char[]){'\xe2', '\x80', first[i].last, '\0'}, first[i].plain);
    becomes("\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "\\u2066\\u2067\\u2068\\u2069");
    becomes("\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xaa", "\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xaa"); /* their neighbours */
}

static void bytes_that_are_not_utf8_are_escaped(void **state)
{
    (void)state;
    becomes("\xff", "\\xff");
    becomes("\x80z", "\\x80z");
    becomes("\xc3", "\\xc3");
    becomes("\xc3z", "\\xc3z");
    becomes("\xe2\x82", "\\xe2\\x82");
    becomes("\xf0\x9f\x98", "\\xf0\\x9f\\x98");
    becomes("\xc0\x9b", "\\xc0\\x9b");                   /* overlong escape characters */
    becomes("\xe0\x80\x9b", "\\xe0\\x80\\x9b");          /* */
    becomes("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* half a pair of UTF-16 */
    becomes("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond Unicode */
}

/* Nothing is written past the room, and no character or escape is cut in two. */
static void cuts_fall_between_characters(void **state)
{
    (void)state;
    static const char text[] = "a\xe2\x98\x85\x1b\xc2\x9bz"; /* 1 + 3 + 4 + 6 + 1 */
    static const size_t ends[] = {0, 1, 1, 1, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 14, 15};
    for (size_t room = 1; room <= 16; room++) {
        char plain[20];
        memset(plain, '#', sizeof plain);
        assert_int_equal(pb_plain_text(text, plain, room), 15);
        assert_int_equal(strlen(plain), ends[room - 1]);
        for (size_t i = room; i < sizeof plain; i++)
            assert_int_equal(plain[i], '#');
    }
    assert_int_equal(pb_plain_text(text, NULL, 0), 15);
}

static void errors_of_the_library_are_plain(void **state)
{
    (void)state;
    pb_context ctx;
    char name[600];
    memset(name, '\x1b', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    pb_context_init(&ctx);
    pbi_fail(&ctx, PB_EINVAL, "no node `%s`", "\x1b[2J\n");
    assert_string_equal(ctx.error.message, "no node `\\x1b[2J\\n`");
    pbi_fail_at(&ctx, PB_EFORMAT, 3, 4, "%s", name);
    assert_int_equal(strlen(ctx.error.message) % 4, 0);
    assert_int_equal(strspn(ctx.error.message, "\\x1b"), strlen(ctx.error.message));
}

static void long_names_pass_the_writer_whole(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_buffer buffer;
    pbi_out out;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_buffer_init(&buffer, &arena);
    pbi_out_init(&out, &ctx, pb_sink_buffer(&buffer));
    for (int i = 0; i < 9000; i++)
        pbi_out_plain(&out, "x\x1b\xe2\x98\x85");
    assert_int_equal(pbi_out_finish(&out), PB_OK);
    assert_int_equal(buffer.length, 9000 * 8);
    for (size_t i = 0; i < buffer.length; i += 8)
        assert_memory_equal(buffer.bytes + i, "x\\x1b\xe2\x98\x85", 8);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_every_script_stays),       cmocka_unit_test(controls_are_escaped),
        cmocka_unit_test(text_is_not_turned_around),        cmocka_unit_test(bytes_that_are_not_utf8_are_escaped),
        cmocka_unit_test(cuts_fall_between_characters),     cmocka_unit_test(errors_of_the_library_are_plain),
        cmocka_unit_test(long_names_pass_the_writer_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
