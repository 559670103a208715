/* pipeline.h -- what the files of the pipeline share. */
#ifndef PBI_API_PIPELINE_PIPELINE_H
#define PBI_API_PIPELINE_PIPELINE_H

#include "pebble/api.h"

enum { PBI_SPEC_OPTIONS = 16 };

/* "every-k:k=10" taken apart. */
typedef struct pbi_spec {
    const pb_strategy *row;
    const char *text;   /* all of it; NULL: the name alone */
    const char *policy; /* from `policy=...` inside the spec, else NULL */
    pb_option options[PBI_SPEC_OPTIONS];
    uint32_t option_count;
} pbi_spec;

/* Texts are copied to `arena`. PB_EUNKNOWN, PB_EINVAL with a sentence. */
pb_status pbi_spec_parse(pb_context *ctx, const char *text, size_t length, pb_arena *arena, pbi_spec *out);

/* The end of the first spec in "a,b:k=3,limit=9,c": a comma whose next piece is no key=value of it. */
const char *pbi_spec_end(const char *list);

/* Does every strategy of the list exist, with options that it has, and the policy? Either may be NULL. */
pb_status pbi_names_check(pb_context *ctx, const char *list, const char *policy);

/* A policy is for strategies that take one, and for portfolios, which pass it on to them; the other strategies of a
 * list are planned without. A policy that no strategy of the list takes is refused (PB_EINVAL). NULL is fine. */
pb_status pbi_policy_check(pb_context *ctx, const char *policy, const char *list);

/* The library's own copy of a policy's name; NULL where it is none. */
const char *pbi_policy_constant(const char *name);

/* The bounds of each game that was asked for. Tight ones cost time, and nearly every row needs them; proofs by exact
 * rows come last. They are made in place of the ones before, so whoever borrows a bound sees it rise. */
typedef enum pbi_bound_level { PBI_BOUNDS_NONE, PBI_BOUNDS_QUICK, PBI_BOUNDS_TIGHT, PBI_BOUNDS_PROOF } pbi_bound_level;
typedef struct pbi_bound_cache {
    pbi_bound_level level[3];
    pb_bounds bounds[3];
    uint64_t tried[3]; /* bits of rows: what they can prove is known */
} pbi_bound_cache;

/* What all plans of one call have in common. */
typedef struct pbi_job {
    pb_context *ctx;
    const pb_request *request;
    uint64_t ticks; /* the caller's limit, recorded with every plan */
    char hash[PB_HASH_TEXT];
    const pb_moves *fast_start; /* tiered: a plan in fast memory alone, beside request->start; NULL for none */
    uint64_t end_ns;            /* 0, or when the time of the row is over, by the context's clock */
    bool as_made;               /* plans stay as strategies make them */
    bool others;                /* they share the time: proofs get no more than their usual effort */
    bool no_proofs;             /* whoever asks for the row asks exact rows itself, once for all */
    const pb_bounds *quick;     /* NULL, or bounds of this game under any cap, so that they are not made anew */
    pbi_bound_cache *cache;     /* where cap, weights and tiers stay the same; NULL: quick bounds will do */
} pbi_job;
pb_status pbi_job_init(pbi_job *job, pb_context *ctx, const pb_graph *g, const pb_request *request);

static inline void pbi_emit(const pb_request *request, const pb_event *event)
{
    if (request->handler)
        request->handler->on_event(request->handler->state, event);
}

/* All that is known of a schedule before it is planned; *out is filled anew, its game copied to `result`. */
pb_status pbi_provenance(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                         pb_plan_result *out);

/* Plan, verify and measure by one strategy or portfolio. PB_OK with gave_up is an answer. */
pb_status pbi_plan_row(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                       pb_plan_result *out);

/* pb_plan without the clean-up: what a strategy does by itself, for its tests. */
pb_status pbi_plan_as_made(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_plan_result *out);

/* The answer of a row that failed by itself (an illegal plan, no memory): gave up, with the sentence of ctx->error. */
pb_status pbi_fault(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                    pb_plan_result *out);

/* What the schedule points to, copied to `arena`; strategies, policies and keys are constants of the library. */
pb_status pbi_schedule_copy(pb_arena *arena, pb_schedule *s);
/* The same for a whole answer, whose plan is replayed once more: a certificate cannot be copied. */
pb_status pbi_result_copy(pb_context *ctx, const pb_plan_result *from, pb_arena *result, pb_plan_result *out);

/* A plan for less than `cap`, as a plan for it: with the bounds of `first`, which was asked for that much. `game` and
 * `note` are what it points to from now on. */
void pbi_result_restate(pb_plan_result *p, uint64_t cap, const pb_schedule *first, pb_game *game, char *note,
                        size_t room);

/* pb_least_bound, where it is proved already that no plan needs less than `known`. */
pb_status pbi_least_bound(pb_context *ctx, const pb_game *game, uint64_t known, pb_bounds *out);
/* pb_least_cap, and the proof that goes with it. *proved has a least_cap that is proved already, or 0; it is filled
 * also where the search for a plan failed, once it is made. */
pb_status pbi_least_find(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                         pb_bounds *proved, pb_plan_result *out);

/* After planning in vain: the smallest cap of the game, for request.find_least. `infeasible`: its cap is
 * proved to be too small. NULL in *out where there is nothing to say. The
 * context's time may be over. */
pb_status pbi_least_after(pb_context *ctx, const pb_game *game, bool infeasible, const pb_request *request,
                          pb_arena *result, const pb_least_fact **out);

/* Does plan a beat plan b under the weights? Plans that found nothing never do. */
bool pbi_result_better(const pb_plan_result *a, const pb_plan_result *b);

#endif
