/* set.h -- sets of up to 128 small numbers as two words. */
#ifndef PBI_PLAN_STATESPACE_SET_H
#define PBI_PLAN_STATESPACE_SET_H

#include <stdbool.h>
#include <stdint.h>

enum { PBI_LIVE_BITS = 128 };

typedef struct pbi_set {
    uint64_t w[2];
} pbi_set;

static inline pbi_set pbi_set_one(unsigned i)
{
    pbi_set s = {{0, 0}};
    s.w[i >> 6] = UINT64_C(1) << (i & 63);
    return s;
}
static inline pbi_set pbi_set_or(pbi_set a, pbi_set b) { return (pbi_set){{a.w[0] | b.w[0], a.w[1] | b.w[1]}}; }
static inline pbi_set pbi_set_and(pbi_set a, pbi_set b) { return (pbi_set){{a.w[0] & b.w[0], a.w[1] & b.w[1]}}; }
static inline pbi_set pbi_set_less(pbi_set a, pbi_set b) { return (pbi_set){{a.w[0] & ~b.w[0], a.w[1] & ~b.w[1]}}; }
static inline bool pbi_set_any(pbi_set a) { return (a.w[0] | a.w[1]) != 0; }
static inline bool pbi_set_has(pbi_set a, unsigned i) { return a.w[i >> 6] >> (i & 63) & 1; }
static inline bool pbi_set_equal(pbi_set a, pbi_set b) { return a.w[0] == b.w[0] && a.w[1] == b.w[1]; }
static inline bool pbi_set_within(pbi_set a, pbi_set b) { return !pbi_set_any(pbi_set_less(a, b)); }
static inline void pbi_set_add(pbi_set *a, unsigned i) { a->w[i >> 6] |= UINT64_C(1) << (i & 63); }
static inline void pbi_set_remove(pbi_set *a, unsigned i) { a->w[i >> 6] &= ~(UINT64_C(1) << (i & 63)); }

/* The index of the lowest bit of a word, which is not 0, by multiplication with a De Bruijn constant. */
static inline unsigned pbi_lowest(uint64_t x)
{
    static const uint8_t place[64] = {0,  1,  48, 2,  57, 49, 28, 3,  61, 58, 50, 42, 38, 29, 17, 4,
                                      62, 55, 59, 36, 53, 51, 43, 22, 45, 39, 33, 30, 24, 18, 12, 5,
                                      63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21, 44, 32, 23, 11,
                                      46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9,  13, 8,  7,  6};
    return place[((x & (~x + 1)) * UINT64_C(0x03f79d71b4cb0a89)) >> 58];
}

/* Removes the lowest member of a set that is not empty. */
static inline unsigned pbi_set_pop(pbi_set *a)
{
    unsigned word = a->w[0] == 0;
    unsigned at = pbi_lowest(a->w[word]);
    a->w[word] &= a->w[word] - 1;
    return word * 64 + at;
}

#endif
