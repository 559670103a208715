/* tests/unit/test_window.c -- windows over the order: the exact computations of small cases, and the search for k. */
#include "base/rng.h"
#include "plan/sequence/window.h"
#include "plan_fixture.h"
#include "support/cases.h"
#include "support/io_case.h"

#define NO_LIMIT UINT64_MAX

static void events_are(const pbi_sequence *s, const char *expected)
{
    char text[600] = "";
    size_t used = 0;
    for (size_t i = 0; i < s->count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32, i ? " " : "", s->event[i]);
    assert_string_equal(text, expected);
}

/* The computations of a window with this reach; k: every k-th value kept, 0 none. */
static void window_is(const small_game *small, uint32_t reach, uint64_t k, const char *expected)
{
    bench b;
    pbi_sequence s;
    pbi_window window = {.limit = NO_LIMIT};
    bench_open(&b, small);
    pbi_sequence_init(&s, &b.arena);
    if (k)
        assert_int_equal(pbi_window_periodic(&b.game, k, &b.arena, &window), PB_OK);
    if (!k)
        window.reach = reach;
    assert_int_equal(window.reach, reach);
    assert_int_equal(pbi_window_plan(&b.ctx, &b.game, &window, &s), PB_OK);
    events_are(&s, expected);
    bench_close(&b);
}

static void nothing_and_one_node_have_windows(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    window_is(&s, 1, 0, "");
    small_game_add(&s, 1, 1, 0);
    window_is(&s, 1, 0, "0");
    small_game_add(&s, 1, 1, 0);
    window_is(&s, 1, 0, "0 1");
    s.targets = bit(1);
    window_is(&s, 1, 0, "1"); /* what is not needed is not computed */
}

static void keeping_all_computes_all_once(void **state)
{
    (void)state;
    small_game s;
    small_adjoint(&s, 5);
    window_is(&s, 1, 1, "1 2 3 4 5 6 7 8 9 10");
}

/* States 0 .. 9, gradients 10 .. 18. Kept are 3, 6, 9 (and gradients); 7 and 8 are still near when they are read
 * again, 4 and 5 are made from 3, 1 and 2 from 0. */
static void nine_adjoint_steps_in_windows_of_three(void **state)
{
    (void)state;
    small_game s;
    small_adjoint(&s, 9);
    window_is(&s, 3, 3, "1 2 3 4 5 6 7 8 9 10 11 12 4 5 13 14 15 1 2 16 17 18");
}

static void keeping_nothing_starts_from_the_inputs(void **state)
{
    (void)state;
    small_game s;
    small_adjoint(&s, 3);
    window_is(&s, 1, 0, "1 2 3 4 1 5 6");
    small_adjoint(&s, 4);
    window_is(&s, 1, 0, "1 2 3 4 5 1 2 6 7 8");
}

static void once_and_kept_nodes_are_never_made_again(void **state)
{
    (void)state;
    small_game s;
    small_adjoint(&s, 4);
    s.flags[1] = PB_NODE_ONCE;
    window_is(&s, 1, 0, "1 2 3 4 5 2 6 7 8");
    s.flags[1] = 0;
    s.flags[2] = PB_NODE_KEEP;
    window_is(&s, 1, 0, "1 2 3 4 5 6 1 7 8");
}

/* 1 comes with 0 and is read at the end only: 0 is run again for it. */
static void byproducts_are_remade_by_their_node(void **state)
{
    (void)state;
    small_game s;
    small_game_init(&s);
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 0, 1, 0);
    s.owner[1] = 0;
    small_game_add(&s, 1, 1, bit(0));
    small_game_add(&s, 1, 1, bit(2));
    small_game_add(&s, 1, 1, bit(3) | bit(1));
    window_is(&s, 1, 0, "0 2 3 0 4");
    window_is(&s, 3, 0, "0 2 3 4");
    s.flags[0] = PB_NODE_ONCE; /* its by-products too then stay */
    window_is(&s, 1, 0, "0 2 3 4");
}

static void distance_may_be_measured_in_depth(void **state)
{
    (void)state;
    small_game small;
    small_chain(&small, 5);
    small.in[4] |= bit(0);
    for (uint32_t reach = 2; reach <= 3; reach++) {
        bench b;
        pbi_sequence s;
        bench_open(&b, &small);
        pbi_window window = {.coordinate = b.game.graph->depth, .reach = reach, .limit = NO_LIMIT};
        pbi_sequence_init(&s, &b.arena);
        assert_int_equal(pbi_window_plan(&b.ctx, &b.game, &window, &s), PB_OK);
        events_are(&s, reach == 2 ? "0 1 2 3 0 4" : "0 1 2 3 4");
        bench_close(&b);
    }
}

static void the_limit_counts_computations(void **state)
{
    (void)state;
    small_game small;
    small_adjoint(&small, 4); /* 10 computations */
    for (uint64_t limit = 9; limit <= 10; limit++) {
        bench b;
        pbi_sequence s;
        pbi_window window = {.reach = 1, .limit = limit};
        bench_open(&b, &small);
        pbi_sequence_init(&s, &b.arena);
        assert_int_equal(pbi_window_plan(&b.ctx, &b.game, &window, &s), limit == 10 ? PB_OK : PB_ELIMIT);
        if (limit == 9)
            assert_string_equal(b.ctx.error.message, "limit hit: more than 9 computations; raise its option limit");
        bench_close(&b);
    }
}

static void windows_of_random_games_are_legal(void **state)
{
    (void)state;
    for (uint64_t seed = 1, cases = test_cases(1500); seed <= cases; seed++) {
        small_game small;
        bench b;
        pbi_rng rng = {seed};
        small_game_random_large(seed, PB_GAME_REMAT, &small);
        for (pb_node v = 0; v < small.node_count; v++) /* slow values are out of reach here */
            small.flags[v] &= (uint16_t)~PB_NODE_GIVEN_SLOW;
        bench_open(&b, &small);
        uint64_t k = 1 + pbi_rng_below(&rng, 8);
        assert_int_equal(pbi_window_one(&b.ctx, &b.game, pbi_window_periodic, k, NO_LIMIT, &b.plan), PB_OK);
        assert_int_equal(b.plan.outcome, PB_FOUND);
        bench_totals(&b);
        bench_close(&b);
    }
}

/* ---- the search for k ---- */

static pb_status best(bench *b, const char *k)
{
    pb_option option = {"k", k};
    pbi_plan_options options = {.options = &option, .option_count = k ? 1 : 0};
    return pbi_window_best(&b->ctx, &b->game, &options, pbi_window_periodic, b->game.graph->needed_count, &b->plan);
}

/* Under every cap the search finds what the cheapest of its k gives. */
static void the_cheapest_k_that_fits_is_found(void **state)
{
    (void)state;
    static const uint64_t tried[] = {1, 2, 3, 4, 5, 6, 8, 10, 13, 17};
    small_game small;
    small_adjoint(&small, 9);
    unsigned found = 0;
    for (small.cap = 3; small.cap <= 14; small.cap++) {
        uint64_t least = UINT64_MAX, least_k = 0;
        for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
            bench b;
            bench_open(&b, &small);
            assert_int_equal(pbi_window_one(&b.ctx, &b.game, pbi_window_periodic, tried[i], NO_LIMIT, &b.plan), PB_OK);
            uint64_t work = b.plan.outcome == PB_FOUND ? bench_totals(&b).compute_work : UINT64_MAX;
            if (work < least) {
                least = work;
                least_k = tried[i];
            }
            bench_close(&b);
        }
        bench b;
        bench_open(&b, &small);
        assert_int_equal(best(&b, NULL), PB_OK);
        if (least == UINT64_MAX) {
            bench_gave_up(&b, "does not fit: no k tried from 1 to 18 fits the cap");
        } else {
            found++;
            assert_int_equal(bench_totals(&b).compute_work, least);
            assert_string_equal(b.plan.options[0].key, "k");
            assert_true(strtoul(b.plan.options[0].value, NULL, 10) > 0);
            assert_string_equal(b.plan.options[1].key, "limit");
            assert_true(strtoul(b.plan.options[1].value, NULL, 10) >= 22);
        }
        if (small.cap == 14)
            assert_int_equal(least_k, 1); /* room for all: nothing twice */
        bench_close(&b);
    }
    assert_true(found >= 4 && found < 12);
}

static void a_given_k_is_taken(void **state)
{
    (void)state;
    small_game small;
    bench b;
    small_adjoint(&small, 9);
    bench_open(&b, &small);
    assert_int_equal(best(&b, "3"), PB_OK);
    assert_int_equal(bench_totals(&b).compute_count, 22);
    assert_string_equal(b.plan.options[0].value, "3");
    pbi_plan_reset(&b.plan, &b.arena);
    assert_int_equal(best(&b, "0"), PB_EINVAL);
    assert_string_equal(b.ctx.error.message, "k must be a whole number from 1 to 4294967295, not \"0\"");
    assert_int_equal(best(&b, "x"), PB_EINVAL);
    b.game.cap = 4;
    pbi_plan_reset(&b.plan, &b.arena);
    assert_int_equal(best(&b, "3"), PB_OK);
    assert_int_equal(b.plan.outcome, PB_GAVE_UP);
    assert_int_not_equal(b.plan.failed_step, UINT64_MAX); /* with the move that does not fit */
    bench_close(&b);
}

static void ticks_that_run_out_keep_the_best_so_far(void **state)
{
    (void)state;
    small_game small;
    unsigned found = 0, nothing = 0;
    small_adjoint(&small, 9);
    small.cap = 8; /* keeping all does not fit */
    for (uint64_t limit = 1; limit <= 1000; limit += 9) {
        bench b;
        bench_open(&b, &small);
        b.ctx.tick_limit = limit;
        pb_status status = best(&b, NULL);
        if (status == PB_OK) {
            assert_int_equal(b.plan.outcome, PB_FOUND);
            bench_totals(&b);
            found++;
        } else {
            assert_int_equal(status, PB_ELIMIT);
            nothing++;
        }
        assert_int_equal(b.ctx.tick_limit, limit);
        bench_close(&b);
    }
    assert_true(found && nothing);
}

static void refused_allocations_are_clean(void **state)
{
    (void)state;
    small_game small;
    bench b;
    bool done = false;
    small_adjoint(&small, 9);
    small.cap = 8;
    bench_open(&b, &small);
    for (uint64_t refuse = 1; !done; refuse++) {
        failing_allocator memory = {.refuse = refuse};
        pb_context ctx;
        pb_arena arena;
        pbi_plan plan;
        pbi_plan_options options = {0};
        failing_context(&ctx, &memory);
        pb_arena_init(&arena, &ctx);
        pbi_plan_reset(&plan, &arena);
        pb_status status = pbi_window_best(&ctx, &b.game, &options, pbi_window_periodic, 18, &plan);
        done = status == PB_OK;
        assert_true(done || status == PB_ENOMEM);
        pb_arena_release(&arena);
        assert_int_equal(ctx.memory_used, 0);
        assert_int_equal(memory.blocks, 0);
    }
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_and_one_node_have_windows),
        cmocka_unit_test(keeping_all_computes_all_once),
        cmocka_unit_test(nine_adjoint_steps_in_windows_of_three),
        cmocka_unit_test(keeping_nothing_starts_from_the_inputs),
        cmocka_unit_test(once_and_kept_nodes_are_never_made_again),
        cmocka_unit_test(byproducts_are_remade_by_their_node),
        cmocka_unit_test(distance_may_be_measured_in_depth),
        cmocka_unit_test(the_limit_counts_computations),
        cmocka_unit_test(windows_of_random_games_are_legal),
        cmocka_unit_test(the_cheapest_k_that_fits_is_found),
        cmocka_unit_test(a_given_k_is_taken),
        cmocka_unit_test(ticks_that_run_out_keep_the_best_so_far),
        cmocka_unit_test(refused_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
