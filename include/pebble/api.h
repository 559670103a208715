/* api.h -- the pipeline: plan, verify, measure, bound, compare. The one place the stages meet. */
#ifndef PEBBLE_API_H
#define PEBBLE_API_H

#include "bound.h"
#include "metrics.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pb_request {
    const char *strategy;  /* "every-k" or "every-k:k=10,..."; NULL: "auto" */
    const char *policy;    /* NULL: the strategy's own choice */
    uint64_t seed;         /* 1 is the default of the command */
    uint32_t threads;      /* 0 counts as 1; with more the context's allocator and `stop` are called from all of them */
    bool patient;          /* use all the time or ticks there are: a search goes on although it seems to be done */
    const pb_moves *start; /* NULL, or a plan of this game, legal under this cap or a larger one, that a search begins
                              from among others */
} pb_request;
#define PB_REQUEST_DEFAULT ((pb_request){.seed = 1, .threads = 1})

typedef struct pb_planned {
    pb_schedule schedule; /* all the file holds */
    const char *asked;    /* the strategy that was asked for: "auto" where schedule.strategy is its choice */
    const pb_game *game;  /* as played, a copy in `result` */
    const pb_certificate *certificate; /* NULL when there is no plan; borrows `game` and moves that live in `result` */
    pb_step failed_step;               /* gave_up for the cap: the move that could not fit; else UINT64_MAX */
    pb_node failed_node;               /* its node, else PB_NO_NODE */
    uint64_t failed_need;              /* memory it needed; 0 when that is not the reason */
    double seconds;                    /* by ctx->clock_ns, 0 without one */
} pb_planned;

/* One verified plan. PB_OK with outcome gave_up or infeasible is an answer, not an error.
 *   in       game       cap, weights, tiers and all
 *   out      *out       lives in `result`
 *   returns  PB_EUNKNOWN, PB_EINVAL   the request names something that is not there
 *            PB_ECANCELLED            interrupted before anything was found
 *            PB_EBUG                  the strategy's plan was illegal (a fault of ours)
 * After an interruption that still left a plan it returns PB_OK and ctx->stopped tells. */
pb_status pb_plan(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result, pb_planned *out);

/* Verify a schedule that came from elsewhere and measure it: *verdict always, *metrics when legal.
 * s->bound_kind and lower_bound feed the gap. `game` is filled from the schedule and the graph; the certificate in
 * the verdict borrows it and s->moves, so neither may move while it is used. */
pb_status pb_judge(pb_context *ctx, const pb_graph *g, const pb_schedule *s, pb_arena *result, pb_game *game,
                   pb_verdict *verdict, pb_metrics *metrics);

/* Names the first metric that the schedule states and that differs from `metrics`, with both values
 * ("peak: the file says 4, the replay 5"); false when all agree. */
bool pb_judge_metrics(const pb_schedule *s, const pb_metrics *metrics, char *text, size_t room);

typedef struct pb_comparison {
    pb_planned *rows;
    uint32_t row_count;
    uint32_t winner;  /* row index; UINT32_MAX when nothing fits */
    bool interrupted; /* rows after the interruption are missing */
} pb_comparison;

/* Every strategy in every game of `games` (bits) that applies to it. The cap, weights and tiers are `base`'s.
 * `only`: "a,b:k=3,c", where "all" stands for all but portfolios; NULL: "all". The request's strategy is not looked at. */
pb_status pb_compare(pb_context *ctx, const pb_game *base, unsigned games, const char *only, const pb_request *request,
                     pb_arena *result, pb_comparison *out);

/* The smallest cap known to work and the plan that shows it, by trying strategies. The plan is made for the least peak:
 * out->game has the weights 1,0,0, whatever `game` has. */
pb_status pb_least_cap(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                       pb_planned *out);

#ifdef __cplusplus
}
#endif
#endif
