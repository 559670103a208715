/* price.h -- what a store or load costs. */
#ifndef PBI_PRICE_H
#define PBI_PRICE_H

#include "base/checked.h"

/* fixed + per_unit * size, UINT64_MAX when that passes 64 bits. */
static inline uint64_t pbi_price(uint64_t fixed, uint64_t per_unit, uint64_t size)
{
    uint64_t part;
    return pbi_mul(per_unit, size, &part) ? pbi_add_saturated(part, fixed) : UINT64_MAX;
}

#endif
