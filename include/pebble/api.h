/* api.h -- the pipeline: plan, verify, measure, bound, compare. */
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

/* The smallest cap of a game: what is proved, and what a plan shows. */
typedef struct pb_least_fact {
    pb_game_kind kind;
    pb_bounds bounds; /* bounds.least_cap is the proven minimum */
    bool known;       /* a plan shows a cap that works */
    uint64_t cap;
    const char *strategy;
    const char *reason; /* why none is known */
} pb_least_fact;

typedef struct pb_plan_result {
    pb_schedule schedule;              /* everything that its file contains */
    const char *asked;                 /* the requested strategy: "auto" if schedule.strategy is its choice */
    const char *spec;                  /* the request in full: "every-k:k=10" */
    const pb_game *game;               /* the game as played, a copy in `result` */
    const pb_certificate *certificate; /* NULL when there is no plan; borrows `game` and moves that live in `result` */
    pb_step failed_step;               /* gave_up because of the cap: the move that did not fit; else UINT64_MAX */
    pb_node failed_node;               /* its node, else PB_NO_NODE */
    uint64_t failed_need;              /* memory that it needed; 0 if that is not the reason */
    /* With request.attempts, if the strategy found no plan: the moves of its plan with the smallest peak, replayed up
     * to the one that does not fit, which is the last and is failed_step. None: it has no such plan. */
    pb_moves attempt;
    double seconds;             /* by ctx->clock_ns, 0 without one */
    const pb_least_fact *least; /* if there is no plan, with request.find_least: the smallest cap; else NULL */
} pb_plan_result;

/* Events while plans are made, for a handler. */
typedef enum pb_event_kind {
    PB_EVENT_BEGIN, /* a strategy starts */
    PB_EVENT_BOUND, /* the bounds of the game are known */
    PB_EVENT_PLAN,  /* a strategy has a better plan; peak and makespan are its own figures, not verified yet */
    PB_EVENT_ROW    /* pb_compare: a strategy has ended */
} pb_event_kind;

typedef struct pb_event {
    pb_event_kind kind;
    const pb_game *game;
    const char *strategy;    /* the one that is running; NULL with bounds */
    const pb_bounds *bounds; /* PB_EVENT_BOUND */
    uint64_t peak, makespan; /* PB_EVENT_PLAN */
    /* PB_EVENT_ROW: may be copied; what it points to lives as long as the arena `result`. */
    const pb_plan_result *planned;
} pb_event;

/* Called by the planning thread. It must be quick, and must not call the library with the same context. */
typedef struct pb_event_handler {
    void (*on_event)(void *state, const pb_event *event);
    void *state;
} pb_event_handler;

/* A file by the name that a strategy's option `file` has, as in keep:file=layers.txt. */
typedef struct pb_file_text {
    const char *name, *text;
    size_t length;
} pb_file_text;

typedef struct pb_request {
    const char *strategy; /* "every-k" or "every-k:k=10,..."; NULL: "auto" */
    const char *policy;   /* NULL: the strategy's own choice */
    uint64_t seed;        /* the command's default is 1 */
    uint32_t threads;     /* 0 counts as 1; with more, all threads call the context's allocator and `stop` */
    bool patient;         /* use the whole time or tick limit: a search continues even if it seems to be finished */
    /* 0, or the time limit: ctx->stop will end planning this many nanoseconds from now, by ctx->clock_ns. Bounds then
     * take only a part of it. */
    uint64_t time_ns;
    double gap;     /* stop when a plan is proved to be within this share of the least makespan: 0.05 for 5 % */
    bool time_each; /* pb_compare: time_ns is for each row; else the rows share it equally */
    /* NULL, or a plan of this game, legal under this cap or a larger one, from which a search may start. */
    const pb_moves *start;
    const char *start_name; /* NULL, or the file of `start`: a portfolio then returns that plan if none is better */
    uint64_t bound_effort;  /* 0, or the max steps (pb_bounds_effort) for bounds before planning starts */
    const pb_event_handler *handler; /* NULL, or receives events */
    /* Use exact strategies for bounds, whichever strategy plans: on chains, and on graphs of up to 64 nodes. Commands
     * set it so that they all show the same bounds; it may take a second or two. */
    bool prove;
    const pb_file_text *files; /* for strategies that plan what a file says */
    uint32_t file_count;
    bool read_files; /* other files that strategies name may be read from the disk */
    /* If a strategy finds no plan that fits, plan once more without a cap, to show where its best plan exceeds it. */
    bool attempts;
    /* If there is no plan, search for the smallest cap that works, as pb_least_fact_find does. After a time limit this
     * takes another quarter of that time, at least half a second and at most two. */
    bool find_least;
} pb_request;
#define PB_REQUEST_DEFAULT ((pb_request){.seed = 1, .threads = 1})

/* One verified plan. PB_OK with outcome gave_up or infeasible is an answer, not an error.
 *   in       game       with cap, weights and tiers
 *   out      *out       lives in `result`
 *   returns  PB_EUNKNOWN, PB_EINVAL   the request names something that does not exist
 *            PB_ECANCELLED            interrupted before anything was found
 *            PB_EBUG                  the strategy's plan was illegal (a bug in the library)
 * If a plan was found before an interruption, it returns PB_OK and sets ctx->stopped. */
pb_status pb_plan(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                  pb_plan_result *out);

/* A plan in a file, a schedule or a list of computations, for request.start: legal in this game without its cap.
 *   returns  PB_EIO, PB_EFORMAT   it cannot be read; PB_EINVAL: it breaks a rule, or is for another game */
pb_status pb_start_read(pb_context *ctx, const pb_game *game, const char *path, pb_arena *result, const pb_moves **out);

/* Checkmate's mixed-integer program of a remat game, for other solvers (docs/solvers.md): least recomputation if first
 * computations keep program order.
 *   returns PB_EINVAL the program cannot express the game, or there is no cap */
typedef enum pb_program_form { PB_PROGRAM_MPS, PB_PROGRAM_LP } pb_program_form;
pb_status pb_program_write(pb_context *ctx, const pb_game *game, pb_program_form form, pb_sink sink);
/* A solver's solution of that program, as HiGHS, Cbc, SCIP, CPLEX and Gurobi write them, as a verified plan. The cap
 * must be the one that the program was written with.
 *   returns PB_EFORMAT it is no solution of this program */
pb_status pb_solution_plan(pb_context *ctx, const pb_game *game, const pb_request *request, const pb_file_text *file,
                           pb_arena *result, pb_plan_result *out);

/* Whether this is one strategy, or "all", with options that it has. Values of options are checked when it plans.
 *   returns  PB_EUNKNOWN, PB_EINVAL   with a sentence in ctx->error */
pb_status pb_spec_check(pb_context *ctx, const char *spec);

/* A plan with addresses for its values. */
typedef struct pb_addressed {
    pb_plan_result planned; /* with schedule.addresses if there is a plan */
    pb_packing packing;
    uint64_t lost;        /* size of the block minus the plan's peak: gaps, and sizes rounded up */
    uint64_t planned_cap; /* the cap it was planned for: the game's, or a smaller one so that the addresses fit */
    uint32_t plans;       /* how many plans were made */
    bool fits;            /* the block is within the cap */
} pb_addressed;

/* Plans, and places the values at multiples of `align`, a power of two. If the addresses need more than the cap, it
 * plans again for less memory and with other seeds until they fit, and takes the cheapest plan whose addresses fit.
 * If none fits, the result is the plan that needs the smallest block, and fits is false.
 * Outcome and bounds are about sums of sizes. If no plan fits as a sum, none fits with addresses; an optimal plan whose
 * addresses fit is optimal with addresses; that no addresses fit is never proved. A plan that was made for less
 * than the cap is `found`, and its note names the cap it was made for.
 *   returns as pb_plan, and PB_EINVAL for a wrong alignment, PB_ERANGE as pb_pack
 * ctx->tick_limit applies to each plan. A stop keeps the best plan so far. */
pb_status pb_plan_addressed(pb_context *ctx, const pb_game *game, const pb_request *request, uint64_t align,
                            pb_arena *result, pb_addressed *out);

/* Checks the addresses of a schedule against its moves. If they are wrong, `text` has a sentence. A schedule without
 * addresses passes. */
pb_status pb_judge_addresses(pb_context *ctx, const pb_certificate *c, const pb_addresses *a, bool *good, char *text,
                             size_t room);

/* The first metric that the schedule states and that differs from `metrics`, with both values ("peak is 4 in the
 * file, but 5 in the replay"); false if all agree. */
bool pb_judge_metrics(const pb_schedule *s, const pb_metrics *metrics, char *text, size_t room);

/* What can be wrong with a schedule from another source, in the order of the checks. */
typedef enum pb_failure {
    PB_FAILURE_NONE,
    PB_FAILURE_RULE,      /* a rule is broken: the verdict has it */
    PB_FAILURE_RANGE,     /* its work or io passes 64 bits */
    PB_FAILURE_GRAPH,     /* legal, but its hash is that of another graph */
    PB_FAILURE_ADDRESSES, /* legal, but its addresses overlap, or values have none */
    PB_FAILURE_FIGURES    /* legal, but its figures differ from those of the replay */
} pb_failure;
typedef struct pb_judgement {
    pb_game game; /* from the schedule and the graph */
    pb_verdict verdict;
    pb_metrics metrics; /* when legal */
    bool same_graph;    /* the schedule has this graph's hash, or none */
    pb_failure failure;
    char message[640]; /* what is wrong; "" when nothing is */
} pb_judgement;

/* Whether the schedule's graph was read from its file with other options than this one. Its hash then differs. */
bool pb_read_otherwise(const pb_graph *g, const pb_schedule *s);

/* Verifies and measures a schedule from another source: sets game and verdict, and metrics if it is legal. The
 * game has the costs that the schedule's machine gives the graph (PB_EFORMAT if it cannot). s->bound_kind and
 * lower_bound are used for the gap. The certificate in the verdict borrows out->game and s->moves: do not move either
 * while it is in use. */
pb_status pb_judge(pb_context *ctx, const pb_graph *g, const pb_schedule *s, pb_arena *result, pb_judgement *out);
/* pb_judge and the other claims of a file: graph, addresses, figures.
 *   in   any_graph   accept a legal schedule that was made for another graph */
pb_status pb_judge_all(pb_context *ctx, const pb_graph *g, const pb_schedule *s, bool any_graph, pb_arena *result,
                       pb_judgement *out);
/* The document of `pebble verify --json`. */
pb_status pb_judgement_json_write(pb_context *ctx, const pb_judgement *j, pb_sink sink);

/* Why there is no plan, as text. `game` is the requested one. */
void pb_result_reason(const pb_plan_result *p, const pb_game *game, char *text, size_t room);

typedef struct pb_comparison {
    pb_plan_result *rows;
    uint32_t row_count;
    uint32_t winner;               /* row index; UINT32_MAX if nothing fits */
    bool interrupted;              /* rows after the interruption are missing */
    bool listed;                   /* the request named strategies: all rows are to be shown */
    const pb_least_fact *least[3]; /* with request.find_least: of each game that was played without finding a plan */
    uint32_t least_count;
    /* Of the request, a constant; NULL: none. Not set in rows of strategies that take no policy. */
    const char *policy;
} pb_comparison;

typedef struct pb_compare_request {
    const char *strategies; /* "a,b:k=3,c", in which "all" means all except portfolios; NULL: "all" */
    unsigned games;         /* bits */
    pb_request plan;        /* for every row; `strategy` is ignored */
} pb_compare_request;

/* Every strategy in every game that it applies to, with the cap, weights and tiers of `base`. */
pb_status pb_compare(pb_context *ctx, const pb_game *base, const pb_compare_request *request, pb_arena *result,
                     pb_comparison *out);

/* The strongest proof of the smallest possible cap, whichever strategy plans: pb_bounds_make, what cannot be recomputed
 * (pb_bounds_tighten without a cap), and on small graphs (64 needed nodes, 36 in the reversible game) exhaustive
 * search. The game's cap and weights are ignored. Every command shows this bound.
 *   out      *out   bounds under any cap; least_cap is the proven minimum
 *   returns  PB_OK after a stop too, with what was proved until then
 *   cost     seconds at most; limited by ctx->tick_limit */
pb_status pb_least_bound(pb_context *ctx, const pb_game *game, pb_bounds *out);

/* The proven minimum and the smallest cap that a plan shows; after a stop, what is known by then. */
pb_status pb_least_fact_find(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                             pb_least_fact *out);
/* A cap as text, "38.2 % (8.3 GiB)" or "6 pebble", and as an option value, "38.2%" or "6". Both texts have enough
 * memory for it. Percentages are of `program_peak`, rounded up, and are used only for bytes. */
void pb_cap_text(uint64_t cap, const pb_graph *g, uint64_t program_peak, char *text, size_t room);
void pb_cap_option_text(uint64_t cap, const pb_graph *g, uint64_t program_peak, char *text, size_t room);
/* A clause for a caller who requested game->cap and got no plan: "no plan found for 33 % (7.2 GiB); the smallest cap
 * with a known plan is 38.2 % (8.3 GiB)". */
void pb_least_fact_text(const pb_least_fact *l, const pb_game *game, uint64_t program_peak, char *text, size_t room);

/* The smallest cap known to work and the plan that shows it, found by trying strategies. The plan minimizes the
 * peak: out->game has the weights 1,0,0, whatever the weights of `game` are. */
pb_status pb_least_cap(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                       pb_plan_result *out);

/* The minimum work of the reversible game for every amount of memory, each point proved. */
typedef struct pb_front_point {
    uint64_t peak, work, moves; /* moves: of the plan that shows the point */
} pb_front_point;
typedef struct pb_front {
    pb_front_point *point; /* peaks ascend, work falls */
    uint32_t count;
    bool complete; /* the first point has the smallest memory of any plan */
    /* The minimum work is known for this much memory and more; if complete, for any memory. */
    uint64_t settled_from;
} pb_front;

/* For graphs that `exact` can handle: about thirty nodes. The caps go down from the memory that keeps everything.
 *   in       effort   ticks for all caps together, 0: no limit; with too few the front ends above the smallest memory
 *   returns  PB_OK    also after a stop, with what was proved until then */
pb_status pb_reversible_front(pb_context *ctx, const pb_graph *g, uint64_t effort, pb_arena *result, pb_front *out);
/* The point with the least work within this much memory; NULL if it is not known or nothing fits. */
const pb_front_point *pb_front_at(const pb_front *front, uint64_t memory);

/* Caps x strategies x weights. `known` and the plans of the cells are reused: see sweep.h. */
typedef struct pb_sweep_request {
    const char *strategies; /* "auto,search,every-k:k=3"; "all": all except portfolios; NULL: "auto" */
    /* One pb_game_kind; 0: each strategy in the first game that it plays of tiered (if the base game has tiers), remat,
     * reversible. */
    unsigned game;
    const uint64_t *caps; /* in any order */
    uint32_t cap_count;
    const pb_weights *weights;
    uint32_t weights_count;      /* 0: those of the base game */
    const pb_plan_result *known; /* plans made before: portfolios of the same game use those that fit */
    uint32_t known_count;
    pb_request plan;  /* for every cell; `strategy` is ignored, `threads` is how many cells are planned at a time */
    uint64_t time_ns; /* for all cells: each gets an equal share of what is left; needs ctx->clock_ns; 0: no limit */
} pb_sweep_request;

/* Plans every cell that other cells do not decide, verifies every plan, carries plans to larger caps and bounds to
 * smaller ones.
 *   out      *out        marked (pb_sweep_mark); lives in `result`, and borrows the graph
 *   returns  PB_OK       after a stop too: out->stopped is then set, and cells may be missing
 *            PB_EINVAL, PB_EUNKNOWN   the request names something that does not exist
 *            PB_EBUG     a plan beats a bound (a bug in the library); an illegal plan is a cell that gave up
 * ctx->tick_limit applies to each cell. Equal seeds and ticks give equal plans for any number of threads, unless a
 * stop or a time limit intervenes. With several threads, all of them call ctx->stop, ctx->clock_ns and ctx->resize;
 * only the calling thread calls ctx->progress and ctx->log. */
pb_status pb_sweep_make(pb_context *ctx, const pb_game *base, const pb_sweep_request *request, pb_arena *result,
                        pb_sweep *out);

/* The caps of a sweep from text: "100%..30%,20%,least"; a range has `points` caps. NULL: from the peak in program order
 * (in the reversible game, of a plan without a cap) down to the smallest cap that works.
 *   in, out  request   reads its strategies, game, plan and time; fills in caps and known plans. Each end of the range
 *                      takes at most a fifth of the time
 *   returns  PB_EINVAL with a sentence; what pb_least_cap and pb_plan return */
#define PB_SWEEP_MAX_CAPS 10000
pb_status pb_sweep_choose_caps(pb_context *ctx, const pb_game *base, const char *list, uint32_t points,
                               pb_arena *result, pb_sweep_request *request);

/* Up to `points` caps from `high` down to `low`, evenly spaced, including both. */
pb_status pb_sweep_caps(pb_arena *result, uint64_t high, uint64_t low, uint32_t points, uint64_t **caps,
                        uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
