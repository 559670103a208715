/* price.h -- what a store or load costs. */
#ifndef PBI_PRICE_H
#define PBI_PRICE_H

#include "base/checked.h"
#include "pebble/game.h"

/* fixed + ceil(per_unit * size / 10^digits), UINT64_MAX when that passes 64 bits. */
uint64_t pbi_price_in_parts(uint64_t fixed, uint64_t per_unit, uint32_t digits, uint64_t size);

static inline uint64_t pbi_price(uint64_t fixed, uint64_t per_unit, uint32_t digits, uint64_t size)
{
    uint64_t part;
    if (digits)
        return pbi_price_in_parts(fixed, per_unit, digits, size);
    return pbi_mul(per_unit, size, &part) ? pbi_add_saturated(part, fixed) : UINT64_MAX;
}

static inline uint64_t pbi_store_price(const pb_tier *tier, uint64_t size)
{
    return pbi_price(tier->store_cost, tier->store_per_unit, tier->digits, size);
}

static inline uint64_t pbi_load_price(const pb_tier *tier, uint64_t size)
{
    return pbi_price(tier->load_cost, tier->load_per_unit, tier->digits, size);
}

/* The size of the largest value, where a tier has decimal prices; else 0. */
uint64_t pbi_largest_priced(const pb_graph *g, const pb_tier *tiers, uint32_t count);

#endif
