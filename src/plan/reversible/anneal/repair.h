/* repair.h -- what a change to a reversible pebbling leaves to do, so that it is legal again and has nothing useless.
 *
 * Inputs that are missing at a new end are made present in turn: by going on from an interval before, beginning one behind
 * earlier, joining the two, or a new one. That only ever adds memory in time, so what was right stays right. Ends that went
 * away leave inputs behind that nobody needs any longer: these are removed or cut shorter, in turn.
 */
#ifndef PBI_PLAN_REVERSIBLE_ANNEAL_REPAIR_H
#define PBI_PLAN_REVERSIBLE_ANNEAL_REPAIR_H

#include "plan/reversible/anneal/propose.h"

static inline uint32_t pbi_rev_below(pbi_rev_proposer *p, uint32_t bound)
{
    return (uint32_t)pbi_rng_below(p->rng, bound);
}

/* Has the change no chance with so much more work? */
static inline bool pbi_rev_too_dear(const pbi_rev_proposer *p, double more) { return p->l->work + more > p->most; }

/* An end of the unit is new there: its inputs that are missing are to be made present. False when there are too many. */
bool pbi_rev_want_inputs(pbi_rev_proposer *p, uint32_t unit, uint32_t slot);
/* False when it does not work out, and the change is to be undone. */
bool pbi_rev_make_all_present(pbi_rev_proposer *p);

/* An end of the unit is gone from there. */
void pbi_rev_leave(pbi_rev_proposer *p, uint32_t unit, uint32_t slot);
/* To be called when all is present. */
void pbi_rev_tidy_all(pbi_rev_proposer *p);

/* Narrows a range to where an end of the unit that is at `slot` may go without another change of its inputs. */
void pbi_rev_narrow(const pbi_rev_line *l, uint32_t unit, uint32_t slot, uint32_t *low, uint32_t *high);

#endif
