/* api.h -- the pipeline: plan, verify, measure, bound, compare. The one place the stages meet. */
#ifndef PEBBLE_API_H
#define PEBBLE_API_H

#include "bound.h"
#include "metrics.h"
#include "pack.h"
#include "plan.h"
#include "sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of the smallest cap of a game. */
typedef struct pb_least_fact {
    pb_game_kind kind;
    pb_bounds bounds; /* bounds.least_cap is the proven minimum */
    bool known;       /* some plan shows a cap that works */
    uint64_t cap;
    const char *strategy;
    const char *reason; /* why none is known */
} pb_least_fact;

typedef struct pb_plan_result {
    pb_schedule schedule; /* all the file holds */
    const char *asked;    /* the strategy that was asked for: "auto" where schedule.strategy is its choice */
    const char *spec;     /* the same in full, as it was asked for: "every-k:k=10" */
    const pb_game *game;  /* as played, a copy in `result` */
    const pb_certificate *certificate; /* NULL when there is no plan; borrows `game` and moves that live in `result` */
    pb_step failed_step;               /* gave_up for the cap: the move that could not fit; else UINT64_MAX */
    pb_node failed_node;               /* its node, else PB_NO_NODE */
    uint64_t failed_need;              /* memory it needed; 0 when that is not the reason */
    double seconds;                    /* by ctx->clock_ns, 0 without one */
    const pb_least_fact *least;        /* without a plan, and with request.find_least: the smallest cap; else NULL */
} pb_plan_result;

/* What happens while plans are made, told to whoever watches. */
typedef enum pb_event_kind {
    PB_EVENT_BEGIN, /* a strategy begins */
    PB_EVENT_BOUND, /* the bounds of the game are known */
    PB_EVENT_PLAN, /* a planner has a better plan than before; peak and makespan are what it counts, not verified yet */
    PB_EVENT_ROW   /* pb_compare: a strategy has ended */
} pb_event_kind;

typedef struct pb_event {
    pb_event_kind kind;
    const pb_game *game;
    const char *strategy;    /* the one at work; NULL with bounds */
    const pb_bounds *bounds; /* PB_EVENT_BOUND */
    uint64_t peak, makespan; /* PB_EVENT_PLAN */
    const pb_plan_result
        *planned; /* PB_EVENT_ROW: may be copied; what it points to stays as long as the result's arena */
} pb_event;

/* Called by the thread that plans. It must be quick, and must not call the library with the same context. */
typedef struct pb_event_handler {
    void (*on_event)(void *state, const pb_event *event);
    void *state;
} pb_event_handler;

typedef struct pb_request {
    const char *strategy; /* "every-k" or "every-k:k=10,..."; NULL: "auto" */
    const char *policy;   /* NULL: the strategy's own choice */
    uint64_t seed;        /* 1 is the default of the command */
    uint32_t threads;     /* 0 counts as 1; with more the context's allocator and `stop` are called from all of them */
    bool patient;         /* use all the time or ticks there are: a search goes on although it seems to be done */
    uint64_t time_ns; /* 0, or when ctx->stop is going to say that the time is over, from now by ctx->clock_ns: bounds
                              then take a part of it only */
    bool time_each;   /* pb_compare: that much for each row; else rows have equal shares of it */
    const pb_moves *start; /* NULL, or a plan of this game, legal under this cap or a larger one, that a search begins
                              from among others */
    uint64_t bound_effort; /* 0, or the most steps (pb_bounds_effort) that bounds may take before planning begins */
    const pb_event_handler *handler; /* NULL, or who wants to hear how it goes */
    bool
        prove; /* ask exact strategies for bounds, whichever strategy plans: chains, and graphs of up to 64 nodes. Commands do, so
                   that they show the same bounds; it may take a second or two */
    bool
        find_least; /* without a plan, look for the smallest cap that works, as pb_least_fact_find does; after a limit on
                        time for a quarter of that time once more, at least half a second and at most two */
} pb_request;
#define PB_REQUEST_DEFAULT ((pb_request){.seed = 1, .threads = 1})

/* One verified plan. PB_OK with outcome gave_up or infeasible is an answer, not an error.
 *   in       game       cap, weights, tiers and all
 *   out      *out       lives in `result`
 *   returns  PB_EUNKNOWN, PB_EINVAL   the request names something that is not there
 *            PB_ECANCELLED            interrupted before anything was found
 *            PB_EBUG                  the strategy's plan was illegal (a fault of ours)
 * After an interruption that still left a plan it returns PB_OK and ctx->stopped tells. */
pb_status pb_plan(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                  pb_plan_result *out);

/* Is this one strategy, or "all", with options that it has? Values of options are checked when it plans.
 *   returns  PB_EUNKNOWN, PB_EINVAL   with a sentence */
pb_status pb_spec_check(pb_context *ctx, const char *spec);

/* A plan with addresses for its values. */
typedef struct pb_addressed {
    pb_plan_result planned; /* with schedule.addresses where there is a plan */
    pb_packing packing;
    uint64_t lost;        /* what the block has beyond the plan's peak: gaps, and sizes rounded up */
    uint64_t planned_cap; /* what it was planned for in the end: the cap, or less so that the addresses fit */
    uint32_t plans;       /* how many were made */
    bool fits;            /* the block is within the cap */
} pb_addressed;

/* Plan, and place the values at multiples of `align`, a power of two. Where the addresses need more than the cap, plan again for less
 * memory and with other seeds until they fit, and take the cheapest plan of those that do. Where none does, the result
 * is the one that needs least, and fits is false.
 * Outcome and bounds are about sums of sizes. What is infeasible as a sum is so with addresses, and an optimal plan whose addresses
 * fit is optimal with addresses; that none fits is never proved. A plan that was made for less than the cap is `found`, and
 * its note says what for.
 *   returns as pb_plan, and PB_EINVAL for a wrong alignment, PB_ERANGE as pb_pack
 * ctx->tick_limit holds for each plan. A stop keeps the best so far. */
pb_status pb_plan_addressed(pb_context *ctx, const pb_game *game, const pb_request *request, uint64_t align,
                            pb_arena *result, pb_addressed *out);

/* Are the addresses of a schedule right for its moves? Where not, a sentence in `text`. A schedule without any is fine. */
pb_status pb_judge_addresses(pb_context *ctx, const pb_certificate *c, const pb_addresses *a, bool *good, char *text,
                             size_t room);

/* Verify a schedule that came from elsewhere and measure it: *verdict always, *metrics when legal.
 * s->bound_kind and lower_bound feed the gap. `game` is filled from the schedule and the graph; the certificate in
 * the verdict borrows it and s->moves, so neither may move while it is used. */
pb_status pb_judge(pb_context *ctx, const pb_graph *g, const pb_schedule *s, pb_arena *result, pb_game *game,
                   pb_verdict *verdict, pb_metrics *metrics);

/* Names the first metric that the schedule states and that differs from `metrics`, with both values
 * ("peak: the file says 4, the replay 5"); false when all agree. */
bool pb_judge_metrics(const pb_schedule *s, const pb_metrics *metrics, char *text, size_t room);

/* All that can be wrong with a schedule from elsewhere, in the order that it is looked at. */
typedef enum pb_fault {
    PB_FAULT_NONE,
    PB_FAULT_RULE,      /* a rule is broken: the verdict says which */
    PB_FAULT_RANGE,     /* its work or io passes 64 bits */
    PB_FAULT_GRAPH,     /* legal, but made for another graph by its hash */
    PB_FAULT_ADDRESSES, /* legal, but its addresses overlap or miss values */
    PB_FAULT_FIGURES    /* legal, but it states other figures than the replay has */
} pb_fault;
typedef struct pb_judgement {
    pb_game game;
    pb_verdict verdict;
    pb_metrics metrics; /* when legal */
    bool same_graph;    /* the schedule's hash is the graph's, or it has none */
    pb_fault fault;
    char message[640]; /* what is wrong; "" when nothing is */
} pb_judgement;

/* Was the graph of this schedule read from its file with other options than this one? Its hash is another one then. */
bool pb_read_otherwise(const pb_graph *g, const pb_schedule *s);

/* pb_judge and everything else a file states: graph, addresses, figures. The certificate borrows `out` and s->moves.
 *   in   any_graph   a legal schedule of another graph is fine */
pb_status pb_judge_all(pb_context *ctx, const pb_graph *g, const pb_schedule *s, bool any_graph, pb_arena *result,
                       pb_judgement *out);
/* The document of `pebble verify --json`. */
pb_status pb_judgement_json_write(pb_context *ctx, const pb_judgement *j, pb_sink sink);

/* Why a plan is missing, in words. `game` is the one that was asked for. */
void pb_result_reason(const pb_plan_result *p, const pb_game *game, char *text, size_t room);

typedef struct pb_comparison {
    pb_plan_result *rows;
    uint32_t row_count;
    uint32_t winner;               /* row index; UINT32_MAX when nothing fits */
    bool interrupted;              /* rows after the interruption are missing */
    const pb_least_fact *least[3]; /* with request.find_least: of each game that was played and has no plan */
    uint32_t least_count;
    const char *policy; /* of the request, a constant; NULL: none. Rows of strategies that take none lack it */
} pb_comparison;

/* Every strategy in every game of `games` (bits) that applies to it. The cap, weights and tiers are `base`'s.
 * `only`: "a,b:k=3,c", where "all" stands for all but portfolios; NULL: "all". The request's strategy is not looked at. */
pb_status pb_compare(pb_context *ctx, const pb_game *base, unsigned games, const char *only, const pb_request *request,
                     pb_arena *result, pb_comparison *out);

/* The strongest proof there is of how small a cap can be, whichever strategy plans: pb_bounds_make, what cannot be computed again
 * (pb_bounds_tighten without a cap), and on small graphs (64 needed nodes, 36 in the reversible game) a look at every plan. The game's cap and weights do
 * not matter. Every command shows this one.
 *   out      *out   bounds under any cap; least_cap is the proven minimum
 *   returns  PB_OK after a stop too: with what was proved until then, which is something
 *   cost     seconds at most; limited by ctx->tick_limit */
pb_status pb_least_bound(pb_context *ctx, const pb_game *game, pb_bounds *out);

/* Both ends: what is proved, and what a plan shows. After a stop what is known by then. */
pb_status pb_least_fact_find(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                             pb_least_fact *out);
/* A cap in words, "38.2 % (8.3 GiB)" or "6 pebble", and as an option takes it, "38.2%" or "6"; both are room for it. Shares are of
 * `program_peak`, rounded up, and only of bytes. */
void pb_cap_text(uint64_t cap, const pb_graph *g, uint64_t program_peak, char *text, size_t room);
void pb_cap_option_text(uint64_t cap, const pb_graph *g, uint64_t program_peak, char *text, size_t room);
/* What the fact says to somebody who asked for game->cap in vain, as a clause: "no plan found for 33 % (7.2 GiB); the smallest cap with a
 * known plan is 38.2 % (8.3 GiB)". */
void pb_least_fact_text(const pb_least_fact *l, const pb_game *game, uint64_t program_peak, char *text, size_t room);

/* The smallest cap known to work and the plan that shows it, by trying strategies. The plan is made for the least peak:
 * out->game has the weights 1,0,0, whatever `game` has. */
pb_status pb_least_cap(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                       pb_plan_result *out);

/* The least work of the reversible game for every amount of memory, proved point by point. */
typedef struct pb_front_point {
    uint64_t peak, work, moves; /* moves of the plan that shows it */
} pb_front_point;
typedef struct pb_front {
    pb_front_point *point; /* peaks ascend, work falls */
    uint32_t count;
    bool complete;         /* the first point has the least memory that any plan needs */
    uint64_t settled_from; /* memory from which on the least work is known; less than that where it is complete */
} pb_front;

/* For graphs that `exact` can handle: about thirty nodes. The caps go down from what keeping everything takes.
 *   in       effort   ticks for all caps together, 0: no limit; with too little the front ends before the least memory
 *   returns  PB_OK    also after a stop, with what was proved until then */
pb_status pb_reversible_front(pb_context *ctx, const pb_graph *g, uint64_t effort, pb_arena *result, pb_front *out);
/* The point with the least work within this much memory, or NULL where that is not known or nothing fits. */
const pb_front_point *pb_front_at(const pb_front *front, uint64_t memory);

/* Caps x strategies x weights. `known` and what the cells find is reused: see sweep.h. */
typedef struct pb_sweep_request {
    const char *strategies; /* "auto,search,every-k:k=3"; "all": all but portfolios; NULL: "auto" */
    unsigned game;          /* one pb_game_kind; 0: each strategy in the first that it plays of tiered (where the base
                             * game has tiers), remat, reversible */
    const uint64_t *caps;   /* in any order */
    uint32_t cap_count;
    const pb_weights *weights;
    uint32_t weights_count; /* 0: those of the base game */
    const pb_plan_result
        *known; /* plans that are at hand already: portfolios of the same game take them where they serve */
    uint32_t known_count;
    pb_request
        plan; /* for every cell; `strategy` is not looked at, `threads` is how many cells are planned at a time */
    uint64_t
        time_ns; /* for all cells together, each gets an equal share of what is left; needs ctx->clock_ns; 0: none */
} pb_sweep_request;

/* Plan every cell that others do not settle, verify every plan, carry plans to larger caps and bounds to smaller ones.
 *   out      *out        marked (pb_sweep_mark); lives in `result`, and borrows the graph
 *   returns  PB_OK       after a stop too: out->stopped tells, and cells may be missing
 *            PB_EINVAL, PB_EUNKNOWN   the request names something that is not there
 *            PB_EBUG     a plan beats a bound (a fault of ours); an illegal plan is a cell that gave up
 * ctx->tick_limit holds for each cell. For equal seed and ticks the plans are the same whatever the threads, unless a
 * stop or a time limit cuts in. With several threads ctx->stop, ctx->clock_ns and ctx->resize are called from all of
 * them, ctx->progress and ctx->log from the calling one only. */
pb_status pb_sweep_make(pb_context *ctx, const pb_game *base, const pb_sweep_request *request, pb_arena *result,
                        pb_sweep *out);

/* The caps of a sweep as people write them: "100%..30%,20%,least", where a range has `points` caps. NULL: from what the program
 * as written needs (in the reversible game a plan without a cap) down to the least that works.
 *   in, out  request   its strategies, game, plan and time are looked at; caps and known plans are filled in. Each end of
 *                      the range has a fifth of the time at most
 *   returns  PB_EINVAL with a sentence; what pb_least_cap and pb_plan return */
#define PB_SWEEP_MOST_CAPS 10000
pb_status pb_sweep_choose_caps(pb_context *ctx, const pb_game *base, const char *list, uint32_t points,
                               pb_arena *result, pb_sweep_request *request);

/* Up to `points` caps from `high` down to `low`, evenly spaced, both ends among them. */
pb_status pb_sweep_caps(pb_arena *result, uint64_t high, uint64_t low, uint32_t points, uint64_t **caps,
                        uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
