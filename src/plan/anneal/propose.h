/* propose.h -- one random change of a timeline: several insertions and removals, carried out and logged. */
#ifndef PBI_PLAN_ANNEAL_PROPOSE_H
#define PBI_PLAN_ANNEAL_PROPOSE_H

#include "plan/anneal/anneal.h"

/* False when it cannot be completed; then the caller undoes it. Nothing is started that must cost more than
 * a->max_cost. */
bool pbi_propose(pbi_anneal *a);
/* Undoes what is in the log. */
void pbi_propose_undo(pbi_anneal *a);

#endif
