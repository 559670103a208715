/* test_bounds.c -- what no schedule can beat, worked out by hand. */
#include "pebble/bound.h"
#include "support/small_game.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The bounds of a game that must have some. */
static pb_bounds bounds_of(const small_game *s)
{
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_bounds b;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_true(small_game_build(&ctx, s, &arena, &game));
    assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_OK);
    pb_arena_release(&arena);
    return b;
}

static uint64_t tightened_makespan_of(const small_game *s)
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
    return b.makespan;
}

/* a -> b, a -> c, b -> c: costs 1, 1, 3, sizes 1, 1, 2. */
static void tiny(small_game *s, pb_game_kind kind)
{
    small_game_init(s);
    s->kind = kind;
    small_game_add(s, 1, 1, 0);
    small_game_add(s, 1, 1, 1);
    small_game_add(s, 3, 2, 3);
}

static void expect_cap(const small_game *s, uint64_t cap, pb_node at, const char *why)
{
    pb_bounds b = bounds_of(s);
    assert_int_equal(b.least_cap, cap);
    assert_int_equal(b.least_at, at);
    assert_string_equal(b.least_why, why);
}

static void nothing_needs_its_fixed_size(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    expect_cap(&s, 0, PB_NO_NODE, "start");
    s.fixed_size = 9;
    expect_cap(&s, 9, PB_NO_NODE, "start");
    pb_bounds b = bounds_of(&s);
    assert_int_equal(b.makespan, 0);
    assert_true(b.has_cost);
    assert_int_equal(b.cost.low, 0);
    assert_false(b.impossible);
}

static void the_largest_working_set_is_named(void **state)
{
    (void)state;
    small_game s;
    tiny(&s, PB_GAME_REMAT);
    expect_cap(&s, 4, 2, "working set");
    s.workspace[1] = 3;
    expect_cap(&s, 5, 1, "working set");
    s.fixed_size = 2;
    expect_cap(&s, 7, 1, "working set");
    s.targets = 1; /* only a is needed */
    expect_cap(&s, 3, 0, "working set");
}

static void in_place_moves_lower_the_working_set(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 1, 5, 0);
    small_game_add(&s, 1, 3, 0);
    small_game_add(&s, 1, 4, 3);
    expect_cap(&s, 12, 2, "working set");
    s.inplace[2] = 2; /* over the one of size 3 */
    expect_cap(&s, 9, 2, "working set");
    s.inplace[2] = 3; /* over the one of size 5: all of the 4 */
    expect_cap(&s, 8, 2, "working set");
}

static void start_and_end_are_bounds_too(void **state)
{
    (void)state;
    small_game s;
    tiny(&s, PB_GAME_REMAT);
    pb_node x = small_game_add(&s, 0, 50, 0);
    s.flags[x] = PB_NODE_GIVEN;
    expect_cap(&s, 50, PB_NO_NODE, "start"); /* though nothing reads it */
    tiny(&s, PB_GAME_REMAT);
    for (int i = 0; i < 3; i++)
        s.flags[small_game_add(&s, 1, 3, 0)] = PB_NODE_KEEP;
    expect_cap(&s, 9, PB_NO_NODE, "end");
    tiny(&s, PB_GAME_REVERSIBLE);
    s.targets = 7; /* all stay */
    s.size[0] = 3;
    s.in[2] = 2;
    expect_cap(&s, 6, PB_NO_NODE, "end");
}

static void given_values_never_leave_the_reversible_game(void **state)
{
    (void)state;
    small_game s;
    tiny(&s, PB_GAME_REVERSIBLE);
    s.flags[small_game_add(&s, 0, 10, 0)] = PB_NODE_GIVEN;
    expect_cap(&s, 14, 2, "working set");
    s.flags[0] = PB_NODE_GIVEN; /* an input that is given counts once */
    expect_cap(&s, 14, 2, "working set");
    s.kind = PB_GAME_REMAT;
    expect_cap(&s, 11, PB_NO_NODE, "start");
}

static void the_last_value_that_stays_is_made_beside_the_others(void **state)
{
    (void)state;
    small_game s; /* two chains of two: a target each */
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 1);
    pb_node c = small_game_add(&s, 1, 1, 0), d = small_game_add(&s, 1, 1, 4);
    expect_cap(&s, 3, PB_NO_NODE, "end");
    s.size[c] = 5;
    expect_cap(&s, 6, d, "working set");
    s.size[0] = 5;
    expect_cap(&s, 7, PB_NO_NODE, "end");
}

static void makespan_is_needed_work(void **state)
{
    (void)state;
    small_game s;
    tiny(&s, PB_GAME_REMAT);
    assert_int_equal(bounds_of(&s).makespan, 5);
    s.targets = 2;
    assert_int_equal(bounds_of(&s).makespan, 2);
    s.flags[2] = PB_NODE_KEEP;
    assert_int_equal(bounds_of(&s).makespan, 5);
}

static void the_reversible_game_undoes_what_does_not_stay(void **state)
{
    (void)state;
    small_game s;
    tiny(&s, PB_GAME_REVERSIBLE);
    pb_bounds b = bounds_of(&s);
    assert_int_equal(b.makespan, 2 + 2 + 3);
    assert_int_equal(b.cost.low, 2); /* uncompute a and b */
    s.flags[1] = PB_NODE_KEEP;
    assert_int_equal(bounds_of(&s).makespan, 2 + 1 + 3);
    s.inplace[1] = 1; /* b may take a's memory: a then needs no uncomputation */
    assert_int_equal(bounds_of(&s).makespan, 1 + 1 + 3);
}

/* The room next to n5 is for the most expensive value of its cone, whatever n1, which is free and takes no memory, stands between.
 * 40 is what exhaustive search reaches. */
static void free_values_do_not_disturb_the_order_of_others(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 0, 2, 0);
    small_game_add(&s, 0, 0, 1);
    small_game_add(&s, 3, 4, 0);
    s.workspace[small_game_add(&s, 5, 1, 2)] = 4;
    small_game_add(&s, 8, 5, 4 | 8);
    small_game_add(&s, 8, 0, 8 | 16);
    s.cap = 10;
    assert_true(tightened_makespan_of(&s) <= 40);
}

static void values_in_slow_memory_are_loaded_once(void **state)
{
    (void)state;
    small_game s;
    tiny(&s, PB_GAME_TIERED);
    s.tier_count = 1;
    s.tiers[0] = (pb_tier){.store_cost = 100, .load_cost = 7, .load_per_unit = 2, .cap = PB_UNLIMITED};
    s.flags[0] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    s.size[0] = 5;
    pb_bounds b = bounds_of(&s);
    assert_int_equal(b.makespan, 7 + 2 * 5 + 1 + 3);
    assert_int_equal(b.cost.low, 17);
    assert_false(b.impossible);
    small_game_add(&s, 0, 30, 0); /* slow and read by nobody: it may stay there */
    s.flags[3] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    assert_int_equal(bounds_of(&s).makespan, 21);
    s.flags[3] |= PB_NODE_KEEP;
    assert_int_equal(bounds_of(&s).makespan, 21 + 7 + 60);
    expect_cap(&s, 30, PB_NO_NODE, "end");
}

static void slow_values_out_of_reach_are_impossible(void **state)
{
    (void)state;
    small_game s;
    tiny(&s, PB_GAME_REMAT);
    s.flags[0] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    pb_bounds b = bounds_of(&s);
    assert_true(b.impossible);
    assert_int_equal(b.impossible_at, 0);
    s.kind = PB_GAME_TIERED; /* but without tiers */
    assert_true(bounds_of(&s).impossible);
    s.tier_count = 1;
    s.tiers[0].cap = 1;
    assert_false(bounds_of(&s).impossible);
    s.tiers[0].cap = 0; /* it cannot even start there */
    b = bounds_of(&s);
    assert_true(b.impossible);
    assert_int_equal(b.impossible_at, 0);
    tiny(&s, PB_GAME_REMAT);
    s.flags[small_game_add(&s, 0, 1, 0)] = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    assert_false(bounds_of(&s).impossible); /* nobody wants it */
    s.flags[3] |= PB_NODE_KEEP;
    assert_true(bounds_of(&s).impossible);
    s.flags[3] &= (uint16_t)~PB_NODE_KEEP;
    s.kind = PB_GAME_REVERSIBLE; /* where every given value must be there at the end */
    assert_true(bounds_of(&s).impossible);
}

static void cost_weighs_peak_flux_and_extra_work(void **state)
{
    (void)state;
    small_game s;
    tiny(&s, PB_GAME_REVERSIBLE);
    s.weights = (pb_weights){10, 1, 100, 0};
    /* working sets 1, 2, 4: flux at least 2*1*1 + 2*1*2 + 3*4 = 18; peak 4; uncompute 2 */
    pb_bounds b = bounds_of(&s);
    assert_true(b.has_cost);
    assert_int_equal(b.cost.high, 0);
    assert_int_equal(b.cost.low, 10 * 4 + 18 + 100 * 2);
}

static void cost_takes_128_bits(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, UINT64_C(1) << 50, UINT64_C(1) << 60, 0);
    s.weights = (pb_weights){0, UINT64_C(1) << 17, 0, 0};
    pb_bounds b = bounds_of(&s);
    assert_true(b.has_cost);
    assert_int_equal(b.cost.high, UINT64_C(1) << 63);
    assert_int_equal(b.cost.low, 0);
    s.weights.beta <<= 1;
    assert_false(bounds_of(&s).has_cost); /* 2^128 */
    s.weights = (pb_weights){UINT64_MAX, 0, UINT64_MAX, 0};
    b = bounds_of(&s);
    assert_true(b.has_cost);
    assert_int_equal(b.cost.high, (UINT64_C(1) << 60) - 1); /* 2^60 * (2^64 - 1) */
}

static void work_beyond_64_bits_is_an_error(void **state)
{
    (void)state;
    small_game s;
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_bounds b = {.least_cap = 77};
    small_game_init(&s);
    small_game_add(&s, UINT64_C(1) << 63, 1, 0);
    small_game_add(&s, 1, 1, 1);
    s.kind = PB_GAME_REVERSIBLE; /* the first one twice */
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_true(small_game_build(&ctx, &s, &arena, &game));
    assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_ERANGE);
    assert_string_equal(ctx.error.message, "the work of any schedule exceeds 2^64; use a coarser cost unit");
    assert_int_equal(b.least_cap, 77);
    game.kind = PB_GAME_REMAT;
    assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_OK);
    pb_arena_release(&arena);
}

static pb_stop stop_now(void *state)
{
    (void)state;
    return PB_STOP_INTERRUPT;
}

static void a_stop_ends_it(void **state)
{
    (void)state;
    small_game s;
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_bounds b;
    tiny(&s, PB_GAME_REMAT);
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_true(small_game_build(&ctx, &s, &arena, &game));
    ctx.stop = stop_now;
    assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_ECANCELLED);
    pb_arena_release(&arena);
}

/* A chain whose only value with a cost takes no memory: it is kept, and paid once each way. */
static void what_takes_no_memory_is_held_without_charge(void **state)
{
    (void)state;
    small_game s;
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_bounds b;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 0, 0, 0); /* two values on their own, to be sorted among the others */
    small_game_add(&s, 0, 0, 0);
    small_game_add(&s, 0, 1, 0);
    small_game_add(&s, 0, 0, 1u << 2);
    small_game_add(&s, 1, 0, 1u << 3);
    small_game_add(&s, 0, 1, 1u << 4);
    small_game_add(&s, 0, 0, 1u << 5);
    s.cap = 1;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_true(small_game_build(&ctx, &s, &arena, &game));
    assert_int_equal(pb_bounds_make(&ctx, &game, &b), PB_OK);
    assert_int_equal(pb_bounds_tighten(&ctx, &game, 0, &b), PB_OK);
    assert_int_equal(b.makespan, 2);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_needs_its_fixed_size),
        cmocka_unit_test(the_largest_working_set_is_named),
        cmocka_unit_test(in_place_moves_lower_the_working_set),
        cmocka_unit_test(start_and_end_are_bounds_too),
        cmocka_unit_test(given_values_never_leave_the_reversible_game),
        cmocka_unit_test(the_last_value_that_stays_is_made_beside_the_others),
        cmocka_unit_test(makespan_is_needed_work),
        cmocka_unit_test(the_reversible_game_undoes_what_does_not_stay),
        cmocka_unit_test(free_values_do_not_disturb_the_order_of_others),
        cmocka_unit_test(values_in_slow_memory_are_loaded_once),
        cmocka_unit_test(slow_values_out_of_reach_are_impossible),
        cmocka_unit_test(cost_weighs_peak_flux_and_extra_work),
        cmocka_unit_test(cost_takes_128_bits),
        cmocka_unit_test(work_beyond_64_bits_is_an_error),
        cmocka_unit_test(what_takes_no_memory_is_held_without_charge),
        cmocka_unit_test(a_stop_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
