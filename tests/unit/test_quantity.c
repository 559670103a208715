/* test_quantity.c -- numbers as people read them. */
#include "unit/report_fixture.h"

static void reads(uint64_t value, const char *unit, const char *expected)
{
    char text[64];
    size_t length = pb_quantity_text(value, unit, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
}

static void counts_are_grouped_by_thousands(void **state)
{
    (void)state;
    reads(0, "pebble", "0");
    reads(999, "pebble", "999");
    reads(1000, "pebble", "1,000");
    reads(12345678, NULL, "12,345,678");
    reads(UINT64_MAX, "step", "18,446,744,073,709,551,615");
}

static void bytes_take_binary_units(void **state)
{
    (void)state;
    reads(0, "byte", "0 B");
    reads(1023, "byte", "1023 B");
    reads(1024, "byte", "1 KiB");
    reads(1536, "byte", "1.5 KiB");
    reads(UINT64_C(8) << 30, "byte", "8 GiB");
    reads((UINT64_C(5) << 20) / 4, "bytes", "1.25 MiB");
}

static void sizes_never_look_larger_than_they_are(void **state)
{
    (void)state;
    reads((UINT64_C(1) << 30) - 1, "byte", "1023.99 MiB");
    reads(UINT64_MAX, "byte", "15.99 EiB");
}

static void times_take_the_unit_that_fits(void **state)
{
    (void)state;
    reads(0, "ns", "0 ns");
    reads(999, "ns", "999 ns");
    reads(1000, "ns", "1.000 µs");
    reads(12344, "ns", "12.34 µs");
    reads(999940, "ns", "999.9 µs");
    reads(999960, "ns", "1.000 ms");
    reads(1234567890, "ns", "1.235 s");
    reads(5, "us", "5 µs");
    reads(61000, "ms", "61.00 s");
    reads(12345, "s", "12345 s");
    char text[64];
    assert_int_equal(pb_amount_text(2500, "us", text, sizeof text), strlen("2.500 ms"));
    assert_true(pb_unit_is_time("ms") && !pb_unit_is_time("step") && !pb_unit_is_time(NULL));
}

static void amounts_in_parts_of_a_unit_read_as_products(void **state)
{
    (void)state;
    char text[64];
    assert_int_equal(pb_amount_text(12, "step", text, sizeof text), strlen("12 step"));
    assert_string_equal(text, "12 step");
    assert_int_equal(pb_amount_text(1200, "0.1 step", text, sizeof text), strlen("1,200 x 0.1 step"));
    assert_string_equal(text, "1,200 x 0.1 step");
}

static void flux_reads(pb_u128 flux, const char *size_unit, const char *cost_unit, const char *expected)
{
    char text[64];
    assert_int_equal(pb_flux_text(flux, size_unit, cost_unit, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
}

static void flux_takes_a_unit_of_size_and_one_of_cost(void **state)
{
    (void)state;
    char text[64] = "untouched";
    flux_reads((pb_u128){0, 0}, "byte", "ns", "0 B·ns");
    flux_reads((pb_u128){0, 1023}, "byte", "ns", "1,023 B·ns");
    flux_reads((pb_u128){0, 1536}, "byte", "ns", "1.500 KiB·ns");
    flux_reads((pb_u128){0, 1024 * 2500}, "byte", "ns", "2.500 KiB·µs");
    flux_reads((pb_u128){0, UINT64_C(87331376326757276)}, "byte", "ns", "81.33 GiB·ms");
    flux_reads((pb_u128){0, UINT64_C(1073741824) * 12345678900}, "byte", "ns", "12.35 GiB·s");
    flux_reads((pb_u128){0, UINT64_C(1073741824) * 5000}, "byte", "s", "5,000 GiB·s");
    flux_reads((pb_u128){1000000, 0}, "byte", "flop", "17.18 GiB·Pflop");
    flux_reads((pb_u128){0, 649}, "pebble", "ns", "649 pebble·ns");
    flux_reads((pb_u128){0, 649000}, "pebble", "ns", "649.0 pebble·µs");
    flux_reads((pb_u128){0, 3 << 20}, "byte", "hash", "3.000 MiB·hash");
    assert_int_equal(pb_flux_text((pb_u128){0, 649}, "pebble", "step", text, sizeof text), 0);
    assert_string_equal(text, "untouched");
}

static void a_short_room_is_not_overrun(void **state)
{
    (void)state;
    char text[5] = "....";
    assert_int_equal(pb_quantity_text(1234567, "step", text, 4), 9);
    assert_string_equal(text, "1,2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_grouped_by_thousands),
        cmocka_unit_test(bytes_take_binary_units),
        cmocka_unit_test(sizes_never_look_larger_than_they_are),
        cmocka_unit_test(times_take_the_unit_that_fits),
        cmocka_unit_test(amounts_in_parts_of_a_unit_read_as_products),
        cmocka_unit_test(flux_takes_a_unit_of_size_and_one_of_cost),
        cmocka_unit_test(a_short_room_is_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
