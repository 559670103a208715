/* test_plot_text.c -- the plot keeps to its frame and shows cap and peak. */
#include "unit/report_fixture.h"

static uint32_t characters(const char *line, size_t length)
{
    uint32_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)line[i] & 0xc0) != 0x80;
    return count;
}

/* The number of lines, none of them wider than `width`. */
static uint32_t lines_within(const char *text, uint32_t width)
{
    uint32_t lines = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        assert_true(characters(text, length) <= width);
        text += length + 1;
        lines++;
    }
    return lines;
}

static void draw(bench *b, const pb_plot_style *style)
{
    bench_empty(b);
    assert_int_equal(pb_plot_write(&b->ctx, b->certificate, style, bench_sink(b)), PB_OK);
}

static void the_plot_keeps_to_its_width_and_height(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 5);
    s.cap = 4;
    bench_open(&b, &s, "c0 c1 f0 c2 f1 c3 f2 c0 c4");
    for (uint32_t width = 20; width <= 160; width += 7)
        for (uint32_t height = 4; height <= 20; height += 3)
            for (int unicode = 0; unicode < 2; unicode++) {
                draw(&b, &(pb_plot_style){.width = width, .height = height, .unicode = unicode});
                assert_int_equal(lines_within(bench_text(&b), width), height);
            }
    bench_close(&b);
}

static void slow_memory_has_a_line_within_the_frame(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 4);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
    bench_open(&b, &s, "c0 s0:1 c1 f0 c2 f1 l0:1 c3");
    draw(&b, &(pb_plot_style){.width = 60, .height = 9, .unicode = true});
    assert_int_equal(lines_within(bench_text(&b), 60), 9);
    has(&b, " slow\n");
    bench_close(&b);
}

static void plain_plots_are_ascii(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 5);
    bench_open(&b, &s, "c0 c1 c2 c3 c4");
    draw(&b, &(pb_plot_style){.width = 60, .height = 10});
    for (const char *c = bench_text(&b); *c; c++)
        assert_true((unsigned char)*c < 128);
    has(&b, "^ peak 5");
    assert_null(strstr(bench_text(&b), "cap"));
    bench_close(&b);
}

static void a_near_cap_is_drawn_and_a_far_one_is_not(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 5);
    s.cap = 6;
    bench_open(&b, &s, "c0 c1 c2 c3 c4");
    draw(&b, &(pb_plot_style){.width = 60, .height = 10, .unicode = true});
    has(&b, "╌ cap\n");
    has(&b, "peak 5 of 6 (83 %)");
    bench_close(&b);
    s.cap = 1000;
    bench_open(&b, &s, "c0 c1 c2 c3 c4");
    draw(&b, &(pb_plot_style){.width = 60, .height = 10, .unicode = true});
    assert_null(strstr(bench_text(&b), "cap"));
    bench_close(&b);
}

static void colour_is_only_there_when_asked_for(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_tiny(&s);
    bench_open(&b, &s, "c0 c1 c2");
    draw(&b, &(pb_plot_style){.width = 60, .height = 8});
    assert_null(strchr(bench_text(&b), '\033'));
    draw(&b, &(pb_plot_style){.width = 60, .height = 8, .color = true});
    assert_non_null(strchr(bench_text(&b), '\033'));
    bench_close(&b);
}

static void nothing_at_all_can_be_drawn(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    bench_open(&b, &s, "");
    draw(&b, &(pb_plot_style){.width = 60, .height = 8, .unicode = true});
    has(&b, "peak 0");
    small_game_add(&s, 0, 0, 0);
    bench_close(&b);
    bench_open(&b, &s, "c0"); /* no cost: the axis counts moves */
    draw(&b, &(pb_plot_style){.width = 60, .height = 8, .unicode = true});
    has(&b, "1 moves");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plot_keeps_to_its_width_and_height),
        cmocka_unit_test(slow_memory_has_a_line_within_the_frame),
        cmocka_unit_test(plain_plots_are_ascii),
        cmocka_unit_test(a_near_cap_is_drawn_and_a_far_one_is_not),
        cmocka_unit_test(colour_is_only_there_when_asked_for),
        cmocka_unit_test(nothing_at_all_can_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
