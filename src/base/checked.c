/* checked.c -- 128-bit integers as decimal text, and binomial coefficients. */
#include "base/checked.h"

#include <string.h>

pb_u128 pbi_u128_divide(pb_u128 value, uint32_t divisor, uint32_t *remainder)
{
    uint64_t parts[4] = {value.high >> 32, value.high & UINT32_MAX, value.low >> 32, value.low & UINT32_MAX};
    uint64_t rest = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t now = rest << 32 | parts[i];
        parts[i] = now / divisor;
        rest = now % divisor;
    }
    *remainder = (uint32_t)rest;
    return (pb_u128){parts[0] << 32 | parts[1], parts[2] << 32 | parts[3]};
}

bool pbi_mul_div_up(uint64_t a, uint64_t b, uint64_t divisor, uint64_t *out)
{
    uint64_t product;
    if (pbi_mul(a, b, &product)) {
        *out = product / divisor + (product % divisor != 0);
        return true;
    }
    pb_u128 wide = pbi_u128_product(a, b);
    if (wide.high >= divisor)
        return false;
    uint64_t quotient = 0, rest = wide.high;
    for (int bit = 63; bit >= 0; bit--) { /* long division, a bit at a time: rest < divisor */
        bool carry = rest >> 63;
        rest = rest << 1 | (wide.low >> bit & 1);
        if (carry || rest >= divisor) {
            rest -= divisor;
            quotient |= UINT64_C(1) << bit;
        }
    }
    *out = quotient + (rest != 0);
    return rest == 0 || quotient != UINT64_MAX;
}

uint64_t pbi_beta(int64_t s, int64_t r)
{
    const uint64_t cut = UINT64_C(1) << 63;
    if (s < 0 || r < 0)
        return 0;
    uint64_t few = (uint64_t)(s < r ? s : r), many = (uint64_t)(s < r ? r : s), value = 1;
    for (uint64_t i = 1; i <= few; i++) { /* at least doubles each time: 63 rounds at most */
        uint32_t rest;
        pb_u128 next = pbi_u128_divide(pbi_u128_product(value, many + i), (uint32_t)i, &rest);
        if (next.high || next.low >= cut)
            return cut;
        value = next.low;
    }
    return value;
}

size_t pb_u128_text(pb_u128 value, char text[PB_U128_TEXT])
{
    char digits[PB_U128_TEXT];
    size_t at = sizeof digits;
    do {
        uint32_t digit;
        value = pbi_u128_divide(value, 10, &digit);
        digits[--at] = (char)('0' + digit);
    } while (value.high || value.low);
    size_t length = sizeof digits - at;
    memcpy(text, digits + at, length);
    text[length] = '\0';
    return length;
}

int pb_u128_compare(pb_u128 a, pb_u128 b)
{
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return a.low == b.low ? 0 : a.low < b.low ? -1 : 1;
}

double pb_u128_double(pb_u128 value) { return (double)value.high * 18446744073709551616.0 + (double)value.low; }

bool pbi_u128_parse(const char *text, size_t length, pb_u128 *out)
{
    pb_u128 value = {0, 0};
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        if (!pbi_u128_scale(value, 10, &value) || !pbi_u128_add(&value, pbi_u128((uint64_t)(text[i] - '0'))))
            return false;
    }
    *out = value;
    return length > 0;
}

bool pbi_u64_parse(const char *text, size_t length, uint64_t *out)
{
    pb_u128 value;
    if (!pbi_u128_parse(text, length, &value) || value.high)
        return false;
    *out = value.low;
    return true;
}
