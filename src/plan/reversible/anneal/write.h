/* write.h -- the result of the search over intervals, as a plan. */
#ifndef PBI_PLAN_REVERSIBLE_ANNEAL_WRITE_H
#define PBI_PLAN_REVERSIBLE_ANNEAL_WRITE_H

#include "plan/reversible/anneal/anneal.h"

/* Gives up when the work exceeds 2^64. */
pb_status pbi_rev_write(const pbi_rev_model *m, const pbi_rev_list *list, pb_arena *arena, pbi_plan *plan);

/* The cost of the moves under the game's weights, with the sizes of the graph; INFINITY when they exceed the cap.
 * For graphs without by-products. Work that is needed anyway counts, too. */
double pbi_rev_cost(const pbi_rev_model *m, const pbi_rev_list *list, uint8_t *resident);

#endif
