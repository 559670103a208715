/* profile.h -- measures what the nodes of a graph cost on this machine.
 *
 * Runs the program several times in program order, each value freed after its last use. The resulting graph has
 * costs in nanoseconds; everything else is unchanged. Plans made with it predict how long a run takes.
 *
 *     pb_profiled p;
 *     pb_profile_run(ctx, graph, &kernels, &(pb_profile_options){0}, arena, &p);
 *     pb_graph_write(ctx, p.graph, PB_FORMAT_JSON, sink);
 */
#ifndef PEBBLE_PROFILE_H
#define PEBBLE_PROFILE_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pb_profile_options {
    uint32_t repeat;    /* runs that count; 0: at least 5 and at most 50, for about enough_ns */
    uint64_t enough_ns; /* 0: a second */
    /* Around each run, step 0 first; either may be NULL. */
    pb_status (*begin)(void *state, uint64_t step, pb_engine *e);
    pb_status (*end)(void *state, uint64_t step, pb_engine *e);
    void *state;
} pb_profile_options;

/* Half of the measured times are between low and high, and half are below the median; nanoseconds. */
typedef struct pb_spread {
    uint64_t low, median, high;
} pb_spread;
/* Sorts `values`; all 0 if there are none. */
pb_spread pb_spread_of(uint64_t *values, uint32_t count);

typedef struct pb_profiled {
    const pb_graph *graph; /* cost in ns, size in byte; nodes carry "ns_low" and "ns_high" of their kernels */
    const pb_spread *time; /* by node: its kernel alone; 0 if it is not computed */
    pb_spread run;         /* whole runs, without filling given values */
    uint64_t overhead_ns;  /* of the engine per computation; part of the costs */
    uint64_t peak, block;  /* bytes that the runs took, and the size of the block of addresses */
    uint32_t repeats;      /* runs that counted */
} pb_profiled;

/* Runs once to warm up, then measures. The costs of a run add up to the median time of whole runs: the cost of a
 * node is its median time, its share of what the medians leave out, and the engine's overhead per computation; at
 * least 1 ns. ctx->clock_ns must be set.
 *   out      *out             lives in `result`; the graph borrows `g`
 *   returns  PB_OK            after a stop too, if a run was measured by then (ctx->stopped is set)
 *            PB_EINVAL        there is no clock, or a node has no kernel */
pb_status pb_profile_run(pb_context *ctx, const pb_graph *g, const pb_kernels *kernels,
                         const pb_profile_options *options, pb_arena *result, pb_profiled *out);

#ifdef __cplusplus
}
#endif
#endif
