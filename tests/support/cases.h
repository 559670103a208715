/* cases.h -- how many random cases a test runs: the environment scales it, and an argument overrides it. */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stdint.h>

/* `standard` times PEBBLE_TEST_SCALE percent, at least 1. */
uint64_t test_cases(uint64_t standard);
/* Does the environment ask for less than everything? Then the most expensive checks are shortened further. */
bool test_is_sample(void);

/* Every how many cases of a loop that goes through all of them one is taken: 1 from 50 percent on, below that an odd number that leaves
 * about so many percent. The builds that only repeat what another one has checked take a sample. */
uint64_t test_stride(void);
/* Is it this case's turn? Counts up. */
bool test_turn(uint64_t *count);

#endif
