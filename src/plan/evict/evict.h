/* evict.h -- the values that may be evicted, and which of them a policy would take first. */
#ifndef PBI_PLAN_EVICT_EVICT_H
#define PBI_PLAN_EVICT_EVICT_H

#include "base/rng.h"
#include "plan/strategy.h"

typedef enum pbi_policy { PBI_ABORT, PBI_OLDEST, PBI_LEAST_RECENT, PBI_RANDOM, PBI_LARGEST, PBI_PRIORITY } pbi_policy;

/* False when there is no such policy. NULL: priority. */
bool pbi_policy_parse(const char *name, pbi_policy *out);
const char *pbi_policy_name(pbi_policy policy);

/* A score of the planner's own in place of that of `priority`: the least goes first. */
typedef struct pbi_evict_scorer {
    void *state;
    double (*score)(void *state, pb_node v);
    void (*made)(void *state, pb_node v);
    void (*touched)(void *state, pb_node v);
    void (*gone)(void *state, pb_node v, bool dead); /* dead: nothing can need it again */
    uint32_t all, sample; /* look at all candidates up to so many, at a sample of this many beyond; 0: as usual */
    uint64_t spent;       /* effort since it was last set to 0 */
} pbi_evict_scorer;

/* A set of candidates. Ones that the order does not read again (idle) go before the others; within each kind the
 * policy decides. All but `priority` are a heap; `priority` (recompute cost over size and staleness) changes with
 * time and is found by looking: at all candidates, or at a seeded sample when they are many. */
typedef struct pbi_evict {
    const pb_graph *g;
    const uint8_t *resident; /* the planner's, for recompute costs */
    pbi_policy policy;
    pbi_evict_scorer *scorer; /* with `priority`, or NULL */
    pbi_rng rng;
    uint64_t clock; /* moves on with every touch */
    pb_node *item;
    uint32_t count;
    uint32_t *where; /* per node: 1 + its place in item, 0 when it is no candidate */
    uint8_t *busy;   /* per node: 1 when the order still reads it */
    uint64_t *key;   /* per node: less goes first */
    uint64_t *made, *touched;
} pbi_evict;

pb_status pbi_evict_init(pbi_evict *e, const pb_graph *g, pbi_policy policy, uint64_t seed, const uint8_t *resident,
                         pb_arena *scratch);
void pbi_evict_made(pbi_evict *e, pb_node v);            /* v was computed or loaded just now */
void pbi_evict_touched(pbi_evict *e, pb_node v);         /* v is read just now; not while a candidate */
void pbi_evict_gone(pbi_evict *e, pb_node v, bool dead); /* v is not resident any more */
void pbi_evict_add(pbi_evict *e, pb_node v, bool idle);
void pbi_evict_remove(pbi_evict *e, pb_node v); /* nothing when v is no candidate */
/* The first to go, or PB_NO_NODE. */
pb_node pbi_evict_first(pbi_evict *e);
/* How many candidates that looks at, and what scores have cost since the last call. */
uint64_t pbi_evict_effort(const pbi_evict *e);

/* Work of making v again from what is resident, inputs that are missing counted one level deep. */
uint64_t pbi_evict_remake_cost(const pbi_evict *e, pb_node v);

#endif
