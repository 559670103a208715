/* intervals.h -- the recursion of slopes.h for unequal steps: least work against memory for every interval of a
 * line.
 *
 * A front lists (memory, work) with memory rising and work falling. The front of (i, j) is the minimum, over the cut
 * m, of: make m within M, make j from m within M minus the size of m, unmake m within M minus the size of j.
 */
#ifndef PBI_PLAN_REVERSIBLE_LINE_INTERVALS_H
#define PBI_PLAN_REVERSIBLE_LINE_INTERVALS_H

#include "plan/reversible/line/line.h"

typedef struct pbi_point {
    uint64_t memory, work;
    uint32_t cut; /* place of the line */
} pbi_point;

typedef struct pbi_front {
    pbi_point *point;
    uint32_t count;
} pbi_front;

/* Fill in the first group, then init. */
typedef struct pbi_intervals {
    const pbi_line *line;
    uint32_t from, length; /* places from..from+length of the line; length > 0 */
    uint64_t budget;       /* max memory */
    uint64_t effort;       /* max points to examine; lowered by those that were */
    bool thin;             /* leave points out of fronts if all of them would exceed the effort */

    pbi_front *front;
    bool complete; /* false: the effort ran out */
    bool overflow; /* some work exceeded 64 bits and was left out */
} pbi_intervals;

/* All fronts up to the budget. O(length^3 times the points of a front). */
pb_status pbi_intervals_init(pb_context *ctx, pbi_intervals *s, pb_arena *arena);

/* Of places of the line. */
static inline const pbi_front *pbi_intervals_front(const pbi_intervals *s, uint32_t from, uint32_t to)
{
    return &s->front[(size_t)(from - s->from) * s->length + (to - s->from - 1)];
}

/* The cheapest point within `memory`, NULL when there is none. */
const pbi_point *pbi_intervals_point(const pbi_intervals *s, uint32_t from, uint32_t to, uint64_t memory);

#endif
