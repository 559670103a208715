/* test_strategy_lange.c -- the least memory of a chain, whatever the cap. */
#include "unit/chain_fixture.h"
#include "unit/chain_tables.h"

static void the_peak_is_the_least_there_is(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 24; n++) {
        chain_bench t;
        chain_open(&t, n, 0);
        chain_plan(&t, "lange", PB_UNLIMITED);
        assert_int_equal(t.planned.schedule.metrics.peak, chain_searched[n - 1].least);
        assert_int_equal(t.planned.schedule.metrics.moves, chain_searched[n - 1].moves[0]);
        if (n > 1) {
            chain_plan(&t, "lange", chain_searched[n - 1].least - 1);
            assert_null(t.planned.certificate);
        }
        chain_close(&t);
    }
}

/* Equal sizes: no plan has less memory, so the cap at which it first plans is the first feasible one. */
static void expect_least(const chain_bench *t, const bf_answer *best)
{
    assert_int_equal(t->planned.certificate != NULL, best->feasible);
}

static void it_plans_wherever_equal_sizes_allow(void **state)
{
    (void)state;
    chain_each("lange", CHAIN_COSTS | CHAIN_WORKSPACE | CHAIN_GIVEN | CHAIN_FIXED, 300, expect_least);
}

static void the_plan_does_not_depend_on_the_cap(void **state)
{
    chain_bench t, other;
    (void)state;
    chain_open(&t, 50, 0);
    chain_open(&other, 50, 0);
    chain_plan(&t, "lange", 7);
    chain_plan(&other, "lange", 50);
    const pb_moves *a = &t.planned.schedule.moves, *b = &other.planned.schedule.moves; /* their bounds may differ */
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->move, b->move, a->count * sizeof *a->move);
    chain_close(&t);
    chain_close(&other);
}

static void other_graphs_and_empty_ones_are_told_apart(void **state)
{
    small_game s;
    chain_bench t;
    (void)state;
    chain_open(&t, 0, 0);
    chain_plan(&t, "lange", 0);
    assert_int_equal(t.planned.schedule.metrics.moves, 0);
    chain_close(&t);
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 0);
    chain_open_small(&t, &s);
    chain_plan(&t, "lange", 9);
    chain_expect_reason(&t, PB_GAVE_UP, "does not apply: the graph is not a chain");
    chain_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_is_the_least_there_is),
        cmocka_unit_test(it_plans_wherever_equal_sizes_allow),
        cmocka_unit_test(the_plan_does_not_depend_on_the_cap),
        cmocka_unit_test(other_graphs_and_empty_ones_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
