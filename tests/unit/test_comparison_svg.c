/* test_comparison_svg.c -- a comparison as a picture. */
#include "unit/report_fixture.h"

#include "pebble/summary.h"

/* The loop of report_fixture.h under a cap of 3: keeping everything needs 4. */
static void compare(bench *b, const char *strategies, pb_comparison *rows)
{
    small_game s;
    small_loop(&s, 4);
    s.cap = 3;
    bench_open(b, &s, NULL);
    pb_compare_request request = {.strategies = strategies, .games = PB_GAME_REMAT, .plan = PB_REQUEST_DEFAULT};
    assert_int_equal(pb_compare(&b->ctx, &b->game, &request, &b->arena, rows), PB_OK);
    assert_int_equal(pb_comparison_svg_write(&b->ctx, &b->game, rows, bench_sink(b)), PB_OK);
}

static void plans_have_bars_and_failures_their_reason(void **state)
{
    (void)state;
    bench b;
    pb_comparison rows;
    compare(&b, "cache-all,last-use,bennett,knill", &rows);
    has(&b, "class=\"best\">★ last-use<");
    has(&b, "width=\"300.0\""); /* the peak is the cap */
    has(&b, ">does not fit: move 3 (compute 3) needs 4 unit, 1 over the cap of 3 unit<");
    has(&b, ">cap<");
    assert_true(strstr(bench_text(&b), "last-use") < strstr(bench_text(&b), "cache-all"));
    bench_close(&b);
}

static void strategies_that_do_not_apply_are_left_out(void **state)
{
    (void)state;
    bench b;
    pb_comparison rows;
    compare(&b, "tree", &rows);
    assert_int_equal(rows.row_count, 1);
    assert_null(strstr(bench_text(&b), ">tree<"));
    has(&b, "no strategy applies to this graph");
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_have_bars_and_failures_their_reason),
        cmocka_unit_test(strategies_that_do_not_apply_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
