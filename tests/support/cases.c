/* cases.c -- see cases.h. */
#include "support/cases.h"

#include <stdlib.h>

static uint64_t scale_percent(void)
{
    const char *text = getenv("PEBBLE_TEST_SCALE");
    return text && *text ? strtoull(text, NULL, 10) : 100;
}

uint64_t test_cases(uint64_t standard)
{
    uint64_t count = standard * scale_percent() / 100;
    return count ? count : 1;
}

bool test_is_sample(void) { return scale_percent() < 100; }

uint64_t test_stride(void)
{
    uint64_t percent = scale_percent();
    return percent >= 50 ? 1 : (100 / (percent ? percent : 1)) | 1;
}

bool test_turn(uint64_t *count) { return (*count)++ % test_stride() == 0; }
