/* checked.h -- integers with overflow checks, and 128-bit sums without compiler extensions. */
#ifndef PBI_CHECKED_H
#define PBI_CHECKED_H

#include "pebble/base.h"

/* *out = a + b; false (and *out wrapped) on overflow. */
static inline bool pbi_add(uint64_t a, uint64_t b, uint64_t *out)
{
    *out = a + b;
    return *out >= a;
}

/* *out = a * b; false on overflow. */
static inline bool pbi_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    *out = a * b;
    return a == 0 || ((a | b) >> 32) == 0 || *out / a == b;
}

static inline uint64_t pbi_add_saturated(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static inline pb_u128 pbi_u128(uint64_t value) { return (pb_u128){0, value}; }

/* Full product of two 64-bit integers. */
static inline pb_u128 pbi_u128_product(uint64_t a, uint64_t b)
{
    if (((a | b) >> 32) == 0)
        return (pb_u128){0, a * b};
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t low = al * bl, mid1 = ah * bl, mid2 = al * bh, high = ah * bh;
    uint64_t carry = ((low >> 32) + (uint32_t)mid1 + (uint32_t)mid2) >> 32;
    return (pb_u128){high + (mid1 >> 32) + (mid2 >> 32) + carry, a * b};
}

/* *sum += value; false on overflow. */
static inline bool pbi_u128_add(pb_u128 *sum, pb_u128 value)
{
    uint64_t low = sum->low + value.low;
    uint64_t carry = low < value.low;
    uint64_t high = sum->high + value.high;
    bool ok = high >= value.high && high + carry >= carry;
    sum->low = low;
    sum->high = high + carry;
    return ok;
}

/* *out = a * b; false on overflow. */
static inline bool pbi_u128_scale(pb_u128 a, uint64_t b, pb_u128 *out)
{
    pb_u128 high = pbi_u128_product(a.high, b);
    *out = pbi_u128_product(a.low, b);
    out->high += high.low;
    return high.high == 0 && out->high >= high.low;
}

/* value / divisor, with the remainder; divisor is not 0 and below 2^32. */
pb_u128 pbi_u128_divide(pb_u128 value, uint32_t divisor, uint32_t *remainder);
/* *out = ceil(a * b / divisor), exactly; false on overflow. The divisor is not 0. */
bool pbi_mul_div_up(uint64_t a, uint64_t b, uint64_t divisor, uint64_t *out);
/* C(s + r, s), saturated at 2^63; 0 if one of them is negative. */
uint64_t pbi_beta(int64_t s, int64_t r);
/* Decimal digits only; false on anything else or overflow. */
bool pbi_u128_parse(const char *text, size_t length, pb_u128 *out);
bool pbi_u64_parse(const char *text, size_t length, uint64_t *out);

#endif
