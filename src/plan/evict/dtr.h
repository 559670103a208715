/* dtr.h -- the scores by which dynamic tensor rematerialization evicts.
 *
 * h(v) = cost / (size * staleness): what is cheap to recompute, large and long unused is evicted first. The cost is
 * that of v and of what was evicted around it:
 *   full    what v would need recomputed, and what would need v: evicted units reached from v over evicted ones, up or
 *           down
 *   eq      the classes of evicted units next to v, kept as a union-find whose classes are never split
 *   local   nothing but v
 *   lru     1 / staleness        size    1 / size
 * Time is the work done so far.
 */
#ifndef PBI_PLAN_EVICT_DTR_H
#define PBI_PLAN_EVICT_DTR_H

#include "plan/evict/evict.h"

typedef enum pbi_dtr_score {
    PBI_DTR_FULL,
    PBI_DTR_EQ,
    PBI_DTR_LOCAL,
    PBI_DTR_LRU,
    PBI_DTR_SIZE,
    PBI_DTR_SCORES
} pbi_dtr_score;

const char *pbi_dtr_score_name(pbi_dtr_score score);

typedef struct pbi_dtr {
    const pb_graph *g;
    pbi_dtr_score score;
    pbi_evict_scorer scorer; /* to pass to an evicting planner */
    double clock;
    double *touched;  /* per node: when it was last read or computed */
    uint8_t *evicted; /* per unit: it was computed and then evicted */

    uint32_t *stamp, stamps; /* full: per unit, eq: per element, the search that has seen it */
    pb_node *queue;          /* full: of the search */

    uint32_t *element; /* eq: per unit, while it is evicted */
    uint32_t *parent;  /* per element */
    double *cost;      /* per root of the union-find: cost of its class */
    uint32_t elements, max_elements;
    uint32_t *renamed; /* per element: its new number */
} pbi_dtr;

pb_status pbi_dtr_init(pbi_dtr *d, const pb_graph *g, pbi_dtr_score score, pb_arena *arena);

#endif
