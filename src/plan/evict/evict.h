/* evict.h -- the values that may be evicted, and which of them a policy evicts first. */
#ifndef PBI_PLAN_EVICT_EVICT_H
#define PBI_PLAN_EVICT_EVICT_H

#include "base/rng.h"
#include "plan/strategy.h"

typedef enum pbi_policy { PBI_ABORT, PBI_OLDEST, PBI_LEAST_RECENT, PBI_RANDOM, PBI_LARGEST, PBI_PRIORITY } pbi_policy;

static inline uint64_t pbi_priority_of(const pb_graph *g, pb_node v) { return g->priority ? g->priority[v] : 0; }

/* False when there is no such policy. NULL: priority. */
bool pbi_policy_parse(const char *name, pbi_policy *out);
const char *pbi_policy_name(pbi_policy policy);

/* The planner's own score instead of that of `priority`: the smallest is evicted first. */
typedef struct pbi_evict_scorer {
    void *state;
    double (*score)(void *state, pb_node v);
    void (*made)(void *state, pb_node v);
    void (*touched)(void *state, pb_node v);
    void (*gone)(void *state, pb_node v, bool dead); /* dead: nothing can need it again */
    uint32_t all, sample; /* examine all candidates up to `all`, a sample of `sample` beyond; 0: default */
    uint64_t spent;       /* effort since it was last set to 0 */
} pbi_evict_scorer;

/* A set of candidates. Those that the order does not read again (idle) are evicted before the others; within each
 * kind the policy decides. All policies but `priority` use a heap; `priority` (recompute cost over size and
 * staleness) changes with time and is found by examining all candidates, or a random sample when there are many. */
typedef struct pbi_evict {
    const pb_graph *g;
    const uint8_t *resident; /* the planner's, for recompute costs */
    pbi_policy policy;
    bool recipes;             /* the planner uses recipes */
    pbi_evict_scorer *scorer; /* with `priority`, or NULL */
    pbi_rng rng;
    uint64_t clock; /* advances with every touch */
    pb_node *item;
    uint32_t count;
    uint32_t *where; /* per node: 1 + its place in item, 0 if it is not a candidate */
    uint8_t *busy;   /* per node: 1 when the order still reads it */
    uint64_t *key;   /* per node: the smallest is evicted first */
    uint64_t *made, *touched;
} pbi_evict;

pb_status pbi_evict_init(pbi_evict *e, const pb_graph *g, pbi_policy policy, uint64_t seed, const uint8_t *resident,
                         pb_arena *scratch);
void pbi_evict_made(pbi_evict *e, pb_node v);            /* v was just computed or loaded */
void pbi_evict_touched(pbi_evict *e, pb_node v);         /* v was just read; not while a candidate */
void pbi_evict_gone(pbi_evict *e, pb_node v, bool dead); /* v is not resident any more */
void pbi_evict_add(pbi_evict *e, pb_node v, bool idle);
void pbi_evict_remove(pbi_evict *e, pb_node v); /* no effect if v is not a candidate */
/* The first to evict, or PB_NO_NODE. */
pb_node pbi_evict_first(pbi_evict *e);
/* How many candidates pbi_evict_first examines, plus what scores have cost since the last call. */
uint64_t pbi_evict_effort(const pbi_evict *e);

/* Work of recomputing v from what is resident; missing inputs count one level deep. */
uint64_t pbi_evict_recompute_cost(const pbi_evict *e, pb_node v);

#endif
