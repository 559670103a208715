/* units.h -- moves of the reversible game in units: a node together with its by-products.
 *
 * Computing a unit computes those of its needed members that are not resident; uncomputing it removes those that are
 * not kept at the end. So planners need not treat targets, kept nodes and by-products specially.
 */
#ifndef PBI_PLAN_REVERSIBLE_UNITS_H
#define PBI_PLAN_REVERSIBLE_UNITS_H

#include "plan/sequence/sequence.h"

typedef struct pbi_reversible {
    pb_context *ctx;
    const pb_game *game;
    const pb_graph *g;
    pbi_plan *plan;    /* NULL: only measure */
    uint8_t *resident; /* per node */
    uint8_t *computed; /* per node: computed before */
    pb_node *also;
    uint64_t memory, limit;
    pb_step step;
    pbi_figures f;
    bool stuck; /* over the cap or not allowed: the plan has given up with a reason */
} pbi_reversible;

/* Memory from `scratch`; limit: max moves. */
pb_status pbi_reversible_init(pbi_reversible *r, pb_context *ctx, const pb_game *game, pbi_plan *plan, uint64_t limit,
                              pb_arena *scratch);
/* Each returns PB_OK also when stuck; PB_ELIMIT above the limit. Inputs must be resident. */
pb_status pbi_reversible_compute(pbi_reversible *r, pb_node v);
pb_status pbi_reversible_uncompute(pbi_reversible *r, pb_node v);

/* Is the value kept at the end? */
static inline bool pbi_is_final(const pb_graph *g, pb_node v) { return g->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP); }
/* Are all inputs of v resident? */
bool pbi_reversible_ready(const pbi_reversible *r, pb_node v);
/* Memory while the unit is computed, beyond what is resident. */
uint64_t pbi_reversible_need(const pbi_reversible *r, pb_node v);
/* Is there a member that uncomputing would remove? */
bool pbi_reversible_removable(const pbi_reversible *r, pb_node v);
/* Marks the plan as found unless it is stuck. */
void pbi_reversible_finish(pbi_reversible *r);

#endif
