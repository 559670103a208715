/* sums.h -- sums of weighted literals in a formula, by a tree of merges (a generalised totalizer).
 *
 * A list of sums has a literal for each value that the sum may reach: it is true if the sum is at least that much,
 * and may be true otherwise.
 */
#ifndef PBI_PLAN_REVERSIBLE_SAT_SUMS_H
#define PBI_PLAN_REVERSIBLE_SAT_SUMS_H

#include "plan/reversible/sat/cadical.h"

/* Sums ascend; each literal implies the one before. */
typedef struct pbi_sums {
    uint64_t *sum;
    int *literal;
    uint32_t count;
} pbi_sums;

/* An empty list with room for this many; false when memory is exhausted, here and below. */
bool pbi_sums_room(pb_arena *arena, uint32_t count, pbi_sums *out);
/* The index of the first sum that is not below this. */
uint32_t pbi_sums_place(const pbi_sums *s, uint64_t sum);
/* The sums of all parts together; sums above `max_sum` are excluded. The parts are overwritten. If there are too
 * many different sums the formula is full afterwards. */
bool pbi_sums_add_up(pbi_sat *sat, pb_arena *arena, pbi_sums *part, uint32_t count, uint64_t max_sum, pbi_sums *out);

#endif
