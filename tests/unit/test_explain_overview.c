/* test_explain_overview.c -- where a plan's work and memory go. */
#include "report/explain.h"
#include "unit/report_fixture.h"

static void the_overview_adds_up(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_overview o;
    small_loop(&s, 5);
    bench_open(&b, &s, "c0 c1 f0 c2 f1 c3 f2 c0 c4");
    assert_int_equal(pbi_overview_make(&b.ctx, b.certificate, 10, &b.arena, &o), PB_OK);
    assert_int_equal(o.moves, 9);
    assert_int_equal(o.once_work, 10);
    assert_int_equal(o.again_work, 2);
    assert_int_equal(o.again_count, 1);
    assert_int_equal(o.again_values, 1);
    assert_int_equal(o.again_length, 1);
    assert_int_equal(o.again[0].node, 0);
    assert_int_equal(o.again[0].times, 2);
    /* 3 waits over the remaking of 0, which takes 2. */
    assert_int_equal(o.kept_length, 1);
    assert_int_equal(o.kept[0].node, 3);
    assert_int_equal(o.kept[0].held.low, 2);
    assert_true(o.kept[0].possible && o.kept[0].complete);
    assert_int_equal(o.kept[0].saves, 6); /* 1, 2 and 3 again, from 0 */
    bench_close(&b);
}

static void the_longest_holder_comes_first_and_lists_are_cut(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_overview o;
    small_game_init(&s);
    for (uint32_t i = 0; i < 4; i++)
        small_game_add(&s, 1, i + 1, 0);
    small_game_add(&s, 1, 1, 15);
    bench_open(&b, &s, "c0 c1 c2 c3 c4");
    assert_int_equal(pbi_overview_make(&b.ctx, b.certificate, 2, &b.arena, &o), PB_OK);
    assert_int_equal(o.kept_values, 3);
    assert_int_equal(o.kept_length, 2);
    assert_int_equal(o.kept[0].node, 1); /* 2 over 2; 0: 1 over 3; 2: 3 over 1 */
    assert_int_equal(o.kept[0].held.low, 4);
    assert_int_equal(o.kept[1].node, 0);
    assert_int_equal(o.kept[1].held.low, 3);
    bench_close(&b);
}

static void an_empty_plan_has_nothing_to_tell(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_overview o;
    small_game_init(&s);
    bench_open(&b, &s, "");
    assert_int_equal(pbi_overview_make(&b.ctx, b.certificate, 10, &b.arena, &o), PB_OK);
    assert_int_equal(o.kept_length + o.again_length, 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_overview_adds_up),
        cmocka_unit_test(the_longest_holder_comes_first_and_lists_are_cut),
        cmocka_unit_test(an_empty_plan_has_nothing_to_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
