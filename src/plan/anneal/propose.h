/* propose.h -- one random change of a timeline: several insertions and removals, carried out and logged. */
#ifndef PBI_PLAN_ANNEAL_PROPOSE_H
#define PBI_PLAN_ANNEAL_PROPOSE_H

#include "plan/anneal/anneal.h"

/* False when it led nowhere; what was begun is to be undone then. Nothing is begun that must cost more than a->most. */
bool pbi_propose(pbi_anneal *a);
/* Takes back what is in the log. */
void pbi_propose_undo(pbi_anneal *a);

#endif
