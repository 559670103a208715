/* rng.h -- seeded random numbers (splitmix64): the same on every machine for the same seed. */
#ifndef PBI_RNG_H
#define PBI_RNG_H

#include <stdint.h>

typedef struct pbi_rng {
    uint64_t state;
} pbi_rng;

static inline uint64_t pbi_rng_next(pbi_rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform in 0 .. bound-1; bound is not 0. The bias is below 2^-32 for bounds below 2^32. */
static inline uint64_t pbi_rng_below(pbi_rng *rng, uint64_t bound)
{
    if (bound >> 32)
        return pbi_rng_next(rng) % bound;
    return (pbi_rng_next(rng) >> 32) * bound >> 32;
}

/* Uniform in [0, 1). */
static inline double pbi_rng_real(pbi_rng *rng) { return (double)(pbi_rng_next(rng) >> 11) * 0x1p-53; }

#endif
