/* test_workload_synthetic.c -- the synthetic workload against the same arithmetic in plain loops. */
#include "pebble/full.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS = 7, WORDS = 2 * 128 / 8, ROUNDS = 2, RUNS = 3 };

static uint64_t mix(uint64_t x) { return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9); }

static uint64_t turn(uint64_t x, uint64_t parameter, uint64_t rounds)
{
    for (uint64_t r = 0; r < rounds; r++)
        x = (x ^ x >> 17) * UINT64_C(0x9e3779b97f4a7c15) + parameter;
    return x;
}

/* The sum of gradient 0 in the last of RUNS runs. */
static uint64_t by_hand(void)
{
    uint64_t parameter[STEPS], x[STEPS + 1], sum = 0;
    for (uint64_t i = 0; i < STEPS; i++)
        parameter[i] = mix(i + 1) | 1;
    for (uint64_t run = 0; run < RUNS; run++) {
        sum = 0;
        for (uint64_t i = 0; i < WORDS; i++) {
            x[0] = mix(i + (run << 40));
            for (uint64_t k = 1; k <= STEPS; k++)
                x[k] = turn(x[k - 1], parameter[k - 1], ROUNDS * (1 + k % 3));
            uint64_t gradient = 1;
            for (uint64_t k = STEPS + 1; k-- > 0;)
                gradient = turn(x[k] + gradient, k, 2 * ROUNDS * (1 + k % 3));
            sum += gradient;
        }
        for (uint64_t i = 0; i < STEPS; i++)
            parameter[i] += mix(sum + i) & ~UINT64_C(1);
    }
    return sum;
}

static void results_are_those_of_a_plain_loop(void **state)
{
    (void)state;
    static const pb_option options[] = {{"steps", "7"}, {"batch", "2"}, {"bytes", "128"}, {"work", "2"}};
    pb_context ctx;
    pb_arena arena;
    pb_workload *w;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_workload_open(&ctx, "synthetic", options, 4, &w), PB_OK);
    char want[PB_RUN_TEXT];
    snprintf(want, sizeof want, "sum of the gradient %016llx", (unsigned long long)by_hand());
    for (int keep_all = 0; keep_all < 2; keep_all++) {
        const pb_certificate *plan;
        pb_run_figures figures;
        assert_int_equal(pb_run_program_order(&ctx, pb_workload_graph(w), keep_all, &arena, &plan), PB_OK);
        assert_int_equal(pb_run_plan(&ctx, w, plan, &(pb_run_options){.steps = RUNS}, &arena, &figures), PB_OK);
        assert_string_equal(figures.text, want);
    }
    pb_workload_close(w);
    pb_arena_release(&arena);
}

static void options_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const pb_option bad[][1] = {{{"steps", "0"}},   {{"steps", "100001"}},
                                       {{"batch", "x"}},   {{"bytes", "100"}},
                                       {{"bytes", "0"}},   {{"work", "-1"}},
                                       {{"work", ""}},     {{"unsaid", "-1"}},
                                       {{"steps", "1e3"}}, {{"batch", "99999999999999999999"}}};
    pb_context ctx;
    pb_workload *w = NULL;
    pb_context_init(&ctx);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pb_workload_open(&ctx, "synthetic", bad[i], 1, &w), PB_EINVAL);
        assert_non_null(strstr(ctx.error.message, bad[i][0].key));
        assert_null(w);
    }
    assert_int_equal(ctx.memory_used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_are_those_of_a_plain_loop),
                                       cmocka_unit_test(options_that_cannot_be_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
