/* tests/unit/test_slopes.c -- fewest moves on a line of equal steps, against tables, the plain recursion and its cuts. */
#include "plan/reversible/line/slopes.h"
#include "unit/chain_fixture.h"
#include "unit/chain_tables.h"

static void slopes_give_every_searched_figure(void **state)
{
    pb_context ctx;
    pb_arena arena;
    pbi_slopes s;
    (void)state;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pbi_slopes_init(&ctx, &s, 24, 24, &arena), PB_OK);
    for (uint32_t n = 1; n <= 24; n++) {
        assert_int_equal(pbi_slopes_min_pebbles(n), chain_searched[n - 1].least);
        for (uint32_t i = 0; i < chain_searched[n - 1].count; i++)
            assert_int_equal(pbi_slopes_moves(&s, n, chain_searched[n - 1].least + i), chain_searched[n - 1].moves[i]);
    }
    pb_arena_release(&arena);
}

static void slopes_give_the_figures_of_longer_lines(void **state)
{
    pb_context ctx;
    pb_arena arena;
    pbi_slopes s;
    (void)state;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pbi_slopes_init(&ctx, &s, 128, 12, &arena), PB_OK);
    for (size_t i = 0; i < sizeof chain_recursion / sizeof *chain_recursion; i++)
        assert_int_equal(pbi_slopes_moves(&s, chain_recursion[i].length, chain_recursion[i].pebbles),
                         chain_recursion[i].moves);
    pb_arena_release(&arena);
}

/* The recursion as it is written, cut by cut. */
static void cuts_are_best_and_add_up(void **state)
{
    enum { N = 300, K = 40 };
    static uint64_t f[N + 1][K + 1];
    pb_context ctx;
    pb_arena arena;
    pbi_slopes s;
    (void)state;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pbi_slopes_init(&ctx, &s, N, K, &arena), PB_OK);
    for (uint32_t n = 1; n <= N; n++)
        for (uint32_t k = pbi_slopes_min_pebbles(n); k <= K; k++) {
            uint64_t best = n == 1 ? 1 : UINT64_MAX;
            for (uint32_t m = 1; m < n; m++)
                if (pbi_slopes_min_pebbles(m) <= k - 1 && pbi_slopes_min_pebbles(n - m) <= k - 1) {
                    uint64_t moves = f[m][k] + f[n - m][k - 1] + f[m][k - 1];
                    best = moves < best ? moves : best;
                }
            f[n][k] = best;
            assert_int_equal(pbi_slopes_moves(&s, n, k), best);
            if (n == 1)
                continue;
            uint32_t m = pbi_slopes_cut(&s, n, k);
            assert_true(m > 0 && m < n && pbi_slopes_min_pebbles(m) < k && pbi_slopes_min_pebbles(n - m) < k);
            assert_int_equal(f[m][k] + f[n - m][k - 1] + f[m][k - 1], best);
        }
    pb_arena_release(&arena);
}

static void least_pebbles_double_the_length(void **state)
{
    (void)state;
    assert_int_equal(pbi_slopes_min_pebbles(1), 1);
    assert_int_equal(pbi_slopes_min_pebbles(2), 2);
    assert_int_equal(pbi_slopes_min_pebbles(3), 3);
    assert_int_equal(pbi_slopes_min_pebbles(UINT64_C(1) << 31), 32);
    assert_int_equal(pbi_slopes_min_pebbles((UINT64_C(1) << 31) + 1), 33);
}

/* 2,000,000 steps with the fewest pebbles have the most slopes. */
static void long_lines_have_few_runs(void **state)
{
    pb_context ctx;
    pb_arena arena;
    pbi_slopes s;
    (void)state;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pbi_slopes_init(&ctx, &s, 2000000, 22, &arena), PB_OK);
    assert_true(s.start[23] < 20000);
    assert_int_equal(pbi_slopes_moves(&s, 1000000, 21), 364543449);
    assert_int_equal(pbi_slopes_moves(&s, 1000000, 22), 226753793);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_give_every_searched_figure), cmocka_unit_test(slopes_give_the_figures_of_longer_lines),
        cmocka_unit_test(cuts_are_best_and_add_up),          cmocka_unit_test(least_pebbles_double_the_length),
        cmocka_unit_test(long_lines_have_few_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
