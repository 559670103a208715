/* whole.c -- see whole.h. */
#include "whole.h"

/* Reads the digits at the start of `text`. False if there are none or the number is above `max`. */
static bool take_digits(const char *text, uint64_t max, uint64_t *out, const char **end)
{
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (digit > max || number > (max - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *out = number;
    *end = at;
    return at != text;
}

bool whole_read(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t number;
    const char *end;
    if (!take_digits(text, max, &number, &end) || *end)
        return false;
    *out = number;
    return true;
}

bool whole_id(const char *text, char letter, uint64_t *number, const char **rest)
{
    const char *end;
    if (text[0] != letter || text[1] == '0' || !take_digits(text + 1, UINT64_MAX, number, &end))
        return false;
    *rest = *end == '/' ? end + 1 : end;
    return *end == '\0' || (*end == '/' && end[1]);
}
