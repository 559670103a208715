/* search.h -- the search for a plan of a pipeline, until its value meets a bound, or time or ticks run out. */
#ifndef PBI_PLAN_STAGES_SEARCH_H
#define PBI_PLAN_STAGES_SEARCH_H

#include "plan/stages/stages.h"

typedef struct pbi_stages_search {
    pb_context *ctx;
    const pbi_stages_kit *k;
    const pbi_plan_options *options;
    uint64_t bound; /* no plan has a smaller value */
    pbi_stages_plan best, now, trial, spare;
    pbi_stages_rule rule, next;
    pbi_rng rng;
} pbi_stages_search;

pb_status pbi_stages_search_new(pb_context *ctx, const pbi_stages_kit *k, pb_arena *arena, pbi_stages_search *out);
void pbi_stages_copy_rule(const pbi_stages_kit *k, pbi_stages_rule *to, const pbi_stages_rule *from);
/* Takes `trial` if it is better than the best so far. */
bool pbi_stages_offer(pbi_stages_search *x);
/* Rules: the usual ones, and changes of the best of them for a number of trials. */
pb_status pbi_stages_try_rules(pbi_stages_search *x, uint64_t trials);
/* Orders: small changes of the best plan, for a number of trials. */
pb_status pbi_stages_try_orders(pbi_stages_search *x, uint64_t trials, double warm);

/* Plans for fewer micro-batches, with a stretch repeated until there are enough. */
pb_status pbi_stages_try_few(pbi_stages_search *x, uint32_t few, uint64_t trials);

#endif
