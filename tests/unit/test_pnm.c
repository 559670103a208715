/* test_pnm.c -- images that are read, and what is wrong with those that are not. */
#include "workloads/pnm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static pb_context ctx;
static pb_arena arena;

static int begin(void **state)
{
    (void)state;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    return 0;
}

static int end(void **state)
{
    (void)state;
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
    return 0;
}

static void expect(const char *text, size_t length, uint32_t width, uint32_t height, uint32_t channels,
                   const char *pixels)
{
    pbi_image m;
    if (pbi_pnm_parse(&ctx, "a.ppm", (const unsigned char *)text, length, &arena, &m) != PB_OK)
        fail_msg("%s", ctx.error.message);
    assert_int_equal(m.width, width);
    assert_int_equal(m.height, height);
    assert_int_equal(m.channels, channels);
    assert_memory_equal(m.pixels, pixels, (size_t)width * height * channels);
}
#define EXPECT(text, ...) expect(text, sizeof(text) - 1, __VA_ARGS__)

static void refuse(const char *text, size_t length, const char *why)
{
    pbi_image m;
    assert_int_equal(pbi_pnm_parse(&ctx, "a.ppm", (const unsigned char *)text, length, &arena, &m), PB_EFORMAT);
    if (!strstr(ctx.error.message, why) || !strstr(ctx.error.message, "a.ppm"))
        fail_msg("'%s' is not in: %s", why, ctx.error.message);
}
#define REFUSE(text, why) refuse(text, sizeof(text) - 1, why)

static void all_four_forms_are_read(void **state)
{
    (void)state;
    EXPECT("P5 2 2 255\nabcd", 2, 2, 1, "abcd");
    EXPECT("P6\n# a comment 9 9\n1 2\n255\nabcdef", 1, 2, 3, "abcdef");
    EXPECT("P2 2 1 255 65 # then\n 66", 2, 1, 1, "AB");
    EXPECT("P3 1 1\n255\n65\t66\n67", 1, 1, 3, "ABC");
}

static void other_ranges_are_scaled(void **state)
{
    (void)state;
    EXPECT("P5 3 1 15\n\0\5\17", 3, 1, 1, "\0\125\377");
    EXPECT("P2 2 1 1000 0 1000", 2, 1, 1, "\0\377");
    EXPECT("P5 2 1 65535\n\0\0\377\377", 2, 1, 1, "\0\377");
}

static void faults_are_named(void **state)
{
    (void)state;
    REFUSE("", "does not begin with");
    REFUSE("GIF89a", "does not begin with");
    REFUSE("P4 1 1 \1", "does not begin with");
    REFUSE("P5 x", "expected a width and a height");
    REFUSE("P5 0 4 255\n", "expected a width and a height");
    REFUSE("P5 70000 4 255\n", "expected a width and a height");
    REFUSE("P5 2 2", "maximum value");
    REFUSE("P5 2 2 0\nabcd", "maximum value");
    REFUSE("P5 2 2 255", "expected a space after");
    REFUSE("P5 2 2 255\nabc", "the pixels need 4 bytes, but the file has 3");
    REFUSE("P5 2 2 300\nabcdefg", "the pixels need 8 bytes, but the file has 7");
    REFUSE("P2 2 2 255 1 2 3", "it has 3 values instead of 4");
    REFUSE("P2 2 1 9 3 12", "larger than the stated maximum");
    REFUSE("P5 2 1 9\n\1\20", "larger than the stated maximum");
    REFUSE("P6 65535 65535 255\nabc", "need more than the file's 22 bytes");
}

static void files_are_read_and_missing_ones_named(void **state)
{
    (void)state;
    pbi_image m;
    FILE *file = fopen("test_pnm.pgm", "wb");
    assert_non_null(file);
    fputs("P5 3 1 255\nxyz", file);
    fclose(file);
    assert_int_equal(pbi_pnm_read(&ctx, "test_pnm.pgm", &arena, &m), PB_OK);
    assert_memory_equal(m.pixels, "xyz", 3);
    remove("test_pnm.pgm");
    assert_int_equal(pbi_pnm_read(&ctx, "test_pnm.pgm", &arena, &m), PB_EIO);
    assert_non_null(strstr(ctx.error.message, "test_pnm.pgm"));
}

/* Seeds give different images; a larger one begins with the same pixels. */
static void made_images_are_the_same_everywhere(void **state)
{
    (void)state;
    pbi_image a, b, c;
    assert_int_equal(pbi_image_make(&arena, 100, 50, 1, &a), PB_OK);
    assert_int_equal(pbi_image_make(&arena, 100, 60, 1, &b), PB_OK);
    assert_int_equal(pbi_image_make(&arena, 100, 50, 2, &c), PB_OK);
    assert_memory_equal(a.pixels, b.pixels, 100 * 50 * 3);
    assert_memory_not_equal(a.pixels, c.pixels, 100 * 50 * 3);
    uint64_t sum = 0;
    for (int i = 0; i < 100 * 50 * 3; i++)
        sum = sum * 31 + a.pixels[i];
    assert_int_equal(sum, UINT64_C(0x40f2300d5f49a813));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_four_forms_are_read),
        TEST(other_ranges_are_scaled),
        TEST(faults_are_named),
        TEST(files_are_read_and_missing_ones_named),
        TEST(made_images_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
