/* cases.h -- how many random cases a test runs: the environment scales it, and an argument overrides it. */
#ifndef CASES_H
#define CASES_H

#include <stdint.h>

/* `standard` times PEBBLE_TEST_SCALE percent, at least 1. */
uint64_t test_cases(uint64_t standard);

#endif
