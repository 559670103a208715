/* cases.c -- see cases.h. */
#include "support/cases.h"

#include <stdlib.h>

uint64_t test_cases(uint64_t standard)
{
    const char *text = getenv("PEBBLE_TEST_SCALE");
    uint64_t percent = text && *text ? strtoull(text, NULL, 10) : 100;
    uint64_t count = standard * percent / 100;
    return count ? count : 1;
}
