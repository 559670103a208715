/* test_checked.c -- integers that say when they overflow, against the compiler's own 128 bits. */
#include "base/checked.h"
#include "base/rng.h"
#include "support/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

__extension__ typedef unsigned __int128 wide;

static wide wide_of(pb_u128 x) { return (wide)x.high << 64 | x.low; }
static pb_u128 u128_of(wide x) { return (pb_u128){(uint64_t)(x >> 64), (uint64_t)x}; }

/* Values of every length, often next to a power of two. */
static uint64_t awkward(pbi_rng *rng)
{
    unsigned shift = (unsigned)pbi_rng_below(rng, 64);
    uint64_t value = pbi_rng_next(rng) >> shift;
    switch (pbi_rng_below(rng, 4)) {
    case 0: return UINT64_C(1) << shift;
    case 1: return (UINT64_C(1) << shift) - 1;
    case 2: return UINT64_MAX - value;
    default: return value;
    }
}

static void sums_say_when_they_pass_64_bits(void **state)
{
    (void)state;
    uint64_t out;
    assert_true(pbi_add(UINT64_MAX - 1, 1, &out));
    assert_int_equal(out, UINT64_MAX);
    assert_false(pbi_add(UINT64_MAX, 1, &out));
    assert_false(pbi_add(UINT64_MAX, UINT64_MAX, &out));
    assert_true(pbi_add(0, 0, &out));
    assert_int_equal(out, 0);
    assert_int_equal(pbi_add_saturated(UINT64_MAX, 1), UINT64_MAX);
    assert_int_equal(pbi_add_saturated(UINT64_MAX - 5, 5), UINT64_MAX);
    assert_int_equal(pbi_add_saturated(UINT64_MAX - 5, 4), UINT64_MAX - 1);
    assert_int_equal(pbi_add_saturated(1, UINT64_MAX), UINT64_MAX);
}

static void products_say_when_they_pass_64_bits(void **state)
{
    (void)state;
    uint64_t out;
    assert_true(pbi_mul(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &out));
    assert_int_equal(out, UINT64_C(0xffffffff00000000));
    assert_false(pbi_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
    assert_true(pbi_mul(0, UINT64_MAX, &out));
    assert_int_equal(out, 0);
    assert_true(pbi_mul(UINT64_MAX, 0, &out));
    assert_true(pbi_mul(UINT64_MAX, 1, &out));
    assert_false(pbi_mul(UINT64_MAX, 2, &out));
    assert_true(pbi_mul(UINT64_C(6700417), UINT64_C(2753074036095), &out)); /* 2^64 - 1 = 6700417 * 2753074036095 */
    assert_int_equal(out, UINT64_MAX);
    assert_false(pbi_mul(UINT64_C(6700417), UINT64_C(2753074036096), &out));
}

static void full_products_have_known_values(void **state)
{
    (void)state;
    pb_u128 p = pbi_u128_product(UINT64_MAX, UINT64_MAX); /* 2^128 - 2^65 + 1 */
    assert_int_equal(p.high, UINT64_MAX - 1);
    assert_int_equal(p.low, 1);
    p = pbi_u128_product(UINT64_C(1) << 63, 2);
    assert_int_equal(p.high, 1);
    assert_int_equal(p.low, 0);
    p = pbi_u128_product(UINT64_C(10000000000000000000), UINT64_C(10000000000000000000)); /* 10^38 */
    char text[PB_U128_TEXT];
    assert_int_equal(pb_u128_text(p, text), 39);
    assert_string_equal(text, "100000000000000000000000000000000000000");
}

static void arithmetic_agrees_with_the_compiler_on_random_values(void **state)
{
    (void)state;
    pbi_rng rng = {1};
    for (uint64_t i = 0, n = test_cases(200000); i < n; i++) {
        uint64_t a = awkward(&rng), b = awkward(&rng), out;
        pb_u128 x = {awkward(&rng), awkward(&rng)}, y = {awkward(&rng), awkward(&rng)}, sum = x, scaled;
        if (pbi_rng_below(&rng, 3) == 0)
            x.high = 0;
        sum = x;
        wide product = (wide)a * b, total;
        assert_int_equal(pbi_mul(a, b, &out), product <= UINT64_MAX);
        assert_int_equal(pbi_add(a, b, &out), (wide)a + b <= UINT64_MAX);
        assert_true(wide_of(pbi_u128_product(a, b)) == product);
        assert_int_equal(pbi_u128_add(&sum, y), !__builtin_add_overflow(wide_of(x), wide_of(y), &total));
        assert_true(wide_of(sum) == total);
        bool fits = pbi_u128_scale(x, a, &scaled);
        assert_int_equal(fits, !__builtin_mul_overflow(wide_of(x), (wide)a, &total));
        assert_true(!fits || wide_of(scaled) == total);
        uint32_t divisor = (uint32_t)a ? (uint32_t)a : 1, rest;
        assert_true(wide_of(pbi_u128_divide(x, divisor, &rest)) == wide_of(x) / divisor);
        assert_int_equal(rest, (uint64_t)(wide_of(x) % divisor));
        int order = wide_of(x) < wide_of(y) ? -1 : wide_of(x) > wide_of(y);
        assert_int_equal(pb_u128_compare(x, y), order);
    }
}

static void decimal_text_reads_back_equal(void **state)
{
    (void)state;
    pbi_rng rng = {2};
    char text[PB_U128_TEXT];
    for (int i = 0; i < 5000; i++) {
        pb_u128 x = {pbi_rng_below(&rng, 2) ? awkward(&rng) : 0, awkward(&rng)}, back;
        size_t length = pb_u128_text(x, text);
        assert_int_equal(length, strlen(text));
        assert_true(pbi_u128_parse(text, length, &back));
        assert_int_equal(pb_u128_compare(x, back), 0);
    }
}

static void the_largest_values_have_their_text(void **state)
{
    (void)state;
    char text[PB_U128_TEXT];
    pb_u128 x;
    assert_int_equal(pb_u128_text((pb_u128){UINT64_MAX, UINT64_MAX}, text), 39);
    assert_string_equal(text, "340282366920938463463374607431768211455");
    assert_true(pbi_u128_parse(text, 39, &x));
    assert_int_equal(x.high, UINT64_MAX);
    assert_int_equal(x.low, UINT64_MAX);
    assert_false(pbi_u128_parse("340282366920938463463374607431768211456", 39, &x)); /* 2^128 */
    assert_false(pbi_u128_parse("999999999999999999999999999999999999999", 39, &x));
    assert_int_equal(pb_u128_text((pb_u128){1, 0}, text), 20);
    assert_string_equal(text, "18446744073709551616");
    assert_int_equal(pb_u128_text((pb_u128){0, 0}, text), 1);
    assert_string_equal(text, "0");
    uint64_t y;
    assert_true(pbi_u64_parse("18446744073709551615", 20, &y));
    assert_int_equal(y, UINT64_MAX);
    assert_false(pbi_u64_parse("18446744073709551616", 20, &y));
    assert_int_equal(y, UINT64_MAX); /* untouched */
}

static void only_digits_are_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "a", "1_0", ":", "/"};
    pb_u128 x;
    uint64_t y;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(pbi_u128_parse(bad[i], strlen(bad[i]), &x));
        assert_false(pbi_u64_parse(bad[i], strlen(bad[i]), &y));
    }
    assert_true(pbi_u64_parse("007", 3, &y));
    assert_int_equal(y, 7);
    assert_true(pbi_u64_parse("123456", 3, &y)); /* only the length counts */
    assert_int_equal(y, 123);
}

static void doubles_are_near(void **state)
{
    (void)state;
    assert_true(pb_u128_double((pb_u128){0, 0}) == 0.0);
    assert_true(pb_u128_double((pb_u128){0, 5}) == 5.0);
    assert_true(pb_u128_double((pb_u128){1, 0}) == 18446744073709551616.0);
    pbi_rng rng = {3};
    for (int i = 0; i < 1000; i++) {
        pb_u128 x = u128_of((wide)pbi_rng_next(&rng) << 64 | pbi_rng_next(&rng));
        double right = (double)wide_of(x), got = pb_u128_double(x);
        assert_true(got >= right * (1 - 1e-15) && got <= right * (1 + 1e-15));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_say_when_they_pass_64_bits),
        cmocka_unit_test(products_say_when_they_pass_64_bits),
        cmocka_unit_test(full_products_have_known_values),
        cmocka_unit_test(arithmetic_agrees_with_the_compiler_on_random_values),
        cmocka_unit_test(decimal_text_reads_back_equal),
        cmocka_unit_test(the_largest_values_have_their_text),
        cmocka_unit_test(only_digits_are_numbers),
        cmocka_unit_test(doubles_are_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
