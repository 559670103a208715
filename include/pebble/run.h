/* run.h -- workloads under a cap, for real: profiled, planned so that addresses fit, run, and held against the plan.
 *
 *     pb_profile_workload(ctx, w, 0, arena, &profiled);
 *     game.graph = profiled.graph;
 *     pb_run_plan_make(ctx, &game, &request, arena, &planned, &packing);  // peak and addresses within game.cap
 *     pb_run_plan(ctx, w, planned.certificate, &(pb_run_options){.steps = 3}, arena, &figures);
 */
#ifndef PEBBLE_RUN_H
#define PEBBLE_RUN_H

#include "api.h"
#include "profile.h"
#include "workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* pb_profile_run for a workload; `repeat` as there. */
pb_status pb_profile_workload(pb_context *ctx, pb_workload *w, uint32_t repeat, pb_arena *result, pb_profiled *out);

/* pb_plan_addressed, and where its addresses do not fit game->cap quick plans for much less memory; where the time was too short for any
 * plan, a quick one for the cap first. Where none fits: gave_up.
 *   out      *packing    with a plan: the addresses, at multiples of 64 */
pb_status pb_run_plan_make(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_plan_result *out, pb_packing *packing);

/* The program as written: everything computed once, in the graph's order; nothing freed where keep_all, else each value after its last
 * use. Lives in `result` and borrows the graph. */
pb_status pb_run_written(pb_context *ctx, const pb_graph *g, bool keep_all, pb_arena *result,
                         const pb_certificate **out);

typedef struct pb_run_options {
    uint64_t steps;            /* 0: 1 */
    uint64_t most_bytes;       /* of addresses; 0: what the plan needs */
    const pb_packing *packing; /* as in pb_engine_options */
    bool cold;                 /* without a step before the first one, that warms up and does not count */
    const char *slow_path;     /* tiered plans: a folder, or the beginning of a file's name, for all tiers */
    const pb_request *replan;  /* how to plan the rest of a run whose kernels need more than they said; NULL: it ends */
    /* NULL, or told after each step, while its memory is still there. */
    void (*after)(void *state, uint64_t step);
    void *after_state;
} pb_run_options;

enum { PB_RUN_TEXT = 128 };

/* What the steps of a run took: medians over the steps where they may differ. */
typedef struct pb_run_figures {
    uint64_t steps;                /* that were run */
    uint64_t peak, block;          /* bytes in use at most; bytes of addresses */
    uint64_t computed, recomputed; /* computations of a step */
    pb_spread time;                /* of a step, without filling what is given */
    uint64_t fill_ns, kernel_ns,
        recompute_ns;                    /* before the first computation; in kernels; in those that computed again */
    double flux;                         /* byte x ns, over kernels and waiting */
    uint64_t stored_bytes, loaded_bytes; /* of a step */
    uint64_t io_wait_ns,
        io_busy_ns; /* the run waited for slow memory; slow memory was at work, with the run or beside it */
    uint64_t more_bytes,
        replanned; /* workspace beyond what was said, at most at a time; plans made anew, in all steps */
    const char (*digest)[PB_HASH_TEXT]; /* of the results after each step */
    char text[PB_RUN_TEXT];             /* what the workload says of the last step */
} pb_run_figures;

/* After pb_run_plan_make in vain: the smallest cap that a plan with addresses is known for. `infeasible`: game->cap is proved to be too
 * small. NULL in *out where there is nothing to say. */
pb_status pb_run_least(pb_context *ctx, const pb_game *game, bool infeasible, const pb_request *request,
                       pb_arena *result, const pb_least_fact **out);

/* Runs a plan on the kernels of the workload, from step 0 on.
 *   returns PB_OK       after a stop too, if a step was done by then (ctx->stopped tells)
 *           PB_ELIMIT   the addresses need more than most_bytes */
pb_status pb_run_plan(pb_context *ctx, pb_workload *w, const pb_certificate *plan, const pb_run_options *options,
                      pb_arena *result, pb_run_figures *out);

/* The first step after which two runs have different results; UINT64_MAX: those that both have done are equal. */
uint64_t pb_run_differs(const pb_run_figures *a, const pb_run_figures *b);

/* How a workload may be run, each at least as good as the one before. */
typedef enum pb_fit_way {
    PB_FIT_STORE_ALL, /* in the program's order, everything kept to the end */
    PB_FIT_WRITTEN,   /* in the program's order, each value freed after its last use */
    PB_FIT_ORDER,     /* in the best order that was found, nothing computed twice */
    PB_FIT_PLAN,      /* with recomputation, within the overhead */
    PB_FIT_WAYS
} pb_fit_way;
const char *pb_fit_way_name(pb_fit_way way); /* store-all, written, order, planned */

#define PB_FIT_FORWARD (-1.0)

typedef struct pb_fit_request {
    const char *workload;
    const pb_option *options; /* with or without the one that is varied */
    uint32_t option_count;
    const char *vary; /* NULL: "batch" */
    uint64_t cap;     /* of addresses, in bytes; not PB_UNLIMITED */
    double
        max_overhead; /* the most extra time, as a share of computing everything once; PB_FIT_FORWARD: one forward pass */
    pb_request plan; /* how to plan at each value */
} pb_fit_request;

typedef struct pb_fit_row {
    uint64_t value; /* the largest that fits; 0: none does */
    bool bounded;   /* false: the workload takes no larger one; true after a stop */
    bool ran;       /* one step was run; the figures below are of it */
    pb_run_figures measured;
    double overhead;          /* as predicted, from costs measured at profile_value: of nothing but order 0 */
    double forward_passes;    /* the same in forward passes: the computations up to where most values wait to be read */
    double measured_overhead; /* time in kernels that computed again over time in all others */
    const char *strategy;     /* that made the plan; NULL for the first two ways */
} pb_fit_row;

typedef struct pb_fit {
    pb_fit_row row[PB_FIT_WAYS];
    uint64_t profile_value; /* where costs were measured; planning at other values takes them in the same proportions */
    bool profiled_each;     /* the option changes the nodes: costs were measured at every value that was planned */
    uint32_t plans;         /* that were made */
    bool stopped;           /* before the end: rows may be too small, or not run */
    uint64_t least_cap;     /* where nothing fits: the smallest cap that a value of 1 is known to fit; else 0 */
} pb_fit;

/* The largest value of an option of a workload, for each way to run it under a cap: doubled until it does not fit, then by halves.
 * Every answer is run for one step.
 *   returns PB_OK        also where nothing fits, and after a stop
 *           PB_EUNKNOWN, PB_EINVAL   no such workload or option */
pb_status pb_fit_find(pb_context *ctx, const pb_fit_request *request, pb_arena *result, pb_fit *out);

#ifdef __cplusplus
}
#endif
#endif
