/* tests/unit/test_blocks_exact.c -- the cheapest plan of a chain of blocks against exhaustive search, and its limits. */
#include "unit/blocks_fixture.h"

static pb_status solve_within(fixture *f, const pbi_blocks *b, uint64_t memory, uint64_t limit)
{
    pbi_block_budget budget = {.memory = memory, .limit = limit};
    return pbi_blocks_exact(&f->ctx, b, &budget, &f->arena, &f->plan);
}

static void solve(fixture *f, const pbi_blocks *b, uint64_t memory)
{
    if (solve_within(f, b, memory, UINT64_MAX) != PB_OK)
        fail_msg("%s", f->ctx.error.message);
}

static void compare_with_search(uint64_t seed, const blocks_like *like)
{
    pbi_rng rng = {seed};
    blocks_case c;
    fixture f;
    blocks_draw(&rng, like, &c);
    uint64_t memory = pbi_rng_below(&rng, blocks_enough(&c.b) * 2 / 3 + 1);
    open_fixture(&f);
    solve(&f, &c.b, memory);
    uint64_t least = blocks_search(&c.b, memory);
    if (f.plan.fits != (least != UINT64_MAX) || (f.plan.fits && f.plan.work != least))
        fail_msg("seed %" PRIu64 ": %" PRIu64 " instead of %" PRIu64, seed, f.plan.work, least);
    if (f.plan.fits)
        check_plan(&f, &c.b, memory);
    close_fixture(&f);
}

static void plans_are_as_cheap_as_exhaustive_search_finds(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(6000); seed++) {
        blocks_like like = {.count = 1 + (uint32_t)(seed % 5), .ways = 1 + (uint32_t)(seed / 5 % 3)};
        like.size = seed % 7 == 0 ? 1000 : 6;
        like.cost = seed % 11 == 0 ? 1000 : 5;
        like.size_unit = like.cost_unit = 1;
        like.usual = seed % 3 == 0;
        compare_with_search(seed, &like);
    }
}

static void longer_plans_replay(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(300); seed++) {
        pbi_rng rng = {seed};
        blocks_like like = {6 + (uint32_t)(seed % 30), 1 + (uint32_t)(seed % 3), 9, 9, 1 + seed % 5, 7, seed % 2};
        blocks_case c;
        fixture f;
        blocks_draw(&rng, &like, &c);
        open_fixture(&f);
        uint64_t enough = blocks_enough(&c.b), before = UINT64_MAX;
        for (uint64_t part = 1; part <= 4; part++) { /* more memory never costs more */
            solve(&f, &c.b, enough * part / 4);
            assert_true(f.plan.fits || before == UINT64_MAX);
            if (!f.plan.fits)
                continue;
            check_plan(&f, &c.b, enough * part / 4);
            assert_true(f.plan.work <= before);
            before = f.plan.work;
        }
        assert_true(before != UINT64_MAX);
        close_fixture(&f);
    }
}

static void nothing_costs_nothing_and_needs_nothing(void **state)
{
    pbi_rng rng = {1};
    blocks_like like = {5, 2, 0, 0, 1, 1, false};
    blocks_case c;
    fixture f;
    (void)state;
    blocks_draw(&rng, &like, &c);
    open_fixture(&f);
    solve(&f, &c.b, 0);
    assert_true(f.plan.fits);
    assert_int_equal(f.plan.work, 0);
    check_plan(&f, &c.b, 0);
    close_fixture(&f);
}

static void no_block_is_no_action(void **state)
{
    uint64_t value = 5, gradient = 3;
    pbi_blocks b = {.value = &value, .gradient = &gradient};
    fixture f;
    (void)state;
    open_fixture(&f);
    solve(&f, &b, 100);
    assert_true(f.plan.fits);
    assert_int_equal(f.plan.count, 0);
    close_fixture(&f);
}

static void too_little_memory_is_told(void **state)
{
    pbi_rng rng = {3};
    blocks_like like = {5, 1, 9, 5, 1, 1, true};
    blocks_case c;
    fixture f;
    (void)state;
    blocks_draw(&rng, &like, &c);
    open_fixture(&f);
    solve(&f, &c.b, c.value[0]);
    assert_false(f.plan.fits);
    close_fixture(&f);
}

/* Sums of sizes pass 64 bits: those parts can never run, and the others are planned. */
static void sizes_near_the_end_of_the_range_do_not_wrap(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        pbi_rng rng = {seed};
        blocks_like like = {4, 2, 6, 5, UINT64_C(1) << 60, 1, false}, small = like;
        blocks_case c, d;
        fixture f, g;
        small.size_unit = 1;
        blocks_draw(&rng, &like, &c);
        rng.state = seed;
        blocks_draw(&rng, &small, &d);
        open_fixture(&f);
        open_fixture(&g);
        solve(&f, &c.b, UINT64_MAX);
        solve(&g, &d.b, 15); /* 2^64 - 1 holds 15 units */
        bool wraps = false;
        for (uint32_t n = 0; n < 8; n++)
            wraps = wraps || d.way[n].forward > 15 || d.way[n].backward > 15 || d.way[n].kept > 15;
        if (!wraps) {
            assert_int_equal(f.plan.fits, g.plan.fits);
            assert_int_equal(f.plan.work, g.plan.work);
        }
        close_fixture(&g);
        close_fixture(&f);
    }
}

static void work_past_the_range_is_an_error(void **state)
{
    pbi_rng rng = {3};
    blocks_like like = {5, 1, 3, 7, 1, UINT64_C(1) << 60, true};
    blocks_case c;
    fixture f;
    (void)state;
    blocks_draw(&rng, &like, &c);
    open_fixture(&f);
    assert_int_equal(solve_within(&f, &c.b, 1000, UINT64_MAX), PB_ERANGE);
    close_fixture(&f);
}

static void the_limit_and_the_ticks_are_kept(void **state)
{
    blocks_case c;
    fixture f;
    (void)state;
    draw_long(&c);
    open_fixture(&f);
    uint64_t memory = blocks_enough(&c.b) / 4;
    unsigned hits = 0; /* where the slots alone do not settle it */
    for (uint64_t less = 0; less < 40; less++) {
        pb_status status = solve_within(&f, &c.b, memory - less * memory / 50, 1);
        assert_true(status == PB_OK || status == PB_ELIMIT);
        hits += status == PB_ELIMIT;
    }
    assert_true(hits > 0);
    f.plan.fits = false;
    f.ctx.tick_limit = 50;
    assert_int_equal(solve_within(&f, &c.b, memory, UINT64_MAX), PB_ELIMIT);
    assert_false(f.plan.fits);
    close_fixture(&f);
}

static void it_stops_when_asked_and_tells_progress(void **state)
{
    blocks_case c;
    fixture f;
    unsigned calls = 0;
    (void)state;
    draw_long(&c);
    open_fixture(&f);
    f.ctx.callback_state = &calls;
    f.ctx.progress = count_progress;
    solve(&f, &c.b, blocks_enough(&c.b) / 4);
    assert_true(calls > 0);
    f.ctx.stop = stop_now;
    assert_int_equal(solve_within(&f, &c.b, 5000, UINT64_MAX), PB_ECANCELLED);
    close_fixture(&f);
}

static void refused_memory_is_told(void **state)
{
    blocks_case c;
    fixture f;
    (void)state;
    draw_long(&c);
    open_fixture(&f);
    for (size_t limit = 1000; limit < 1000000; limit *= 3) {
        f.ctx.memory_limit = limit;
        pb_status status = solve_within(&f, &c.b, 5000, UINT64_MAX);
        assert_true(status == PB_OK || status == PB_ENOMEM);
        if (limit == 1000)
            assert_int_equal(status, PB_ENOMEM);
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_as_cheap_as_exhaustive_search_finds),
        cmocka_unit_test(longer_plans_replay),
        cmocka_unit_test(nothing_costs_nothing_and_needs_nothing),
        cmocka_unit_test(no_block_is_no_action),
        cmocka_unit_test(too_little_memory_is_told),
        cmocka_unit_test(sizes_near_the_end_of_the_range_do_not_wrap),
        cmocka_unit_test(work_past_the_range_is_an_error),
        cmocka_unit_test(the_limit_and_the_ticks_are_kept),
        cmocka_unit_test(it_stops_when_asked_and_tells_progress),
        cmocka_unit_test(refused_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
