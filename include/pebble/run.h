/* run.h -- runs workloads under a cap: profiles them, plans so that addresses fit, runs, and compares with the plan.
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

/* pb_plan_addressed, and if its addresses do not fit game->cap, quick plans for much less memory. If the time was too
 * short for any plan, a quick one for the cap first. If none fits: gave_up.
 *   out      *packing    if there is a plan: the addresses, at multiples of 64 */
pb_status pb_run_plan_make(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_plan_result *out, pb_packing *packing);

/* The program in program order: everything computed once. With keep_all nothing is freed, else each value after its
 * last use. Lives in `result` and borrows the graph. */
pb_status pb_run_program_order(pb_context *ctx, const pb_graph *g, bool keep_all, pb_arena *result,
                               const pb_certificate **out);

/* A machine with one processor and a second memory at `path`, with the link rates that are measured there. */
pb_status pb_run_links(pb_context *ctx, const char *path, pb_arena *result, const pb_machine **out);
/* Turns *game, of a profiled workload, into the timed game: computations take their costs, on the machine's first
 * processor, copies what its links take. The machine's time unit is that of the costs. */
pb_status pb_run_timed_game(pb_context *ctx, const pb_machine *m, pb_arena *result, pb_game *game);

typedef struct pb_run_options {
    uint64_t steps;            /* 0 counts as 1 */
    uint64_t max_bytes;        /* of addresses; 0: what the plan needs */
    const pb_packing *packing; /* as in pb_engine_options */
    bool cold;                 /* without an extra first step that warms up and is not counted */
    /* Tiered and timed plans: a folder, or the beginning of a file name, for all slow memories. NULL in a timed plan:
     * anonymous memory. */
    const char *slow_path;
    bool throttle; /* timed plans: as in pb_engine_options */
    /* How to replan a run whose kernels need more workspace than declared; NULL: the run ends. */
    const pb_request *replan;
    /* NULL, or called after each step, while its memory is still valid. */
    void (*after)(void *state, uint64_t step);
    void *after_state;
} pb_run_options;

enum { PB_RUN_TEXT = 128 };

/* What the steps of a run took: medians over the steps for figures that may differ. */
typedef struct pb_run_figures {
    uint64_t steps;                /* that were run */
    uint64_t peak, block;          /* max bytes in use; bytes of addresses */
    uint64_t computed, recomputed; /* computations of a step */
    pb_spread time;                /* of a step, without filling given values */
    /* Time before the first computation; in kernels; in recomputations. */
    uint64_t fill_ns, kernel_ns, recompute_ns;
    double flux;                                          /* byte x ns, over kernels and waiting */
    uint64_t stored_bytes, loaded_bytes;                  /* of a step */
    uint64_t makespan_ns, stall_copy_ns, stall_memory_ns; /* as in pb_measured; medians */
    uint64_t io_wait_ns, io_busy_ns;    /* time that the run waited for slow memory; that slow memory was busy */
    uint64_t more_bytes, replanned;     /* max workspace at a time beyond what was declared; replans in all steps */
    const char (*digest)[PB_HASH_TEXT]; /* of the results after each step */
    char text[PB_RUN_TEXT];             /* the workload's line about the last step */
} pb_run_figures;

/* After pb_run_plan_make found no plan: the smallest cap for which a plan with addresses is known. `infeasible`:
 * game->cap is proved to be too small. *out is NULL if nothing is known. */
pb_status pb_run_least(pb_context *ctx, const pb_game *game, bool infeasible, const pb_request *request,
                       pb_arena *result, const pb_least_fact **out);

/* Runs a plan with the kernels of the workload, from step 0 on.
 *   returns PB_OK       after a stop too, if a step was done by then (ctx->stopped is set)
 *           PB_ELIMIT   the addresses need more than max_bytes */
pb_status pb_run_plan(pb_context *ctx, pb_workload *w, const pb_certificate *plan, const pb_run_options *options,
                      pb_arena *result, pb_run_figures *out);

typedef struct pb_run_checked {
    uint64_t computed;      /* computations that were checked */
    uint32_t once;          /* nodes that the plan computes and that must not run twice: they were not repeated */
    const pb_node *differs; /* nodes whose kernels gave other bits for the same inputs, ascending */
    uint32_t differs_count;
} pb_run_checked;

/* Runs the steps of a plan with every kernel running twice (`check` in engine.h), which takes more memory and time.
 * Differences are reported; the other errors of kernels that the mode finds end it with PB_EINVAL.
 *   in       options    steps and slow_path; the others are ignored */
pb_status pb_run_check(pb_context *ctx, pb_workload *w, const pb_certificate *plan, const pb_run_options *options,
                       pb_arena *result, pb_run_checked *out);

/* The first step after which the results of two runs differ; UINT64_MAX: those of the steps in both runs are equal. */
uint64_t pb_run_differs(const pb_run_figures *a, const pb_run_figures *b);

/* ---- this computer as a machine ---- */

typedef struct pb_measure_options {
    const char *name;      /* of the machine */
    uint64_t memory;       /* cap of its memory; PB_UNLIMITED: none */
    const char *slow_path; /* a folder, or the beginning of a file name, for the second memory; NULL: only one memory */
    bool quick;            /* a few sizes, for a few seconds */
    uint64_t (*wall_ns)(void *state); /* a clock for transfers, which take little processor time; NULL: ctx->clock_ns */
} pb_measure_options;

typedef struct pb_machine_measured {
    const pb_machine *machine;
    const pb_machine_fitted *fitted; /* of the models of its processor, in their order */
    uint32_t samples;                /* computations that were timed, of different sizes or not */
    const char *missing;             /* NULL, or why some kernels could not be measured in this build */
} pb_machine_measured;

/* Times the kernels of the workloads over a range of sizes, as steps of small networks, so that caches are as warm as
 * in real ones, and fits models to them. The clock should be that of the processor, if other programs are running.
 *   returns PB_OK         after a stop too, if there is something to fit models to */
pb_status pb_machine_measure(pb_context *ctx, const pb_measure_options *options, pb_arena *result,
                             pb_machine_measured *out);
/* The time of a machine's reference on this computer, now, over the time in the file.
 *   returns PB_EINVAL     the machine has no reference, or one that is not a workload of this build */
pb_status pb_machine_reference_ratio(pb_context *ctx, const pb_machine *m, double *out);
/* The nodes of a graph that state an operation, flops or bytes and a time as samples, appended to *samples in `result`:
 * their `times` for `processor`, else their cost if its unit is ns. *count is how many there are now. */
pb_status pb_machine_samples(pb_context *ctx, const pb_graph *g, const char *processor, pb_arena *result,
                             pb_machine_sample **samples, uint32_t *count);

/* Ways to run a workload, each at least as good as the previous one. */
typedef enum pb_fit_way {
    PB_FIT_STORE_ALL,     /* in program order, everything kept to the end */
    PB_FIT_PROGRAM_ORDER, /* in program order, each value freed after its last use */
    PB_FIT_ORDER,         /* in the best order that was found, nothing computed twice */
    PB_FIT_PLAN,          /* with recomputation, within the overhead */
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
    /* The max extra time, as a share of computing everything once; PB_FIT_FORWARD: one forward pass. */
    double max_overhead;
    pb_request plan; /* how to plan at each value */
} pb_fit_request;

typedef struct pb_fit_row {
    uint64_t value; /* the largest that fits; 0: none fits */
    bool bounded;   /* false: the workload takes no larger one; true after a stop */
    bool ran;       /* one step was run; the figures below are from it */
    pb_run_figures measured;
    double overhead; /* predicted from costs measured at profile_value; 0 for plans without recomputation */
    /* The same in forward passes: the computations up to the point where most values wait to be read. */
    double forward_passes;
    double measured_overhead; /* time of recomputations over time of all other kernels */
    const char *strategy;     /* of the plan; NULL for the first two ways */
} pb_fit_row;

typedef struct pb_fit {
    pb_fit_row row[PB_FIT_WAYS];
    uint64_t profile_value; /* where costs were measured; planning at other values scales them */
    bool profiled_each;     /* the option changes the nodes: costs were measured at every value that was planned */
    uint32_t plans;         /* plans that were made */
    bool stopped;           /* before the end: values may be too small, or not run */
    uint64_t least_cap;     /* if nothing fits: the smallest cap that a value of 1 is known to fit; else 0 */
} pb_fit;

/* The largest value of an option of a workload that fits under a cap, for each way to run it: doubles it until it
 * does not fit, then bisects. Every answer is run for one step.
 *   returns PB_OK        also if nothing fits, and after a stop
 *           PB_EUNKNOWN, PB_EINVAL   no such workload or option */
pb_status pb_fit_find(pb_context *ctx, const pb_fit_request *request, pb_arena *result, pb_fit *out);

/* ---- the largest size of a graph that fits, without running it ---- */

typedef struct pb_size_request {
    /* The graph at a size; PB_EINVAL or PB_ERANGE above `first`: there is nothing as large as that. */
    pb_status (*graph)(void *state, uint64_t value, pb_arena *result, const pb_graph **out);
    void *state;
    uint64_t first;            /* the smallest size, at least 1 */
    const pb_machine *machine; /* prices the graph; NULL: costs are as in the graph */
    uint64_t cap;              /* not PB_UNLIMITED */
    double max_overhead;       /* as in pb_fit_request */
    pb_request plan;
    bool batches; /* sizes are batches: several small ones can take the place of a large one */
} pb_size_request;

/* One step at a size. */
typedef struct pb_size_point {
    uint64_t value; /* 0: none */
    uint64_t peak, cost;
    double overhead;      /* of recomputation */
    const char *strategy; /* NULL: program order */
    bool fits;            /* the overhead is within the limit */
    /* The gradients of `parts` batches of size `part` accumulated in program order, with one update: together at least
     * `value`. parts 0: none fits. */
    uint64_t parts, part, parts_cost;
} pb_size_point;

typedef struct pb_sizes {
    pb_size_point program, planned;        /* the largest that fit in program order and with a plan */
    bool program_bounded, planned_bounded; /* false: there are no larger sizes */
    const pb_size_point *tried;            /* every plan above program.value, ascending */
    uint32_t tried_count;
    uint64_t break_even; /* the largest that fits and costs no more than its parts; 0: none */
    uint64_t first_peak; /* in program order, of the smallest size */
    bool stopped;        /* before the end */
    const char *cost_unit, *size_unit;
} pb_sizes;

/* The largest size that fits the cap in program order and with recomputation, and what else would give as many samples.
 *   returns PB_OK also if nothing fits, and after a stop */
pb_status pb_sizes_find(pb_context *ctx, const pb_size_request *request, pb_arena *result, pb_sizes *out);

#ifdef __cplusplus
}
#endif
#endif
