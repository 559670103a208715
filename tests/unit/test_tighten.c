/* test_tighten.c -- recomputation that no schedule avoids, worked out by hand. */
#include "pebble/bound.h"
#include "pebble/generate.h"

#include "bound/cut_network.h"
#include "support/small_game.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static pb_bounds tightened(const small_game *s)
{
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_bounds b;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_true(small_game_build(&ctx, s, &arena, &game));
    assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_OK);
    assert_int_equal(pb_bounds_tighten(&ctx, &game, 0, &b), PB_OK);
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
    return b;
}

/* a -> b -> c, and d reads a and c: at the first computation of c, a is kept or recomputed. */
static void bridge(small_game *s, uint64_t cap)
{
    small_game_init(s);
    small_game_add(s, 5, 2, 0);
    small_game_add(s, 1, 2, 1);
    small_game_add(s, 1, 2, 2);
    small_game_add(s, 1, 1, 5);
    s->cap = cap;
}

static void what_does_not_fit_is_made_again(void **state)
{
    (void)state;
    small_game s;
    bridge(&s, 6);
    assert_int_equal(tightened(&s).makespan, 8);
    bridge(&s, 5);
    pb_bounds b = tightened(&s);
    assert_int_equal(b.makespan, 8 + 5);
    assert_int_equal(b.makespan_at, 2);
    assert_int_equal(b.cost.low, 5);
    assert_int_equal(b.least_cap, 5);
    assert_false(b.over);
    s.weights = (pb_weights){0, 0, 25, 1};
    assert_int_equal(tightened(&s).cost.low, 125);
}

static void in_place_memory_is_not_paid_twice(void **state)
{
    (void)state;
    small_game s;
    bridge(&s, 5);
    s.inplace[2] = 2; /* c over b: a can stay */
    assert_int_equal(tightened(&s).makespan, 8);
    s.in[3] = 7; /* but now d reads b as well */
    s.size[3] = 0;
    s.cap = 6;
    assert_int_equal(tightened(&s).makespan, 8);
    s.cap = 5; /* infeasible: d has a, b and c in memory */
    assert_int_equal(tightened(&s).makespan, 8);
}

static void what_cannot_be_made_again_stays(void **state)
{
    (void)state;
    small_game s;
    bridge(&s, 5);
    s.flags[0] = PB_NODE_ONCE;
    pb_bounds b = tightened(&s);
    assert_int_equal(b.least_cap, 6);
    assert_int_equal(b.least_at, 2);
    assert_string_equal(b.least_why, "lasting set");
    s.cap = PB_UNLIMITED; /* it needs no cap to say so */
    assert_int_equal(tightened(&s).least_cap, 6);
    s.flags[0] = PB_NODE_GIVEN;
    assert_int_equal(tightened(&s).least_cap, 6);
}

static void slow_memory_is_a_way_out(void **state)
{
    (void)state;
    small_game s;
    bridge(&s, 5);
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0] = (pb_tier){.store_cost = 1, .load_per_unit = 1, .cap = PB_UNLIMITED};
    assert_int_equal(tightened(&s).makespan, 8 + 3);
    s.tiers[0].store_cost = 9; /* recomputing a is cheaper */
    assert_int_equal(tightened(&s).makespan, 8 + 5);
    s.flags[0] = PB_NODE_ONCE; /* but not allowed */
    assert_int_equal(tightened(&s).makespan, 8 + 11);
    s.tier_count = 0;
    assert_true(tightened(&s).over);
}

/* a is read behind c and again behind f, and fits with neither: it is computed three times. One store would serve both. */
static void two_moments_add_up(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 5, 2, 0);
    small_game_add(&s, 1, 2, 1 << 0);
    small_game_add(&s, 1, 2, 1 << 1);
    small_game_add(&s, 1, 1, 1 << 0 | 1 << 2);
    small_game_add(&s, 1, 2, 1 << 3);
    small_game_add(&s, 1, 2, 1 << 4);
    small_game_add(&s, 1, 1, 1 << 0 | 1 << 5);
    s.cap = 5;
    assert_int_equal(tightened(&s).makespan, 11 + 2 * 5);
    s.cap = 6;
    assert_int_equal(tightened(&s).makespan, 11);
    s.cap = 5;
    s.kind = PB_GAME_TIERED;
    s.tier_count = 1;
    s.tiers[0] = (pb_tier){.store_cost = 1, .load_cost = 1, .cap = PB_UNLIMITED};
    assert_int_equal(tightened(&s).makespan, 11 + 2); /* 11 + 3 is reached */
}

static void costs_near_64_bits_keep_it_valid(void **state)
{
    (void)state;
    small_game s;
    bridge(&s, 5);
    s.cost[0] = UINT64_C(5) << 61;
    pb_bounds b = tightened(&s);
    assert_int_equal(b.makespan, s.cost[0] + 3); /* twice passes 64 bits: no bound can say it */
    s.cost[0] = UINT64_C(1) << 62;
    b = tightened(&s);
    assert_true(b.makespan > s.cost[0] + 3 && b.makespan <= 2 * s.cost[0] + 3);
    s.size[0] = s.size[1] = s.size[2] = UINT64_C(1) << 61;
    s.cap = (UINT64_C(5) << 60) + 1;
    b = tightened(&s);
    assert_true(b.makespan > s.cost[0] + 3 && b.makespan <= 2 * s.cost[0] + 3);
}

static pb_stop stop_now(void *state)
{
    (void)state;
    return PB_STOP_INTERRUPT;
}

static void a_stop_leaves_what_is_known(void **state)
{
    (void)state;
    small_game s;
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_bounds b, before;
    bridge(&s, 5);
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_true(small_game_build(&ctx, &s, &arena, &game));
    assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_OK);
    before = b;
    ctx.stop = stop_now;
    assert_int_equal(pb_bounds_tighten(&ctx, &game, 0, &b), PB_OK);
    assert_int_equal(b.makespan, before.makespan);
    assert_int_equal(ctx.stopped, PB_STOP_INTERRUPT);
    ctx.stop = NULL;
    ctx.stopped = PB_GO_ON;
    ctx.memory_limit = ctx.memory_used + 64;
    assert_int_equal(pb_bounds_tighten(&ctx, &game, 0, &b), PB_ENOMEM);
    assert_int_equal(b.makespan, before.makespan);
    pb_arena_release(&arena);
}

/* Any effort gives a bound, and a larger one no worse: what is found is only added to. */
static void little_effort_is_enough_for_a_bound(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    uint64_t peak, last = 0;
    pb_option params[] = {{"steps", "200"}};
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_generate(&ctx, "adjoint-chain", params, 1, &arena, &g), PB_OK);
    assert_int_equal(pb_graph_program_peak(&ctx, g, &peak), PB_OK);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = peak / 2, .weights = PB_WEIGHTS_DEFAULT};
    for (uint64_t effort = 100; effort <= 100000000; effort *= 100) {
        pb_bounds b;
        assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_OK);
        assert_int_equal(pb_bounds_tighten(&ctx, &game, effort, &b), PB_OK);
        assert_true(b.makespan >= last);
        last = b.makespan;
    }
    assert_true(last >= g->needed_cost + 99); /* half of 200 states are kept at the turning point */
    pb_arena_release(&arena);
}

/* 100 equal steps and a cap of 40: the exact strategy finds 262, and so does the bound. */
static void a_chain_of_equal_steps_is_bounded_by_its_optimum(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    pb_bounds b;
    pb_option params[] = {{"steps", "100"}};
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_generate(&ctx, "adjoint-chain", params, 1, &arena, &g), PB_OK);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = 40, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_OK);
    assert_int_equal(pb_bounds_tighten(&ctx, &game, 0, &b), PB_OK);
    assert_int_equal(b.makespan, 262);
    pb_arena_release(&arena);
}

/* Uneven steps at 60 %: the best plan known does 58 units of work. One moment proves 50, several of them priced together
 * prove more than two apart. */
static void several_moments_hang_together(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    uint64_t peak;
    pb_bounds b, again;
    pb_option params[] = {{"steps", "10"}, {"profile", "random"}, {"spread", "4"}};
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_generate(&ctx, "adjoint-chain", params, 3, &arena, &g), PB_OK);
    assert_int_equal(pb_graph_program_peak(&ctx, g, &peak), PB_OK);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = (peak * 60 + 99) / 100, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_OK);
    again = b;
    assert_int_equal(pb_bounds_tighten(&ctx, &game, 0, &b), PB_OK);
    assert_in_range(b.makespan, 55, 58);
    assert_int_equal(pb_bounds_tighten(&ctx, &game, 0, &again), PB_OK);
    assert_int_equal(again.makespan, b.makespan);
    pb_arena_release(&arena);
}

static void rates_round_to_the_safe_side(void **state)
{
    (void)state;
    const double values[] = {1e-20, 0.3, 1, 7.75, 1e6, 1e17, 1e30};
    const uint64_t sizes[] = {0, 1, 3, 1000003, UINT64_C(1) << 40, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            pbi_rate rate = pbi_rate_of(values[i]);
            int64_t down = pbi_rate_times(rate, sizes[k], false), up = pbi_rate_times(rate, sizes[k], true);
            double exact = pbi_rate_double(rate) * (double)sizes[k];
            assert_true(down <= up && up - down <= 1);
            if (exact < 1e17)
                assert_true((double)down <= exact * (1 + 1e-15) && (double)up >= exact * (1 - 1e-15) &&
                            exact - (double)down < 1 + exact * 1e-15);
            else if (exact > 1e19)
                assert_int_equal(down, PBI_FLOW_INF);
        }
    assert_int_equal(pbi_rate_times(pbi_rate_of(0.5), 3, false), 1);
    assert_int_equal(pbi_rate_times(pbi_rate_of(0.5), 3, true), 2);
    assert_int_equal(pbi_rate_times(pbi_rate_of(0.5), 4, true), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_made_again),
        cmocka_unit_test(in_place_memory_is_not_paid_twice),
        cmocka_unit_test(what_cannot_be_made_again_stays),
        cmocka_unit_test(slow_memory_is_a_way_out),
        cmocka_unit_test(two_moments_add_up),
        cmocka_unit_test(costs_near_64_bits_keep_it_valid),
        cmocka_unit_test(a_stop_leaves_what_is_known),
        cmocka_unit_test(a_chain_of_equal_steps_is_bounded_by_its_optimum),
        cmocka_unit_test(several_moments_hang_together),
        cmocka_unit_test(little_effort_is_enough_for_a_bound),
        cmocka_unit_test(rates_round_to_the_safe_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
