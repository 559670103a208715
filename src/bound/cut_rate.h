/* cut_rate.h -- a price per unit of memory, exact enough to be rounded to the safe side. */
#ifndef PBI_CUT_RATE_H
#define PBI_CUT_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* A price of memory: mantissa / 2^shift units of scaled work for each unit of size. */
typedef struct pbi_rate {
    uint64_t mantissa;
    unsigned shift; /* below 128 */
} pbi_rate;
pbi_rate pbi_rate_of(double value);
double pbi_rate_double(pbi_rate rate);
/* rate * size rounded down or up, at most PBI_FLOW_INF. */
int64_t pbi_rate_times(pbi_rate rate, uint64_t size, bool up);

#endif
