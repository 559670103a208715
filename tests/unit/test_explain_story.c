/* test_explain_story.c -- the life of one value. */
#include "report/explain.h"
#include "unit/report_fixture.h"

static void a_value_made_again_has_two_lives(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_story story;
    small_loop(&s, 5); /* 4 reads 3 and 0 */
    bench_open(&b, &s, "c0 c1 f0 c2 f1 c3 f2 c0 c4");
    assert_int_equal(pbi_story_make(&b.ctx, b.certificate, 0, &b.arena, &story), PB_OK);
    assert_int_equal(story.life_count, 2);
    assert_int_equal(story.computed, 2);
    assert_int_equal(story.spent_again, 2);
    const pbi_life *first = &story.lives[0], *second = &story.lives[1];
    assert_int_equal(first->made, 0);
    assert_int_equal(first->first_use, 1);
    assert_int_equal(first->removed, 2);
    assert_int_equal(first->again, 7);
    assert_int_equal(second->made, 7);
    assert_int_equal(second->first_use, 8);
    assert_true(second->removed == PBI_NO_STEP);
    assert_int_equal(second->full, 2);
    assert_int_equal(second->full_step, 3);
    assert_int_equal(second->other_count, 2);
    assert_int_equal(story.gap_count, 0); /* it never waits: it is read at once both times */
    bench_close(&b);
}

static void keeping_a_value_over_a_gap_saves_its_remaking(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_story story;
    small_loop(&s, 5);
    bench_open(&b, &s, "c0 c1 c2 f1 c3 f2 c4");
    assert_int_equal(pbi_story_make(&b.ctx, b.certificate, 0, &b.arena, &story), PB_OK);
    assert_int_equal(story.life_count, 1);
    assert_int_equal(story.gap_count, 1);
    assert_int_equal(story.gaps[0].from, 1);
    assert_int_equal(story.gaps[0].to, 6);
    assert_int_equal(story.gaps[0].time, 4);
    assert_int_equal(story.gaps[0].held.low, 4);
    assert_int_equal(story.gaps[0].saves.work, 2);
    assert_int_equal(story.lives[0].uses, 2);
    bench_close(&b);
}

static void a_value_that_is_not_made_has_no_life(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_story story;
    small_tiny(&s);
    small_game_add(&s, 1, 1, 0);
    s.targets = 1u << 2;
    bench_open(&b, &s, "c0 c1 c2");
    assert_int_equal(pbi_story_make(&b.ctx, b.certificate, 3, &b.arena, &story), PB_OK);
    assert_int_equal(story.life_count, 0);
    assert_int_equal(story.computed, 0);
    bench_close(&b);
}

static void a_given_value_lives_from_the_start(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_story story;
    small_tiny(&s);
    s.flags[0] = PB_NODE_GIVEN;
    s.cost[0] = 0;
    bench_open(&b, &s, "c1 c2 f0");
    assert_int_equal(pbi_story_make(&b.ctx, b.certificate, 0, &b.arena, &story), PB_OK);
    assert_int_equal(story.life_count, 1);
    assert_true(story.lives[0].made == PBI_NO_STEP);
    assert_int_equal(story.lives[0].removed, 2);
    assert_int_equal(story.lives[0].uses, 2);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_made_again_has_two_lives),
        cmocka_unit_test(keeping_a_value_over_a_gap_saves_its_remaking),
        cmocka_unit_test(a_value_that_is_not_made_has_no_life),
        cmocka_unit_test(a_given_value_lives_from_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
