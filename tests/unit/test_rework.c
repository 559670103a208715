/* test_rework.c -- the price of making a value again. */
#include "report/rework.h"
#include "unit/report_fixture.h"

/* A path 0 .. 4 of costs 1, 2, 4, 8, 16. */
static void powers(small_game *s)
{
    small_game_init(s);
    for (uint32_t i = 0; i < 5; i++)
        small_game_add(s, 1u << i, 1, i ? 1u << (i - 1) : 0);
}

static void missing_ancestors_are_paid_once(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_rework r;
    powers(&s);
    bench_open(&b, &s, "c0 c1 c2 c3 c4");
    assert_int_equal(pbi_rework_init(&r, &b.game, 1000, &b.arena), PB_OK);
    bool resident[5] = {false, false, false, false, true};
    assert_int_equal(pbi_rework_of(&r, resident, 4).work, 31);
    resident[2] = true;
    assert_int_equal(pbi_rework_of(&r, resident, 4).work, 24);
    resident[3] = true;
    pbi_rework_cost cost = pbi_rework_of(&r, resident, 4);
    assert_int_equal(cost.work, 16);
    assert_true(cost.complete && cost.possible);
    bench_close(&b);
}

static void a_value_that_is_computed_once_cannot_be_made_again(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_rework r;
    powers(&s);
    s.flags[1] = PB_NODE_ONCE;
    bench_open(&b, &s, "c0 c1 c2 c3 c4");
    assert_int_equal(pbi_rework_init(&r, &b.game, 1000, &b.arena), PB_OK);
    bool resident[5] = {false, true, false, false, true};
    assert_true(pbi_rework_of(&r, resident, 4).possible);
    resident[1] = false;
    assert_false(pbi_rework_of(&r, resident, 4).possible);
    bench_close(&b);
}

static void a_copy_in_slow_memory_is_loaded(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_rework r;
    powers(&s);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0] = (pb_tier){.load_cost = 3, .load_per_unit = 2, .cap = PB_UNLIMITED};
    bench_open(&b, &s, "c0 c1 s1:1 c2 c3 c4");
    assert_int_equal(pbi_rework_init(&r, &b.game, 1000, &b.arena), PB_OK);
    bool resident[5] = {false};
    assert_int_equal(pbi_rework_of(&r, resident, 2).work, 7);
    pbi_rework_note(&r, &b.moves.move[2]);
    assert_int_equal(pbi_rework_of(&r, resident, 2).work, 9);
    assert_int_equal(pbi_rework_of(&r, resident, 1).work, 5);
    bench_close(&b);
}

static void effort_is_bounded(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_rework r;
    powers(&s);
    bench_open(&b, &s, "c0 c1 c2 c3 c4");
    assert_int_equal(pbi_rework_init(&r, &b.game, 2, &b.arena), PB_OK);
    bool resident[5] = {false};
    pbi_rework_cost cost = pbi_rework_of(&r, resident, 4);
    assert_false(cost.complete);
    assert_int_equal(cost.work, 24);
    bench_close(&b);
}

static void a_byproduct_costs_its_nodes_computation(void **state)
{
    (void)state;
    small_game s;
    bench b;
    pbi_rework r;
    powers(&s);
    small_game_add(&s, 0, 1, 0); /* 5, a by-product of 2 */
    s.owner[5] = 2;
    small_game_add(&s, 1, 1, 1u << 5 | 1u << 2);
    bench_open(&b, &s, "c0 c1 c2+5 c3 c4 c6");
    assert_int_equal(pbi_rework_init(&r, &b.game, 1000, &b.arena), PB_OK);
    bool resident[7] = {false, true};
    assert_int_equal(pbi_rework_of(&r, resident, 5).work, 4);
    assert_int_equal(pbi_rework_of(&r, resident, 6).work, 5); /* 2 and 5 come from one computation */
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_ancestors_are_paid_once),
        cmocka_unit_test(a_value_that_is_computed_once_cannot_be_made_again),
        cmocka_unit_test(a_copy_in_slow_memory_is_loaded),
        cmocka_unit_test(effort_is_bounded),
        cmocka_unit_test(a_byproduct_costs_its_nodes_computation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
