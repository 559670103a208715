/* demand.h -- demand-driven planning under a cap, one function per family of games.
 *
 * It follows program order, or the computations of a plan for more memory. What such a plan removes is evicted before
 * other values, but stays while there is room: then its next computation is left out. */
#ifndef PBI_PLAN_EVICT_DEMAND_H
#define PBI_PLAN_EVICT_DEMAND_H

#include "plan/evict/evict.h"
#include "plan/sequence/sequence.h"

typedef struct pbi_demand_options {
    pbi_policy policy;
    uint64_t seed, limit;
    bool recipes;             /* use recipes, if the game has some */
    const pb_moves *follow;   /* the computations of this plan, made for more memory; NULL: program order */
    pbi_evict_scorer *scorer; /* with the policy `priority`, or NULL */
} pbi_demand_options;

/* remat and tiered: an evicted value is freed, or stored if loading it back is cheaper than recomputing it. */
pb_status pbi_demand_forward(pb_context *ctx, const pb_game *game, const pbi_demand_options *options, pbi_plan *plan);
/* The same without the moves: appends the computations to `s`. *stuck: there was no room, `why` has given up with a
 * reason; s is then of no use. s->tier lives in the arena of s. */
pb_status pbi_demand_sequence(pb_context *ctx, const pb_game *game, const pbi_demand_options *options, pbi_sequence *s,
                              pbi_plan *why, bool *stuck);
/* reversible: an evicted value is uncomputed, which needs its inputs. */
pb_status pbi_demand_reversible(pb_context *ctx, const pb_game *game, const pbi_demand_options *options,
                                pbi_plan *plan);

#endif
