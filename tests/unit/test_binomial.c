/* test_binomial.c -- what binomial checkpointing costs: published figures, a dynamic program, 10^15 steps. */
#include "adjoint/binomial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

__extension__ typedef unsigned __int128 wide;

static pb_revolve_cost cost_of(uint64_t steps, uint64_t snapshots)
{
    pb_context ctx;
    pb_revolve_cost cost;
    pb_context_init(&ctx);
    assert_int_equal(pb_revolve_count(&ctx, steps, snapshots, &cost), PB_OK);
    return cost;
}

/* Forward steps of firedrake's checkpoint_schedules 1.0.4, `Revolve` and `Multistage`, which agree. */
static void forward_steps_equal_those_of_checkpoint_schedules(void **state)
{
    (void)state;
    static const uint64_t rows[][3] = {
        {10, 2, 30},       {10, 3, 25},       {10, 5, 23},      {10, 10, 19},      {10, 25, 19},      {10, 50, 19},
        {50, 2, 335},      {50, 3, 230},      {50, 5, 172},     {50, 10, 138},     {50, 25, 123},     {50, 50, 99},
        {100, 2, 945},     {100, 3, 590},     {100, 5, 416},    {100, 10, 322},    {100, 25, 273},    {100, 50, 248},
        {500, 2, 10544},   {500, 3, 5180},    {500, 5, 3076},   {500, 10, 2136},   {500, 25, 1622},   {500, 50, 1448},
        {1000, 2, 29820},  {1000, 3, 13155},  {1000, 5, 7284},  {1000, 10, 4636},  {1000, 25, 3622},  {1000, 50, 2948},
        {5000, 2, 333350}, {5000, 3, 114080}, {5000, 5, 52624}, {5000, 10, 30632}, {5000, 25, 21346}, {5000, 50, 18622},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(cost_of(rows[i][0], rows[i][1]).forward_steps.low, rows[i][2]);
}

static void fewest_writes_equal_known_figures(void **state)
{
    (void)state;
    static const uint64_t rows[][3] = {
        {2, 1, 1},    {3, 1, 1},    {3, 2, 2},    {5, 1, 1},     {5, 2, 2},   {5, 3, 3},    {10, 1, 1},
        {10, 2, 4},   {10, 3, 6},   {10, 5, 5},   {20, 1, 1},    {20, 2, 5},  {20, 3, 10},  {20, 5, 14},
        {20, 10, 10}, {50, 1, 1},   {50, 2, 9},   {50, 3, 15},   {50, 5, 29}, {50, 10, 39}, {100, 1, 1},
        {100, 2, 13}, {100, 3, 28}, {100, 5, 44}, {100, 10, 55},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(cost_of(rows[i][0], rows[i][1]).writes, rows[i][2]);
}

/* Fewest forward steps, then fewest writes, over every split. A pair is steps * 2^20 + writes. */
enum { MOST_STEPS = 180, MOST_SLOTS = 12 };
static uint64_t best[MOST_SLOTS + 1][MOST_STEPS + 1]; /* of a segment whose start is already written */

static uint64_t unwritten(uint64_t l, unsigned s)
{
    return s == 0 ? (l == 1 ? 0 : UINT64_C(1) << 60) : best[s][l] + (l > 1);
}

static void closed_forms_equal_the_dynamic_program(void **state)
{
    (void)state;
    for (unsigned s = 1; s <= MOST_SLOTS; s++)
        for (uint64_t l = 2; l <= MOST_STEPS; l++) {
            best[s][l] = UINT64_MAX;
            for (uint64_t m = 1; m < l; m++) {
                uint64_t sum = (m << 20) + unwritten(l - m, s - 1) + best[s][m];
                best[s][l] = sum < best[s][l] ? sum : best[s][l];
            }
            pb_revolve_cost cost = cost_of(l, s);
            assert_int_equal(cost.forward_steps.low, l + (best[s][l] >> 20));
            assert_int_equal(cost.writes, (best[s][l] & 0xfffff) + 1);
        }
}

static wide wide_of(pb_u128 x) { return (wide)x.high << 64 | x.low; }

/* r by counting up, beta by Pascal's rule on exact 128-bit numbers. */
static void sums_beyond_64_bits_are_exact(void **state)
{
    (void)state;
    const uint64_t n = PB_REVOLVE_MAX_STEPS;
    pb_revolve_cost one = cost_of(n, 1);
    assert_true(wide_of(one.forward_steps) == (wide)n * (n + 1) / 2);
    assert_int_equal(one.writes, 1);
    for (uint64_t s = 3; s < 3000; s = s * 3 / 2 + 1)
        for (uint64_t l = n; l > n - 50; l -= 7) {
            wide top = 1, low = 0;
            uint64_t r = 0;
            while (top < l) {
                r++;
                low = top;
                top = top * (s + r) / r;
            }
            pb_revolve_cost cost = cost_of(l, s);
            assert_int_equal(cost.repetitions, r);
            assert_true(wide_of(cost.forward_steps) == (wide)l + (wide)r * l - low * (s + r) / (s + 1));
        }
    assert_true(wide_of(cost_of(n, n - 2).forward_steps) == (wide)n + 2 * (wide)n - n); /* r = 2: 2n - (s + 2) more */
    assert_true(wide_of(cost_of(n, UINT64_MAX).forward_steps) == (wide)n + n - 1);
    assert_int_equal(cost_of(n, UINT64_MAX).writes, n - 1);
    assert_int_equal(cost_of(n, n).actions, 4 * n);
}

static void a_step_runs_at_most_r_times(void **state)
{
    (void)state;
    for (int64_t s = 1; s < 30; s++)
        for (int64_t r = 1; r < 8; r++) {
            uint64_t full = pbi_beta(s, r);
            assert_int_equal(cost_of(full, (uint64_t)s).repetitions, r);
            assert_int_equal(cost_of(full + 1, (uint64_t)s).repetitions, r + 1);
        }
}

static void beta_is_cut_and_never_wraps(void **state)
{
    (void)state;
    assert_int_equal(pbi_beta(-1, 3), 0);
    assert_int_equal(pbi_beta(3, -1), 0);
    assert_int_equal(pbi_beta(0, 9), 1);
    assert_int_equal(pbi_beta(10, 7), 19448);
    assert_int_equal(pbi_beta(30, 30), UINT64_C(118264581564861424));
    assert_int_equal(pbi_beta(40, 40), UINT64_C(1) << 63);
    assert_int_equal(pbi_beta(INT64_MAX / 2, 3), UINT64_C(1) << 63);
}

static void no_steps_and_one_step_need_no_snapshot(void **state)
{
    (void)state;
    pb_revolve_cost none = cost_of(0, 0), one = cost_of(1, 0);
    assert_int_equal(none.forward_steps.low, 0);
    assert_int_equal(none.actions, 2);
    assert_int_equal(one.forward_steps.low, 1);
    assert_int_equal(one.writes, 0);
    assert_int_equal(one.actions, 4);
}

static void what_cannot_be_done_is_refused_with_a_sentence(void **state)
{
    (void)state;
    pb_context ctx;
    pb_revolve_cost cost;
    pb_context_init(&ctx);
    assert_int_equal(pb_revolve_count(&ctx, 2, 0, &cost), PB_EINVAL);
    assert_non_null(strstr(ctx.error.message, "needs at least one snapshot"));
    assert_int_equal(pb_revolve_count(&ctx, PB_REVOLVE_MAX_STEPS + 1, 5, &cost), PB_ERANGE);
    assert_non_null(strstr(ctx.error.message, "too many"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_steps_equal_those_of_checkpoint_schedules),
        cmocka_unit_test(fewest_writes_equal_known_figures),
        cmocka_unit_test(closed_forms_equal_the_dynamic_program),
        cmocka_unit_test(sums_beyond_64_bits_are_exact),
        cmocka_unit_test(a_step_runs_at_most_r_times),
        cmocka_unit_test(beta_is_cut_and_never_wraps),
        cmocka_unit_test(no_steps_and_one_step_need_no_snapshot),
        cmocka_unit_test(what_cannot_be_done_is_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
