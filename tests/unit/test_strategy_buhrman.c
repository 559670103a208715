/* test_strategy_buhrman.c -- segments of a chain: the two ends of the scale, what lies between, and honest refusals. */
#include "unit/chain_fixture.h"

static void segments_of_one_compute_and_uncompute_once(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 100, 0);
    chain_plan(&t, "buhrman:segment=1", PB_UNLIMITED);
    assert_int_equal(t.planned.schedule.metrics.moves, 199);
    assert_int_equal(t.planned.schedule.metrics.peak, 100);
    chain_close(&t);
}

static void one_segment_is_the_least_memory(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 64, 0);
    chain_plan(&t, "buhrman:segment=1000", PB_UNLIMITED);
    assert_int_equal(t.planned.schedule.metrics.peak, 7);
    assert_int_equal(t.planned.schedule.metrics.moves, 531);
    chain_close(&t);
}

/* (2 n / l - 1) F(l) moves and n / l + log2(l) values: F(4) = 9 with 3 values, F(8) = 25 with 4. */
static void segments_between_follow_the_formula(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 64, 0);
    chain_plan(&t, "buhrman:segment=4", PB_UNLIMITED);
    assert_int_equal(t.planned.schedule.metrics.moves, 31 * 9);
    assert_int_equal(t.planned.schedule.metrics.peak, 16 + 2);
    chain_plan(&t, "buhrman:segment=8", PB_UNLIMITED);
    assert_int_equal(t.planned.schedule.metrics.moves, 15 * 25);
    assert_int_equal(t.planned.schedule.metrics.peak, 8 + 3);
    chain_close(&t);
}

static void a_length_that_does_not_divide_leaves_a_shorter_segment(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 10, 0);
    chain_plan(&t, "buhrman:segment=4", PB_UNLIMITED); /* 4 and 4 made and unmade, 2 made */
    assert_int_equal(t.planned.schedule.metrics.moves, 4 * 9 + 3);
    chain_close(&t);
}

static void the_cheapest_length_that_fits_is_chosen(void **state)
{
    chain_bench t;
    (void)state;
    chain_open(&t, 64, 0);
    chain_plan(&t, "buhrman", 17);
    assert_int_equal(t.planned.schedule.metrics.moves, 15 * 25);
    chain_plan(&t, "buhrman", 18);
    assert_int_equal(t.planned.schedule.metrics.moves, 31 * 9);
    chain_plan(&t, "buhrman", 6);
    chain_expect_reason(&t, PB_INFEASIBLE, "every plan needs 7 unit");
    chain_close(&t);
}

static void claim_nothing_false(const chain_bench *t, const bf_answer *best)
{
    const pb_schedule *s = &t->planned.schedule;
    assert_true(s->outcome != PB_INFEASIBLE || !best->feasible);
    if (s->outcome == PB_OPTIMAL)
        assert_int_equal(s->metrics.makespan, best->value);
}

static void random_chains_are_played_honestly(void **state)
{
    (void)state;
    chain_each("buhrman", CHAIN_COSTS | CHAIN_SIZES | CHAIN_WORKSPACE | CHAIN_GIVEN | CHAIN_STOPS, 300,
               claim_nothing_false);
}

static void other_graphs_and_empty_ones_are_told_apart(void **state)
{
    small_game s;
    chain_bench t;
    (void)state;
    chain_open(&t, 0, 0);
    chain_plan(&t, "buhrman", 0);
    assert_int_equal(t.planned.schedule.metrics.moves, 0);
    chain_close(&t);
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 0);
    chain_open_small(&t, &s);
    chain_plan(&t, "buhrman", 9);
    chain_expect_reason(&t, PB_GAVE_UP, "does not apply: the graph is not a chain");
    chain_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_of_one_compute_and_uncompute_once),
        cmocka_unit_test(one_segment_is_the_least_memory),
        cmocka_unit_test(segments_between_follow_the_formula),
        cmocka_unit_test(a_length_that_does_not_divide_leaves_a_shorter_segment),
        cmocka_unit_test(the_cheapest_length_that_fits_is_chosen),
        cmocka_unit_test(random_chains_are_played_honestly),
        cmocka_unit_test(other_graphs_and_empty_ones_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
