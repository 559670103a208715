/* propose.h -- changes to a reversible pebbling that keep it legal. */
#ifndef PBI_PLAN_REVERSIBLE_ANNEAL_PROPOSE_H
#define PBI_PLAN_REVERSIBLE_ANNEAL_PROPOSE_H

#include "base/rng.h"
#include "plan/reversible/anneal/spans.h"

enum { PBI_REV_TASKS = 256 };

typedef struct pbi_rev_task {
    uint32_t unit, slot;
} pbi_rev_task;

typedef struct pbi_rev_proposer {
    pbi_rev_spans *l;
    pbi_rng *rng;
    double max_cost; /* work at which the current change can no longer be accepted */
    uint32_t grown;  /* intervals that it may still add */
    pbi_rev_task task[PBI_REV_TASKS];
    uint32_t tasks;
    pbi_rev_task left[PBI_REV_TASKS]; /* removed ends: the unit, and where it was */
    uint32_t lefts;
    pbi_rev_task moved[PBI_REV_TASKS]; /* ends that move in one direction together: the end, and what it must pass */
    uint32_t moves;
} pbi_rev_proposer;

/* Makes one change, logged by the spans. False when it cannot: then the caller undoes what is in the log. */
bool pbi_rev_propose(pbi_rev_proposer *p);

#endif
