/* slopes.h -- the least number of moves on a line of equal steps with a given number of pebbles, for all lengths.
 *
 *     F(n, k) = min over m of F(m, k) + F(n - m, k - 1) + F(m, k - 1),  F(1, k) = 1
 *
 * F(., k) is convex in n: so the minimum over m merges two sorted lists of slopes, those of F(., k - 1) and those of
 * F(., k) + F(., k - 1), the latter as far as they are known. Equal slopes are kept as runs, of which there are few:
 * hundreds for a million steps with the fewest pebbles, a handful with more.
 */
#ifndef PBI_PLAN_REVERSIBLE_LINE_SLOPES_H
#define PBI_PLAN_REVERSIBLE_LINE_SLOPES_H

#include "pebble/base.h"

typedef struct pbi_slope_run {
    uint64_t slope;
    uint32_t end;   /* slopes up to here, counted from the first; the i-th is F(i + 1) - F(i) */
    uint32_t moved; /* how many of them move the cut */
} pbi_slope_run;

typedef struct pbi_slopes {
    pbi_slope_run *run;
    size_t *start; /* of each number of pebbles, and the end */
    uint32_t longest, pebbles;
} pbi_slopes;

/* The fewest pebbles for n steps: 2^(k-1) >= n. n > 0. */
uint32_t pbi_slopes_min_pebbles(uint64_t n);

/* For lines of up to `longest` steps (at least 1) and up to `pebbles`. O(runs). */
pb_status pbi_slopes_init(pb_context *ctx, pbi_slopes *s, uint32_t longest, uint32_t pebbles, pb_arena *arena);
/* Both need pbi_slopes_min_pebbles(n) <= k <= pebbles. */
uint64_t pbi_slopes_moves(const pbi_slopes *s, uint32_t n, uint32_t k);
/* Where to cut n > 1 steps. */
uint32_t pbi_slopes_cut(const pbi_slopes *s, uint32_t n, uint32_t k);

#endif
