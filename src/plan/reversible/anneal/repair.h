/* repair.h -- makes a changed reversible pebbling legal again, and removes what became useless.
 *
 * Inputs that are missing at a new end are made present in turn: by extending an interval before, by starting one
 * behind earlier, by joining the two, or by a new one. That only ever adds presence, so what was legal remains
 * legal. Removed ends leave inputs behind that nothing needs any more: these intervals are removed or shortened, in
 * turn.
 */
#ifndef PBI_PLAN_REVERSIBLE_ANNEAL_REPAIR_H
#define PBI_PLAN_REVERSIBLE_ANNEAL_REPAIR_H

#include "plan/reversible/anneal/propose.h"

static inline uint32_t pbi_rev_below(pbi_rev_proposer *p, uint32_t bound)
{
    return (uint32_t)pbi_rng_below(p->rng, bound);
}

/* Is the change too expensive with `more` work? */
static inline bool pbi_rev_too_expensive(const pbi_rev_proposer *p, double more)
{
    return p->l->work + more > p->max_cost;
}

/* The unit has a new end at `slot`: notes its missing inputs, which must be made present. False: too many. */
bool pbi_rev_require_inputs(pbi_rev_proposer *p, uint32_t unit, uint32_t slot);
/* Makes all noted inputs present. False when it fails: then the caller undoes the change. */
bool pbi_rev_make_all_present(pbi_rev_proposer *p);

/* Notes that an end of the unit at `slot` was removed. */
void pbi_rev_end_removed(pbi_rev_proposer *p, uint32_t unit, uint32_t slot);
/* Removes or shortens what the removed ends have made useless; call it when all inputs are present. */
void pbi_rev_tidy_all(pbi_rev_proposer *p);

/* Narrows a range to where the unit's end at `slot` may move without changing its inputs. */
void pbi_rev_narrow(const pbi_rev_spans *l, uint32_t unit, uint32_t slot, uint32_t *low, uint32_t *high);

#endif
