/* game.c -- names of games, weights as exact decimals. */
#include "pebble/game.h"

#include "base/checked.h"
#include "base/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DIGITS = 9 };

const char *pb_game_kind_name(pb_game_kind kind)
{
    switch (kind) {
    case PB_GAME_REMAT: return "remat";
    case PB_GAME_REVERSIBLE: return "reversible";
    case PB_GAME_TIERED: return "tiered";
    }
    return "unknown";
}

bool pb_game_kind_parse(const char *name, pb_game_kind *out)
{
    for (unsigned kind = 1; kind <= PB_GAME_TIERED; kind *= 2)
        if (strcmp(name, pb_game_kind_name((pb_game_kind)kind)) == 0) {
            *out = (pb_game_kind)kind;
            return true;
        }
    return false;
}

/* One decimal up to a comma or the end, as value / 10^digits. */
static bool parse_decimal(const char **text, uint64_t *value, uint32_t *digits)
{
    const char *at = *text;
    bool point = false, any = false;
    *value = 0;
    *digits = 0;
    for (; *at && *at != ','; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (*at < '0' || *at > '9' || (point && ++*digits > MOST_DIGITS))
            return false;
        if (!pbi_mul(*value, 10, value) || !pbi_add(*value, (uint64_t)(*at - '0'), value))
            return false;
        any = true;
    }
    *text = at;
    return any;
}

pb_status pb_weights_parse(pb_context *ctx, const char *text, pb_weights *out)
{
    uint64_t value[3];
    uint32_t digits[3], most = 0;
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        if (!parse_decimal(&at, &value[i], &digits[i]) || *at != (i < 2 ? ',' : '\0'))
            return pbi_fail(ctx, PB_EINVAL,
                            "weights are three decimals, as in 0,0,1 (peak, flux, recompute), not \"%.60s\"", text);
        at += i < 2;
        while (digits[i] && value[i] % 10 == 0) {
            value[i] /= 10;
            digits[i]--;
        }
        most = digits[i] > most ? digits[i] : most;
    }
    for (int i = 0; i < 3; i++)
        for (; digits[i] < most; digits[i]++)
            if (!pbi_mul(value[i], 10, &value[i]))
                return pbi_fail(ctx, PB_ERANGE, "the weights \"%.60s\" have too many digits", text);
    *out = (pb_weights){value[0], value[1], value[2], most};
    return PB_OK;
}

void pb_weight_text(const pb_weights *weights, int which, char text[32])
{
    uint64_t value = which == 0 ? weights->alpha : which == 1 ? weights->beta : weights->gamma;
    uint64_t unit = 1;
    for (uint32_t i = 0; i < weights->digits; i++)
        unit *= 10;
    int used = snprintf(text, 32, "%" PRIu64, value / unit);
    uint64_t rest = value % unit;
    if (!rest)
        return;
    text[used++] = '.';
    for (unit /= 10; rest; unit /= 10) {
        text[used++] = (char)('0' + rest / unit);
        rest %= unit;
    }
    text[used] = '\0';
}
