/* price.c -- prices of slow tiers: exact decimals, rounded up to whole costs transfer by transfer. */
#include "game/price.h"

#include "base/context.h"
#include "base/decimal.h"

#include <string.h>

uint64_t pbi_price_in_parts(uint64_t fixed, uint64_t per_unit, uint32_t digits, uint64_t size)
{
    uint32_t rest;
    pb_u128 cost = pbi_u128_divide(pbi_u128_product(per_unit, size), (uint32_t)pbi_decimal_unit(digits), &rest);
    if (!pbi_u128_add(&cost, pbi_u128(rest != 0)) || !pbi_u128_add(&cost, pbi_u128(fixed)) || cost.high)
        return UINT64_MAX;
    return cost.low;
}

uint64_t pb_tier_store_price(const pb_tier *tier, uint64_t size) { return pbi_store_price(tier, size); }

uint64_t pb_tier_load_price(const pb_tier *tier, uint64_t size) { return pbi_load_price(tier, size); }

static pb_status read_price(pb_context *ctx, const char *text, pbi_decimal *out)
{
    *out = (pbi_decimal){0, 0};
    pbi_decimal_verdict verdict = text ? pbi_decimal_parse(text, strlen(text), out) : PBI_DECIMAL_FINE;
    if (verdict == PBI_DECIMAL_WRONG)
        return pbi_fail(ctx, PB_EINVAL, "a price is a decimal of 0 or more, as in 2 or 0.04, not \"%.60s\"", text);
    if (verdict == PBI_DECIMAL_TOO_FAR || out->digits > PB_PRICE_DIGITS)
        return pbi_fail(ctx, PB_ERANGE, "the price %.60s has too many digits: at most %d behind the point, below 2^64",
                        text, PB_PRICE_DIGITS);
    return PB_OK;
}

pb_status pb_tier_prices_parse(pb_context *ctx, const char *store_per_unit, const char *load_per_unit, pb_tier *tier)
{
    pbi_decimal store, load;
    pb_status status = read_price(ctx, store_per_unit, &store);
    if (status == PB_OK)
        status = read_price(ctx, load_per_unit, &load);
    if (status != PB_OK)
        return status;
    uint32_t digits = store.digits > load.digits ? store.digits : load.digits;
    if (!pbi_mul(store.number, pbi_decimal_unit(digits - store.digits), &store.number) ||
        !pbi_mul(load.number, pbi_decimal_unit(digits - load.digits), &load.number))
        return pbi_fail(ctx, PB_ERANGE, "the prices %.60s and %.60s together have too many digits", store_per_unit,
                        load_per_unit);
    tier->store_per_unit = store.number;
    tier->load_per_unit = load.number;
    tier->digits = digits;
    return PB_OK;
}

void pb_tier_price_text(const pb_tier *tier, bool load, char text[32])
{
    pbi_decimal_text((pbi_decimal){load ? tier->load_per_unit : tier->store_per_unit, tier->digits}, text);
}

uint64_t pbi_largest_priced(const pb_graph *g, const pb_tier *tiers, uint32_t count)
{
    bool decimal = false;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < count; i++)
        decimal |= tiers[i].digits > 0;
    for (pb_node v = 0; decimal && v < g->node_count; v++)
        largest = g->size[v] > largest ? g->size[v] : largest;
    return largest;
}
