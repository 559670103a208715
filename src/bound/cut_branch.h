/* cut_branch.h -- from prices to whole values: the minimum work at one first computation, by branch and bound.
 *
 * A price also bounds mixtures of labellings. Each case here decides, for some values, whether they are resident at
 * that moment. The two cases of a value cover everything, so the smallest bound of the open cases is valid.
 */
#ifndef PBI_CUT_BRANCH_H
#define PBI_CUT_BRANCH_H

#include "bound/cut_price.h"

typedef struct pbi_brancher {
    pbi_pricer *pricer;
    struct pbi_case *list;
    uint32_t *heap;
    uint32_t room, count, open;
} pbi_brancher;

bool pbi_brancher_init(pbi_brancher *b, pbi_pricer *pricer, pb_arena *arena, uint32_t room);
/* The bound at z, at least `value`, which is already proved and was reached at `rate`. It stops if it cannot exceed
 * `least`, if the room is used up or the pricer has stopped. PBI_FLOW_INF: no labelling fits. */
int64_t pbi_brancher_run(pbi_brancher *b, pb_node z, int64_t value, pbi_rate rate, int64_t least);

#endif
