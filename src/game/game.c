/* game.c -- names of games, weights as exact decimals. */
#include "pebble/game.h"

#include "base/checked.h"
#include "base/context.h"
#include "base/decimal.h"

#include <string.h>

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

static pb_status refuse_weights(pb_context *ctx, const char *text, pbi_decimal_verdict verdict)
{
    if (verdict == PBI_DECIMAL_WRONG)
        return pbi_fail(
            ctx, PB_EINVAL,
            "expected three weights A,B,C, as in 0,0,1 or 0,1e-9,1 (for peak, flux and recompute), not \"%.60s\"",
            text);
    return pbi_fail(
        ctx, PB_ERANGE,
        "the weights \"%.60s\" have too many digits: with the same number of digits behind the point, at most %d, "
        "each must stay below 2^64; multiply all three by one number, or leave the smallest out",
        text, PBI_MAX_DECIMALS);
}

pb_status pb_weights_parse(pb_context *ctx, const char *text, pb_weights *out)
{
    pbi_decimal value[3];
    uint32_t most = 0;
    const char *at = text;
    bool far = false;
    for (int i = 0; i < 3; i++) {
        size_t length = strcspn(at, ",");
        pbi_decimal_verdict verdict = pbi_decimal_parse(at, length, &value[i]);
        if (verdict == PBI_DECIMAL_WRONG || at[length] != (i < 2 ? ',' : '\0'))
            return refuse_weights(ctx, text, PBI_DECIMAL_WRONG);
        if (verdict == PBI_DECIMAL_FINE)
            most = value[i].digits > most ? value[i].digits : most;
        far = far || verdict == PBI_DECIMAL_TOO_FAR;
        at += length + (i < 2);
    }
    for (int i = 0; i < 3 && !far; i++)
        far = !pbi_mul(value[i].number, pbi_decimal_unit(most - value[i].digits), &value[i].number);
    if (far)
        return refuse_weights(ctx, text, PBI_DECIMAL_TOO_FAR);
    *out = (pb_weights){value[0].number, value[1].number, value[2].number, most};
    return PB_OK;
}

void pb_weight_text(const pb_weights *weights, int which, char text[32])
{
    uint64_t value = which == 0 ? weights->alpha : which == 1 ? weights->beta : weights->gamma;
    pbi_decimal_text((pbi_decimal){value, weights->digits}, text);
}
