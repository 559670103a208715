/* test_plan_svg.c -- a plan as a picture of memory over time. */
#include "unit/report_fixture.h"

static void draw(bench *b, const small_game *s, const char *moves)
{
    bench_open(b, s, moves);
    assert_int_equal(pb_plan_svg_write(&b->ctx, b->certificate, bench_sink(b)), PB_OK);
    assert_string_equal(bench_text(b) + strlen(bench_text(b)) - 7, "</svg>\n");
}

/* How often a piece is in the text. */
static int count_of(const bench *b, const char *piece)
{
    int count = 0;
    for (const char *at = bench_text(b); (at = strstr(at, piece)); at++)
        count++;
    return count;
}

static void the_cap_the_peak_and_each_value_are_drawn(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 4);
    s.cap = 3;
    draw(&b, &s, "c0 c1 f0 c2 f1 c0 c3");
    has(&b, "remat game: peak 3 unit, 10 step, 25.0 % more than computing each value once");
    has(&b, ">cap 3 unit<");
    has(&b, ">peak 3 unit at 3<");                        /* the last computation reads two values */
    assert_int_equal(count_of(&b, "</title></path>"), 4); /* a band for each value */
    has(&b, ">recomputing<");
    assert_null(strstr(bench_text(&b), "slow memory"));
    bench_close(&b);
}

/* The time axis is 680 wide: value 0 of the loop is in memory from 0 to 4 and from 6 to 10 of 10. */
static void a_band_has_the_height_and_the_time_of_its_values(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 4);
    s.cap = 3;
    draw(&b, &s, "c0 c1 f0 c2 f1 c0 c3");
    /* Peak 3 is 300 * 12/13 of 300 pixels: 92.3 for each unit above the base at 358. */
    has(&b, "d=\"M84 358.0H84V265.7H356V358.0H492V265.7H764H764V358.0Z\"><title>0</title>");
    bench_close(&b);
}

static void moves_are_the_time_where_nothing_costs(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    small_game_add(&s, 0, 1, 0);
    small_game_add(&s, 0, 2, 1);
    draw(&b, &s, "c0 c1");
    has(&b, "memory over moves");
    has(&b, "peak 3 unit, 2 moves");
    assert_null(strstr(bench_text(&b), ">computing<"));
    bench_close(&b);
}

static void memory_of_other_kinds_has_plots_of_its_own(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 4);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
    draw(&b, &s, "c0 s0:1 c1 f0 c2 f1 l0:1 c3");
    has(&b, ">slow memory<");
    has(&b, ">transfers<");
    bench_close(&b);
}

static void empty_and_weightless_graphs_are_drawn(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    draw(&b, &s, "");
    bench_close(&b);
    small_game_init(&s);
    small_game_add(&s, 0, 0, 0);
    draw(&b, &s, "c0");
    assert_null(strstr(bench_text(&b), "nan"));
    assert_null(strstr(bench_text(&b), "inf"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cap_the_peak_and_each_value_are_drawn),
        cmocka_unit_test(a_band_has_the_height_and_the_time_of_its_values),
        cmocka_unit_test(moves_are_the_time_where_nothing_costs),
        cmocka_unit_test(memory_of_other_kinds_has_plots_of_its_own),
        cmocka_unit_test(empty_and_weightless_graphs_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
