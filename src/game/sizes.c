/* sizes.c -- parses sizes and times. Decimals are kept as integers, so that 12.5% of anything is exact. */
#include "game/units.h"
#include "pebble/game.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 9 };

/* number / 10^digits */
typedef struct decimal {
    uint64_t number;
    uint64_t scale;
} decimal;

/* Beyond 64 bits the number is saturated, and *large is set. */
static bool decimal_parse(const char **text, decimal *out, bool *large)
{
    const char *at = *text;
    int after = -1; /* digits after the point */
    *out = (decimal){0, 1};
    *large = false;
    if (*at < '0' || *at > '9')
        return false;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && after < 0); at++) {
        if (*at == '.') {
            after = 0;
            continue;
        }
        unsigned digit = (unsigned)(*at - '0');
        if (after >= 0 && ++after > MAX_DIGITS)
            return false;
        *large |= out->number > (UINT64_MAX - digit) / 10;
        out->number = *large ? UINT64_MAX : out->number * 10 + digit;
        if (after > 0)
            out->scale *= 10;
    }
    *text = at;
    return after != 0;
}

/* a * b / divisor, rounded down or up; false when it passes 64 bits. The divisor is below 2^63. */
static bool multiply_divide(uint64_t a, uint64_t b, uint64_t divisor, bool up, uint64_t *out)
{
    /* Schoolbook: one bit of a at a time, so the remainder never passes 2 * divisor + b's share. */
    uint64_t quotient = 0, remainder = 0;
    uint64_t whole = b / divisor, rest = b % divisor;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t add_whole = a >> bit & 1 ? whole : 0, add_rest = a >> bit & 1 ? rest : 0;
        if (quotient > UINT64_MAX / 2)
            return false;
        quotient *= 2;
        uint64_t carry = 0;
        remainder *= 2;
        if (remainder >= divisor) {
            remainder -= divisor;
            carry++;
        }
        if (remainder >= divisor - add_rest) {
            remainder -= divisor - add_rest;
            carry++;
        } else {
            remainder += add_rest;
        }
        if (add_whole > UINT64_MAX - carry || quotient > UINT64_MAX - carry - add_whole)
            return false;
        quotient += add_whole + carry;
    }
    if (up && remainder) {
        if (quotient == UINT64_MAX)
            return false;
        quotient++;
    }
    *out = quotient;
    return true;
}

bool pb_size_is_share(const char *text)
{
    size_t length = strlen(text);
    return length > 1 && text[length - 1] == '%';
}

bool pb_size_parse(const char *text, const char *size_unit, uint64_t whole, uint64_t *out, char *why, size_t room)
{
    const char *at = text;
    decimal value;
    if (strcmp(text, "none") == 0 || strcmp(text, "unlimited") == 0) {
        *out = PB_UNLIMITED;
        return true;
    }
    bool large, number = decimal_parse(&at, &value, &large), fits = true;
    uint64_t unit = number && *at ? pbi_unit_bytes(at) : 0;
    if (number && strcmp(at, "%") == 0) {
        fits = multiply_divide(value.number, whole, value.scale * 100, true, out);
    } else if (number && *at == '\0' && value.scale == 1) {
        *out = value.number;
    } else if (unit) {
        uint64_t graph_unit = size_unit[1] ? pbi_unit_bytes(size_unit) : 1; /* one letter is not enough */
        /* In the graph's own unit: rounded down, so that the cap is never exceeded. */
        fits = multiply_divide(value.number, unit, value.scale, false, out);
        *out = fits && graph_unit > 1 ? *out / graph_unit : *out;
    } else {
        snprintf(why, room, "expected a size such as 4096, 8GiB, 500MB, 80%% or none, not `%.60s`", text);
        return false;
    }
    if (!fits || large || *out == PB_UNLIMITED) {
        snprintf(why, room, "`%.60s` is too large: sizes must be below 2^64 - 1; use none for no limit", text);
        return false;
    }
    return true;
}

bool pb_time_parse(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"min", 60}, {"h", 3600}};
    const char *at = text;
    decimal value;
    bool large;
    if (!decimal_parse(&at, &value, &large))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(at, units[i].unit) == 0) {
            *seconds = (double)value.number / (double)value.scale * units[i].seconds;
            return true;
        }
    }
    return false;
}
