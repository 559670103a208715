/* price.c -- prices of slow tiers: exact decimals, rounded up to whole costs transfer by transfer. */
#include "game/price.h"

#include "base/context.h"
#include "base/decimal.h"

#include <string.h>

uint64_t pbi_price_in_parts(uint64_t fixed, uint64_t per_unit, uint32_t digits, uint64_t size)
{
    uint32_t rest;
    pb_u128 cost = pbi_u128_product(per_unit, size);
    if (!pbi_u128_add(&cost, pbi_u128(fixed)))
        return UINT64_MAX;
    cost = pbi_u128_divide(cost, (uint32_t)pbi_decimal_unit(digits), &rest);
    return pbi_u128_add(&cost, pbi_u128(rest != 0)) && !cost.high ? cost.low : UINT64_MAX;
}

uint64_t pb_tier_store_price(const pb_tier *tier, uint64_t size) { return pbi_store_price(tier, size); }

uint64_t pb_tier_load_price(const pb_tier *tier, uint64_t size) { return pbi_load_price(tier, size); }

static pb_status read_price(pb_context *ctx, const char *text, pbi_decimal *out)
{
    *out = (pbi_decimal){0, 0};
    pbi_decimal_verdict verdict = text ? pbi_decimal_parse(text, strlen(text), out) : PBI_DECIMAL_FINE;
    if (verdict == PBI_DECIMAL_WRONG)
        return pbi_fail(ctx, PB_EINVAL, "expected a price of 0 or more, as in 2 or 0.04, not \"%.60s\"", text);
    if (verdict == PBI_DECIMAL_TOO_FAR || out->digits > PB_PRICE_DIGITS)
        return pbi_fail(ctx, PB_ERANGE,
                        "the price %.60s has too many digits; use at most %d after the point, and less than 2^64", text,
                        PB_PRICE_DIGITS);
    return PB_OK;
}

pb_status pb_price_check(pb_context *ctx, const char *text)
{
    pbi_decimal price;
    return read_price(ctx, text, &price);
}

/* The price in a unit that is 10^shift times finer. */
static bool count_finer(pbi_decimal *price, uint32_t shift)
{
    uint32_t taken = price->digits < shift ? price->digits : shift;
    price->digits -= taken;
    return pbi_mul(price->number, pbi_decimal_unit(shift - taken), &price->number);
}

pb_status pb_tier_prices_parse(pb_context *ctx, const pb_graph *g, const char *const texts[PB_PRICE_COUNT],
                               pb_tier *tier)
{
    pbi_decimal price[PB_PRICE_COUNT];
    uint32_t digits = 0;
    for (int i = 0; i < PB_PRICE_COUNT; i++) {
        pb_status status = read_price(ctx, texts[i], &price[i]);
        if (status != PB_OK)
            return status;
        if (!count_finer(&price[i], g ? g->cost_digits : 0))
            return pbi_fail(ctx, PB_ERANGE,
                            "the price %.60s is too large: in %.60s it exceeds 2^64; use a coarser cost unit", texts[i],
                            g->cost_unit);
        digits = price[i].digits > digits ? price[i].digits : digits;
    }
    for (int i = 0; i < PB_PRICE_COUNT; i++)
        if (!pbi_mul(price[i].number, pbi_decimal_unit(digits - price[i].digits), &price[i].number))
            return pbi_fail(ctx, PB_ERANGE,
                            "the price %.60s is too large: with as many decimals as the other prices it exceeds 2^64; "
                            "use fewer decimals",
                            texts[i]);
    tier->store_cost = price[PB_STORE_COST].number;
    tier->load_cost = price[PB_LOAD_COST].number;
    tier->store_per_unit = price[PB_STORE_PER_UNIT].number;
    tier->load_per_unit = price[PB_LOAD_PER_UNIT].number;
    tier->digits = digits;
    return PB_OK;
}

const char *pb_price_name(pb_price which)
{
    static const char *const names[] = {"store_cost", "load_cost", "store_per_unit", "load_per_unit"};
    return names[which];
}

uint64_t pbi_tier_price(const pb_tier *tier, pb_price which)
{
    switch (which) {
    case PB_STORE_COST: return tier->store_cost;
    case PB_LOAD_COST: return tier->load_cost;
    case PB_STORE_PER_UNIT: return tier->store_per_unit;
    default: return tier->load_per_unit;
    }
}

void pb_tier_price_text(const pb_tier *tier, pb_price which, char text[32])
{
    pbi_decimal_text((pbi_decimal){pbi_tier_price(tier, which), tier->digits}, text);
}
