/* decimal.c -- see decimal.h. */
#include "base/decimal.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdio.h>

enum { FARTHEST = 100000 }; /* larger exponents are read, but no value with them fits 64 bits */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The power of ten after an e; false when there is none. */
static bool read_exponent(const char *at, const char *end, int64_t *out)
{
    bool minus = at < end && *at == '-';
    int64_t value = 0;
    at += at < end && (*at == '-' || *at == '+');
    if (at == end)
        return false;
    for (; at < end && is_digit(*at); at++)
        value = value < FARTHEST ? value * 10 + (*at - '0') : value;
    *out = minus ? -value : value;
    return at == end;
}

/* *value * 10^times; false when that passes 64 bits. */
static bool times_ten(uint64_t *value, int64_t times)
{
    for (; times > 0 && *value; times--)
        if (!pbi_mul(*value, 10, value))
            return false;
    return true;
}

pbi_decimal_verdict pbi_decimal_parse(const char *text, size_t length, pbi_decimal *out)
{
    const char *at = text, *end = text + length;
    uint64_t value = 0;
    int64_t zeros = 0, behind = 0, exponent = 0; /* zeros not yet taken; digits after the point */
    bool point = false, any = false, far = false;
    for (; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        any = true;
        behind += point;
        zeros++;
        if (*at == '0')
            continue;
        far = far || !times_ten(&value, zeros) || !pbi_add(value, (uint64_t)(*at - '0'), &value);
        zeros = 0;
    }
    bool has_exponent = at < end && (*at == 'e' || *at == 'E');
    if (!any || (has_exponent ? !read_exponent(at + 1, end, &exponent) : at < end))
        return PBI_DECIMAL_WRONG;
    if (!value && !far) {
        *out = (pbi_decimal){0, 0};
        return PBI_DECIMAL_FINE;
    }
    int64_t power = zeros - behind + exponent; /* value * 10^power */
    if (far || power < -PBI_MAX_DECIMALS || (power > 0 && !times_ten(&value, power)))
        return PBI_DECIMAL_TOO_FAR;
    *out = (pbi_decimal){value, power < 0 ? (uint32_t)-power : 0};
    return PBI_DECIMAL_FINE;
}

uint64_t pbi_decimal_unit(uint32_t digits)
{
    uint64_t unit = 1;
    for (uint32_t i = 0; i < digits; i++)
        unit *= 10;
    return unit;
}

void pbi_decimal_text(pbi_decimal value, char text[PBI_DECIMAL_TEXT])
{
    uint64_t unit = pbi_decimal_unit(value.digits), rest = value.number % unit;
    int used = snprintf(text, PBI_DECIMAL_TEXT, "%" PRIu64, value.number / unit);
    if (!rest)
        return;
    text[used++] = '.';
    for (unit /= 10; rest; unit /= 10) {
        text[used++] = (char)('0' + rest / unit);
        rest %= unit;
    }
    text[used] = '\0';
}
