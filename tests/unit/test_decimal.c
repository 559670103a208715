/* test_decimal.c -- decimals with points and exponents, exactly, and what 64 bits cannot hold. */
#include "base/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void every_way_to_write_a_decimal_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t number;
        uint32_t digits;
        const char *back;
    } cases[] = {
        {"0", 0, 0, "0"},
        {"0.000", 0, 0, "0"},
        {"0e-400", 0, 0, "0"},
        {"12", 12, 0, "12"},
        {"1200", 1200, 0, "1200"},
        {"0.04", 4, 2, "0.04"},
        {"00.0400", 4, 2, "0.04"},
        {".5", 5, 1, "0.5"},
        {"5.", 5, 0, "5"},
        {"1e3", 1000, 0, "1000"},
        {"1.5E+3", 1500, 0, "1500"},
        {"1e-11", 1, 11, "0.00000000001"},
        {"120e-1", 12, 0, "12"},
        {"1e-18", 1, 18, "0.000000000000000001"},
        {"18446744073709551615", UINT64_MAX, 0, "18446744073709551615"},
        {"18.446744073709551615", UINT64_MAX, 18, "18.446744073709551615"},
        {"1.00000000000000000000000000000000", 1, 0, "1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pbi_decimal value;
        char text[PBI_DECIMAL_TEXT];
        assert_int_equal(pbi_decimal_parse(cases[i].text, strlen(cases[i].text), &value), PBI_DECIMAL_FINE);
        assert_int_equal(value.number, cases[i].number);
        assert_int_equal(value.digits, cases[i].digits);
        pbi_decimal_text(value, text);
        assert_string_equal(text, cases[i].back);
    }
}

static void not_a_decimal_and_too_far_differ(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", ".", "e3", "1e", "1e+", "1e1.5", "-1", "+1", "1.2.3", "1 ", "nan", "0x1"};
    static const char *const far[] = {
        "18446744073709551616", "1e20", "1e-19", "1e99999999999999999999", "0.0000000000000000001",
        "1.8446744073709551616"};
    pbi_decimal value = {7, 7};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pbi_decimal_parse(wrong[i], strlen(wrong[i]), &value), PBI_DECIMAL_WRONG);
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        assert_int_equal(pbi_decimal_parse(far[i], strlen(far[i]), &value), PBI_DECIMAL_TOO_FAR);
    assert_int_equal(value.number, 7); /* untouched */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_write_a_decimal_is_read),
        cmocka_unit_test(not_a_decimal_and_too_far_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
