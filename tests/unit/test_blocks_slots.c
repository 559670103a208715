/* tests/unit/test_blocks_slots.c -- plans of chains of blocks with memory in slots: they fit, and lie between bounds. */
#include "unit/blocks_fixture.h"

static pb_status solve_in_slots(fixture *f, const pbi_blocks *b, uint64_t memory, uint32_t slots, uint64_t *least)
{
    pbi_block_budget budget = {.memory = memory, .slots = slots};
    return pbi_blocks_slots(&f->ctx, b, &budget, &f->arena, &f->plan, least);
}

static uint64_t solve(fixture *f, const pbi_blocks *b, uint64_t memory, uint32_t slots)
{
    uint64_t least = 12345;
    if (solve_in_slots(f, b, memory, slots, &least) != PB_OK)
        fail_msg("%s", f->ctx.error.message);
    return least;
}

static pbi_blocks_plan solve_exactly(fixture *f, const pbi_blocks *b, uint64_t memory)
{
    pbi_blocks_plan plan;
    pbi_block_budget budget = {.memory = memory, .limit = UINT64_MAX};
    assert_int_equal(pbi_blocks_exact(&f->ctx, b, &budget, &f->arena, &plan), PB_OK);
    return plan;
}

static void whole_slots_give_the_exact_plan(void **state)
{
    unsigned fitted = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(500); seed++) {
        pbi_rng rng = {seed};
        blocks_like like = {1 + (uint32_t)(seed % 23), 1 + (uint32_t)(seed % 3), 7, 9, 64, 3, seed % 2};
        blocks_case c;
        fixture f;
        blocks_draw(&rng, &like, &c);
        uint32_t slots = 1 + (uint32_t)pbi_rng_below(&rng, blocks_enough(&c.b) / 64 + 1);
        open_fixture(&f);
        uint64_t least = solve(&f, &c.b, slots * UINT64_C(64), slots);
        pbi_blocks_plan exact = solve_exactly(&f, &c.b, slots * UINT64_C(64));
        assert_int_equal(f.plan.fits, exact.fits);
        assert_int_equal(least, exact.fits ? exact.work : UINT64_MAX);
        if (exact.fits) {
            assert_int_equal(f.plan.work, exact.work);
            check_plan(&f, &c.b, slots * UINT64_C(64));
            fitted++;
        }
        close_fixture(&f);
    }
    assert_true(fitted > 0);
}

static void plans_fit_and_the_exact_plan_lies_between(void **state)
{
    unsigned fitted = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(500); seed++) {
        pbi_rng rng = {seed};
        uint64_t cost = seed % 4 ? 1000 : UINT64_C(1) << 45; /* the latter is rounded */
        blocks_like like = {1 + (uint32_t)(seed % 31), 1 + (uint32_t)(seed % 3), 1000, cost, 1, 1, seed % 2};
        blocks_case c;
        fixture f;
        blocks_draw(&rng, &like, &c);
        uint64_t memory = pbi_rng_below(&rng, blocks_enough(&c.b));
        open_fixture(&f);
        uint64_t least = solve(&f, &c.b, memory, 1 + (uint32_t)pbi_rng_below(&rng, 300));
        pbi_blocks_plan exact = solve_exactly(&f, &c.b, memory);
        assert_int_equal(f.plan.fits, exact.fits);
        assert_true(exact.fits ? least <= exact.work : least == UINT64_MAX);
        if (f.plan.fits) {
            assert_true(exact.work <= f.plan.work);
            check_plan(&f, &c.b, memory);
            fitted++;
        }
        close_fixture(&f);
    }
    assert_true(fitted > 0);
}

/* Long enough for segments to be left out and for narrow cells. */
static void long_chains_have_plans_between_the_bounds(void **state)
{
    static const uint32_t slots[] = {1000, 60};
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        pbi_rng rng = {seed};
        blocks_like like = {CASE_BLOCKS, 2, 40, 100, 1, 1, true};
        blocks_case c;
        fixture f;
        blocks_draw(&rng, &like, &c);
        open_fixture(&f);
        uint64_t memory = blocks_enough(&c.b) / 8;
        uint64_t least = solve(&f, &c.b, memory, slots[seed - 1]), work = f.plan.work;
        assert_true(f.plan.fits && least <= work);
        check_plan(&f, &c.b, memory);
        assert_int_equal(solve_in_slots(&f, &c.b, memory, slots[seed - 1], NULL), PB_OK);
        assert_int_equal(f.plan.work, work); /* the same without a bound */
        close_fixture(&f);
    }
}

static void nothing_needs_no_slot(void **state)
{
    pbi_rng rng = {1};
    blocks_like like = {5, 2, 0, 0, 1, 1, false};
    uint64_t value = 5, gradient = 3;
    pbi_blocks none = {.value = &value, .gradient = &gradient};
    blocks_case c;
    fixture f;
    (void)state;
    blocks_draw(&rng, &like, &c);
    open_fixture(&f);
    assert_int_equal(solve(&f, &c.b, 0, 0), 0);
    assert_true(f.plan.fits);
    check_plan(&f, &c.b, 0);
    assert_int_equal(solve(&f, &none, 0, 10), 0);
    assert_true(f.plan.fits);
    assert_int_equal(f.plan.count, 0);
    close_fixture(&f);
}

static void large_sizes_and_works_do_not_wrap(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        pbi_rng rng = {seed};
        blocks_like like = {4, 2, 6, 5, UINT64_C(1) << 60, 1, false};
        blocks_case c;
        fixture f;
        blocks_draw(&rng, &like, &c);
        open_fixture(&f);
        uint64_t least = solve(&f, &c.b, UINT64_MAX, 100);
        pbi_blocks_plan exact = solve_exactly(&f, &c.b, UINT64_MAX);
        assert_int_equal(f.plan.fits, exact.fits);
        assert_true(least <= (exact.fits ? exact.work : UINT64_MAX));
        assert_true(!f.plan.fits || exact.work <= f.plan.work);
        like.size_unit = 1;
        like.cost_unit = UINT64_C(1) << 60;
        rng.state = seed;
        blocks_draw(&rng, &like, &c);
        pb_status status = solve_in_slots(&f, &c.b, 30, 30, &least);
        assert_true(status == PB_ERANGE || status == PB_OK);
        close_fixture(&f);
    }
}

static void it_keeps_its_limits(void **state)
{
    blocks_case c;
    fixture f;
    unsigned calls = 0;
    uint64_t least;
    (void)state;
    draw_long(&c);
    open_fixture(&f);
    uint64_t memory = blocks_enough(&c.b) / 4;
    f.ctx.callback_state = &calls;
    f.ctx.progress = count_progress;
    solve(&f, &c.b, memory, 200);
    assert_true(calls > 0 && f.plan.fits);
    f.ctx.tick_limit = 50;
    assert_int_equal(solve_in_slots(&f, &c.b, memory, 200, &least), PB_ELIMIT);
    f.ctx.tick_limit = 0;
    f.ctx.memory_limit = f.ctx.memory_used + 100000;
    assert_int_equal(solve_in_slots(&f, &c.b, memory, 200, &least), PB_ENOMEM);
    f.ctx.memory_limit = 0;
    f.ctx.stop = stop_now;
    assert_int_equal(solve_in_slots(&f, &c.b, memory, 200, &least), PB_ECANCELLED);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_slots_give_the_exact_plan),
        cmocka_unit_test(plans_fit_and_the_exact_plan_lies_between),
        cmocka_unit_test(long_chains_have_plans_between_the_bounds),
        cmocka_unit_test(nothing_needs_no_slot),
        cmocka_unit_test(large_sizes_and_works_do_not_wrap),
        cmocka_unit_test(it_keeps_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
