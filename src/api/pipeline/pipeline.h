/* pipeline.h -- what the files of the pipeline share. */
#ifndef PBI_API_PIPELINE_PIPELINE_H
#define PBI_API_PIPELINE_PIPELINE_H

#include "pebble/api.h"

enum { PBI_SPEC_OPTIONS = 16 };

/* "every-k:k=10", parsed. */
typedef struct pbi_spec {
    const pb_strategy *row;
    const char *text;   /* the whole spec; NULL: only the name */
    const char *policy; /* from `policy=...` inside the spec, else NULL */
    pb_option options[PBI_SPEC_OPTIONS];
    uint32_t option_count;
    const struct pbi_given *given; /* the file that it names, after pbi_given_read; else NULL */
} pbi_spec;

/* Reads the file of a strategy with PB_TRAIT_FILE, if the spec names one.
 *   in       game        with the costs and tiers that it will be planned with; kind and cap are ignored
 *   out      spec->given in `arena`
 *   returns  PB_EINVAL   the file may not be read here; PB_EIO, PB_EFORMAT: it cannot be read, with the line */
pb_status pbi_given_read(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *arena,
                         pbi_spec *spec);
/* Does the strategy, with the file it names, play this game? */
bool pbi_spec_plays(const pbi_spec *spec, pb_game_kind kind);

/* Copies texts to `arena`. Fails with PB_EUNKNOWN or PB_EINVAL, and a message. */
pb_status pbi_spec_parse(pb_context *ctx, const char *text, size_t length, pb_arena *arena, pbi_spec *out);

/* The end of the first spec in "a,b:k=3,limit=9,c": the first comma that no key=value of the same spec follows. */
const char *pbi_spec_end(const char *list);

/* Checks that every strategy of the list exists and has the options given, and that the policy exists. Either may be
 * NULL. */
pb_status pbi_names_check(pb_context *ctx, const char *list, const char *policy);

/* The library's own copy of a policy's name; NULL if there is no such policy. */
const char *pbi_policy_constant(const char *name);

/* The bounds of each game of a call. Tight bounds cost time, and nearly every strategy needs them. Proofs by exact
 * strategies come last. Each level overwrites the one before, so a pointer to a bound sees it rise. */
typedef enum pbi_bound_level { PBI_BOUNDS_NONE, PBI_BOUNDS_QUICK, PBI_BOUNDS_TIGHT, PBI_BOUNDS_PROOF } pbi_bound_level;
typedef struct pbi_bound_cache {
    pbi_bound_level level[3];
    pb_bounds bounds[3];
    uint64_t tried[3]; /* a bit for each row of pb_strategies(): what the strategy can prove is known */
} pbi_bound_cache;

/* What all plans of one call share. */
typedef struct pbi_job {
    pb_context *ctx;
    const pb_request *request;
    uint64_t ticks; /* the caller's limit, recorded with every plan */
    char hash[PB_HASH_TEXT];
    const pb_moves *fast_start; /* tiered: a plan in fast memory alone, in addition to request->start; NULL: none */
    uint64_t end_ns;            /* 0, or the end of the strategy's time, by the context's clock */
    bool as_made;               /* no clean-up: plans stay as strategies make them */
    bool in_portfolio;          /* the portfolio also asks strategies that evict by themselves */
    bool others;                /* other strategies share the time: proofs get no more than their usual effort */
    bool no_proofs;             /* the caller runs exact strategies itself, once for all plans */
    const pb_bounds *quick;     /* NULL, or bounds of this game under any cap, to be used again */
    pbi_bound_cache *cache;     /* for plans with the same cap, weights and tiers; NULL: quick bounds are enough */
} pbi_job;
pb_status pbi_job_init(pbi_job *job, pb_context *ctx, const pb_graph *g, const pb_request *request);

static inline void pbi_emit(const pb_request *request, const pb_event *event)
{
    if (request->handler)
        request->handler->on_event(request->handler->state, event);
}

/* Fills *out with all that is known of a schedule before it is planned. Copies the game to `result`. */
pb_status pbi_provenance(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                         pb_plan_result *out);

/* Plans with one strategy or portfolio, verifies the plan and measures it. PB_OK with gave_up is an answer. */
pb_status pbi_plan_row(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                       pb_plan_result *out);

/* pb_plan without the clean-up, to test what a strategy itself does. */
pb_status pbi_plan_as_made(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_plan_result *out);

/* For a row without a plan: what the strategy would have done, up to the move that exceeds the cap, as
 * pb_plan_result.attempt. It is replayed. Nothing is set if the strategy has no such plan. */
pb_status pbi_attempt(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                      pb_plan_result *out);

/* The answer of a strategy that failed (an illegal plan, no memory): gave up, with the message of ctx->error. */
pb_status pbi_fault(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                    pb_plan_result *out);

/* Copies what the schedule points to into `arena`, except names of strategies, policies and options: these are
 * constants. */
pb_status pbi_schedule_copy(pb_arena *arena, pb_schedule *s);
/* The same for a whole result. Replays the plan, because a certificate cannot be copied. */
pb_status pbi_result_copy(pb_context *ctx, const pb_plan_result *from, pb_arena *result, pb_plan_result *out);

/* Turns a plan for a smaller cap into a plan for that of `whole`, with the bounds of `first`, which was planned for it.
 * From now on *p points to `game` and `note`. */
void pbi_result_restate(pb_plan_result *p, const pb_game *whole, const pb_schedule *first, pb_game *game, char *note,
                        size_t room);

/* pb_least_bound, given a proof that no plan needs less than `known`. */
pb_status pbi_least_bound(pb_context *ctx, const pb_game *game, uint64_t known, pb_bounds *out);
/* pb_least_cap, and its proof. On entry, proved->least_cap is a bound that is already proved, or 0. *proved is filled
 * once the proof is complete, even if the search for a plan then fails. */
pb_status pbi_least_find(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                         pb_bounds *proved, pb_plan_result *out);

/* After planning found no plan: the smallest cap of the game, for request.find_least. `infeasible`: its cap is proved
 * to be too small. *out is NULL if nothing is known. The context's time may be over. */
pb_status pbi_least_after(pb_context *ctx, const pb_game *game, bool infeasible, const pb_request *request,
                          pb_arena *result, const pb_least_fact **out);

/* Is plan a better than plan b under the weights? A result without a plan never is. */
bool pbi_result_better(const pb_plan_result *a, const pb_plan_result *b);

#endif
