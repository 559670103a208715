/* profile.h -- what the nodes of a graph really cost on this machine.
 *
 * The program as written runs several times, each value freed after its last use; the graph comes back with costs in nanoseconds, all
 * else the same. Plans made with them predict what a run takes.
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
    uint32_t repeat; /* runs that count; 0: at least 5 and at most 50, about a second of them */
    /* Around each run, step 0 first; either may be NULL. */
    pb_status (*begin)(void *state, uint64_t step, pb_engine *e);
    pb_status (*end)(void *state, uint64_t step, pb_engine *e);
    void *state;
} pb_profile_options;

/* Half of the measured times lie between low and high, and half of them below the median; nanoseconds. */
typedef struct pb_spread {
    uint64_t low, median, high;
} pb_spread;
/* Sorts `values`; all 0 where there are none. */
pb_spread pb_spread_of(uint64_t *values, uint32_t count);

typedef struct pb_profiled {
    const pb_graph *graph; /* cost in ns, size in byte; nodes carry "ns_low" and "ns_high" of their kernels */
    const pb_spread *time; /* by node: its kernel alone; 0 where it is not computed */
    pb_spread run;         /* whole runs, without filling what is given */
    uint64_t overhead_ns;  /* of the engine for each computation; part of the costs */
    uint64_t peak, block;  /* bytes that the runs took, and the block of addresses */
    uint32_t repeats;      /* runs that counted */
} pb_profiled;

/* Runs once to warm up, then measures. The costs of a run add up to the median of what a whole run took: a node has its median time, its
 * share of what the medians leave out, and what the engine takes for a computation; at least 1 ns. ctx->clock_ns must be there.
 *   out      *out             lives in `result`; the graph borrows `g`
 *   returns  PB_OK            after a stop too, if a run was measured by then (ctx->stopped tells)
 *            PB_EINVAL        there is no clock, or a node has no kernel */
pb_status pb_profile_run(pb_context *ctx, const pb_graph *g, const pb_kernels *kernels,
                         const pb_profile_options *options, pb_arena *result, pb_profiled *out);

#ifdef __cplusplus
}
#endif
#endif
