/* split.h -- where to split a segment: the inner loop of the dynamic programs of this folder. */
#ifndef PBI_ADJOINT_SPLIT_H
#define PBI_ADJOINT_SPLIT_H

#include <stdint.h>

/* The minimum of lead[j] + right[l-j] below `best`; returns its j, or 0. */
static inline uint32_t pbi_best_split(const uint64_t *lead, const uint64_t *right, uint64_t l, uint64_t *best)
{
    uint64_t least = *best;
    for (uint64_t j = 1; j < l; j++) {
        uint64_t sum = lead[j] + right[l - j];
        least = sum < least ? sum : least;
    }
    if (least == *best)
        return 0;
    *best = least;
    uint64_t j = 1;
    while (lead[j] + right[l - j] != least)
        j++;
    return (uint32_t)j;
}

#endif
