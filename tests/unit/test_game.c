/* test_game.c -- names of games, and weights as exact decimals both ways. */
#include "base/rng.h"
#include "pebble/game.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void games_read_back_by_name(void **state)
{
    (void)state;
    static const pb_game_kind kinds[] = {PB_GAME_REMAT, PB_GAME_REVERSIBLE, PB_GAME_TIERED};
    static const char *const names[] = {"remat", "reversible", "tiered"};
    for (int i = 0; i < 3; i++) {
        pb_game_kind kind;
        assert_string_equal(pb_game_kind_name(kinds[i]), names[i]);
        assert_true(pb_game_kind_parse(names[i], &kind));
        assert_int_equal(kind, kinds[i]);
    }
    pb_game_kind kind = PB_GAME_TIERED;
    static const char *const bad[] = {"", "Remat", "remat ", "unknown", "rematx", "all"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pb_game_kind_parse(bad[i], &kind));
    assert_int_equal(kind, PB_GAME_TIERED);
    assert_string_equal(pb_game_kind_name((pb_game_kind)3), "unknown");
}

static void weights_are_read_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        pb_weights weights;
    } cases[] = {
        {"0,0,1", {0, 0, 1, 0}},
        {"1,2,3", {1, 2, 3, 0}},
        {"0.5,0,1", {5, 0, 10, 1}},
        {"0.125,3,0.01", {125, 3000, 10, 3}},
        {".5,1.,0", {5, 10, 0, 1}},
        {"1.000,2.50,0.0", {10, 25, 0, 1}}, /* trailing zeros say nothing */
        {"0.000000001,0,1", {1, 0, 1000000000, 9}},
        {"18446744073709551615,0,0", {UINT64_MAX, 0, 0, 0}},
        {"007,00,1", {7, 0, 1, 0}},
        {"18446744073.709551615,0,0", {UINT64_MAX, 0, 0, 9}},
        {"0,1e-11,1", {0, 1, 100000000000, 11}},
        {"1e3,2.5E+1,1.0000000001", {10000000000000, 250000000000, 10000000001, 10}},
        {"0e99,1e-18,1", {0, 1, UINT64_C(1000000000000000000), 18}},
    };
    pb_context ctx;
    pb_context_init(&ctx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pb_weights w;
        assert_int_equal(pb_weights_parse(&ctx, NULL, cases[i].text, &w), PB_OK);
        assert_int_equal(w.alpha, cases[i].weights.alpha);
        assert_int_equal(w.beta, cases[i].weights.beta);
        assert_int_equal(w.gamma, cases[i].weights.gamma);
        assert_int_equal(w.digits, cases[i].weights.digits);
    }
}

static void anything_else_is_refused_with_the_text(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "1",       "1,2",    "1,2,3,4", "1,2,",    ",1,2",      "1,,2",
                                      "a,b,c", "-1,0,1",  "1e,0,1", "1,2,3 ",  "1..0,2",  "1.2.3,0,0", "+1,0,0",
                                      ".,0,0", "0x1,0,0", "1,2;3",  "1, 2,3",  "nan,0,0", "1e-,0,0"};
    pb_context ctx;
    pb_context_init(&ctx);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pb_weights w = {9, 9, 9, 9};
        assert_int_equal(pb_weights_parse(&ctx, NULL, bad[i], &w), PB_EINVAL);
        char quoted[60];
        snprintf(quoted, sizeof quoted, "not \"%s\"", bad[i]);
        assert_non_null(strstr(ctx.error.message, quoted));
        assert_int_equal(w.alpha, 9); /* untouched */
    }
    pb_weights w;
    assert_int_equal(pb_weights_parse(&ctx, NULL, "18446744073709551616,0,0", &w), PB_ERANGE);
    assert_int_equal(pb_weights_parse(&ctx, NULL, "0,1e-19,1", &w), PB_ERANGE);
    assert_int_equal(pb_weights_parse(&ctx, NULL, "0,1e-18,100", &w), PB_ERANGE);
    assert_int_equal(pb_weights_parse(&ctx, NULL, "18446744073709551615,0.1,0", &w),
                     PB_ERANGE); /* times ten is too much */
    assert_non_null(strstr(ctx.error.message, "too many digits"));
}

static void expect_weights(const char *cost_unit, const char *size_unit, const char *text, pb_weights expected)
{
    pb_context ctx;
    pb_graph g = {.cost_unit = cost_unit, .size_unit = size_unit};
    pb_weights w;
    pb_context_init(&ctx);
    assert_int_equal(pb_weights_parse(&ctx, &g, text, &w), PB_OK);
    assert_int_equal(w.alpha, expected.alpha);
    assert_int_equal(w.beta, expected.beta);
    assert_int_equal(w.gamma, expected.gamma);
    assert_int_equal(w.digits, expected.digits);
}

static void units_are_converted_to_those_of_the_graph(void **state)
{
    (void)state;
    const uint64_t one = UINT64_C(1000000000000000000);
    expect_weights("ns", "byte", "0.5s/GiB,0,1", (pb_weights){UINT64_C(465661287307739258), 0, one, 18});
    expect_weights("flop", "byte", "2Gflop/GiB,0,1", (pb_weights){UINT64_C(1862645149230957031), 0, one, 18});
    expect_weights("ns", "byte", "0,0.01/GiB,1", (pb_weights){0, 9313226, one, 18});
    expect_weights("ns", "byte", "1ms/KB,0,1", (pb_weights){1000, 0, 1, 0}); /* exact: no more digits than needed */
    expect_weights("s", "MiB", "9ms/KiB,0,1", (pb_weights){9216, 0, 1000, 3});
    expect_weights("ns", "byte", "1h,0,1", (pb_weights){UINT64_C(3600000000000), 0, 1, 0});
    expect_weights("min", "byte", "1s/B,0,1", (pb_weights){UINT64_C(16666666666666667), 0, one, 18});
    expect_weights("step", "pebble", "2step/pebble,0.5/pebble,1", (pb_weights){20, 5, 10, 1});
    expect_weights("0.01 step", "pebble", "2step,0,1", (pb_weights){200, 0, 1, 0});
    /* Fewer digits, because 93.1 * 10^18 passes 2^64. */
    expect_weights("ns", "byte", "100s/GiB,0,1", (pb_weights){UINT64_C(9313225746154785156), 0, one / 10, 17});
    expect_weights("ns", "byte", "1,0,0.001", (pb_weights){1000, 0, 1, 3});
    expect_weights("ns", "byte", "1e3us/MB,2e-1,1", (pb_weights){10, 2, 10, 1});
}

static void weights_can_be_named(void **state)
{
    (void)state;
    expect_weights("ns", "byte", "peak=1ms/KB", (pb_weights){1000, 0, 1, 0});
    expect_weights("ns", "byte", "time=2,flux=3", (pb_weights){0, 3, 2, 0});
    expect_weights("ns", "byte", "recompute=0,peak=1", (pb_weights){1, 0, 0, 0});
    expect_weights("ns", "byte", "work=0.5", (pb_weights){0, 0, 5, 1});
}

static void wrong_units_are_refused_with_the_choices(void **state)
{
    (void)state;
    static const struct {
        const char *cost_unit, *size_unit, *text, *named, *choices;
        pb_status status;
    } cases[] = {
        {"flop", "byte", "0.5s/GiB,0,1", "`s` is not a unit", "use flop, Kflop, Mflop", PB_EINVAL},
        {"ns", "byte", "0.5Gflop/GiB,0,1", "`Gflop` is not a unit", "use ns, us, ms, s, min or h", PB_EINVAL},
        {"ns", "byte", "1s/pebble,0,1", "`pebble` is not a unit", "use byte, KiB, MiB", PB_EINVAL},
        {"step", "pebble", "1s/pebble,0,1", "`s` is not a unit", "use step", PB_EINVAL},
        {"step", "pebble", "0,1/GiB,1", "`GiB` is not a unit", "use pebble", PB_EINVAL},
        {"ns", "byte", "1s/,0,1", "`` is not a unit", "use byte", PB_EINVAL},
        {"ns", "byte", "0,1s/GiB,1", "`s/GiB`", "0.01/GiB", PB_EINVAL},
        {"ns", "byte", "0,0,1s", "`s`", "write a decimal", PB_EINVAL},
        {"ns", "byte", "peak=1,peak=2", "not \"peak=1,peak=2\"", "peak=A", PB_EINVAL},
        {"ns", "byte", "height=1", "not \"height=1\"", "peak=A", PB_EINVAL},
        {"ns", "byte", "peak=1,2", "not \"peak=1,2\"", "peak=A", PB_EINVAL},
        {"ns", "byte", "peak=", "not \"peak=\"", "peak=A", PB_EINVAL},
        {"s", "byte", "1ns/GiB,0,1", "too many digits", "at most 18", PB_ERANGE}, /* 9.3e-19 would be 1e-18 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pb_context ctx;
        pb_graph g = {.cost_unit = cases[i].cost_unit, .size_unit = cases[i].size_unit};
        pb_weights w = {9, 9, 9, 9};
        pb_context_init(&ctx);
        assert_int_equal(pb_weights_parse(&ctx, &g, cases[i].text, &w), cases[i].status);
        assert_non_null(strstr(ctx.error.message, cases[i].named));
        assert_non_null(strstr(ctx.error.message, cases[i].choices));
        assert_int_equal(w.alpha, 9); /* untouched */
    }
}

static void weights_are_written_in_their_shortest_form(void **state)
{
    (void)state;
    static const struct {
        pb_weights weights;
        const char *alpha, *beta, *gamma;
    } cases[] = {
        {{0, 0, 1, 0}, "0", "0", "1"},
        {{5, 0, 10, 1}, "0.5", "0", "1"},
        {{125, 3000, 10, 3}, "0.125", "3", "0.01"},
        {{1, 1000000000, 1500000000, 9}, "0.000000001", "1", "1.5"},
        {{UINT64_MAX, UINT64_MAX - 5, 1000, 9}, "18446744073.709551615", "18446744073.70955161", "0.000001"},
        {{UINT64_MAX, 0, 7, 0}, "18446744073709551615", "0", "7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        pb_weight_text(&cases[i].weights, 0, text);
        assert_string_equal(text, cases[i].alpha);
        pb_weight_text(&cases[i].weights, 1, text);
        assert_string_equal(text, cases[i].beta);
        pb_weight_text(&cases[i].weights, 2, text);
        assert_string_equal(text, cases[i].gamma);
    }
}

static void weights_read_back_from_their_text(void **state)
{
    (void)state;
    pb_context ctx;
    pbi_rng rng = {4};
    pb_context_init(&ctx);
    for (int i = 0; i < 20000; i++) {
        pb_weights w = {pbi_rng_next(&rng) >> (3 + pbi_rng_below(&rng, 60)), pbi_rng_below(&rng, 1000),
                        pbi_rng_below(&rng, 1000000), (uint32_t)pbi_rng_below(&rng, 10)};
        char part[3][32], text[100];
        for (int k = 0; k < 3; k++)
            pb_weight_text(&w, k, part[k]);
        snprintf(text, sizeof text, "%s,%s,%s", part[0], part[1], part[2]);
        pb_weights back;
        assert_int_equal(pb_weights_parse(&ctx, NULL, text, &back), PB_OK);
        assert_true(back.digits <= w.digits);
        uint64_t unit = 1;
        for (uint32_t d = back.digits; d < w.digits; d++)
            unit *= 10;
        assert_int_equal(back.alpha * unit, w.alpha);
        assert_int_equal(back.beta * unit, w.beta);
        assert_int_equal(back.gamma * unit, w.gamma);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(games_read_back_by_name),
        cmocka_unit_test(weights_are_read_exactly),
        cmocka_unit_test(anything_else_is_refused_with_the_text),
        cmocka_unit_test(units_are_converted_to_those_of_the_graph),
        cmocka_unit_test(weights_can_be_named),
        cmocka_unit_test(wrong_units_are_refused_with_the_choices),
        cmocka_unit_test(weights_are_written_in_their_shortest_form),
        cmocka_unit_test(weights_read_back_from_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
