/* cut_split.h -- from prices to whole values at several moments: branch and bound over what is resident.
 *
 * As cut_branch.h for one moment: each case decides whether some values are resident at some of the moments, and the
 * smallest bound of the open cases is valid.
 */
#ifndef PBI_CUT_SPLIT_H
#define PBI_CUT_SPLIT_H

#include "bound/cut_climb.h"

typedef struct pbi_splitter {
    pbi_climb *climb;
    struct pbi_split *list;
    uint32_t *heap;
    uint32_t room, count, open;
    uint8_t *settled[PBI_MOMENTS]; /* before any case */
    double rate[PBI_MOMENTS];      /* prices that each case starts with */
    double *link[PBI_MOMENTS];
} pbi_splitter;

bool pbi_splitter_init(pbi_splitter *s, pbi_climb *climb, pb_arena *arena, uint32_t room);
/* The bound at the climb's moments, from its best prices and after at least one step: scaled, at least its best.
 * Runs until the room is used up or the moments are stopped. PBI_FLOW_INF: no schedule fits. */
int64_t pbi_splitter_run(pbi_splitter *s);

#endif
