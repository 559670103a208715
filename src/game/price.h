/* price.h -- what a store or load costs. */
#ifndef PBI_PRICE_H
#define PBI_PRICE_H

#include "base/checked.h"
#include "pebble/game.h"

/* ceil((fixed + per_unit * size) / 10^digits), UINT64_MAX when that passes 64 bits. */
uint64_t pbi_price_in_parts(uint64_t fixed, uint64_t per_unit, uint32_t digits, uint64_t size);

static inline uint64_t pbi_price(uint64_t fixed, uint64_t per_unit, uint32_t digits, uint64_t size)
{
    uint64_t part;
    if (digits)
        return pbi_price_in_parts(fixed, per_unit, digits, size);
    return pbi_mul(per_unit, size, &part) ? pbi_add_saturated(part, fixed) : UINT64_MAX;
}

/* The same over a link, whose bandwidth adds ceil(size * per_second / bandwidth). */
static inline uint64_t pbi_link_price(uint64_t price, uint64_t bandwidth, uint64_t per_second, uint64_t size)
{
    uint64_t part;
    if (!bandwidth)
        return price;
    return pbi_mul_div_up(size, per_second, bandwidth, &part) ? pbi_add_saturated(price, part) : UINT64_MAX;
}

static inline uint64_t pbi_store_price(const pb_tier *tier, uint64_t size)
{
    uint64_t price = pbi_price(tier->store_cost, tier->store_per_unit, tier->digits, size);
    return pbi_link_price(price, tier->store_bandwidth, tier->per_second, size);
}

static inline uint64_t pbi_load_price(const pb_tier *tier, uint64_t size)
{
    uint64_t price = pbi_price(tier->load_cost, tier->load_per_unit, tier->digits, size);
    return pbi_link_price(price, tier->load_bandwidth, tier->per_second, size);
}

/* One of the four prices, in 10^-digits. */
uint64_t pbi_tier_price(const pb_tier *tier, pb_price which);

/* The slow memory that `store` leads to from the machine's first memory, and `load` back; names are borrowed. */
pb_tier pbi_machine_tier(const pb_machine *m, const pb_machine_link *store, const pb_machine_link *load);

/* Links for the stores ([0]) and loads ([1]) of each tier; false if prices are whole numbers, which need none, if no
 * link has exactly these costs, or if a machine would price the nodes differently. */
bool pbi_price_links(const pb_graph *g, const pb_tier *tiers, uint32_t count, pb_price_link links[][2]);

#endif
