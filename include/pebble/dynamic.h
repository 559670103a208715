/* dynamic.h -- computing under a cap when the graph is not known in advance.
 *
 * A program with its own control flow computes values one by one and releases those it no longer needs. If memory
 * is full, a policy evicts values; they are recomputed when they are read.
 *     pb_dynamic *o;
 *     pb_dynamic_new(ctx, &(pb_dynamic_options){.cap = 1 << 20}, &o);
 *     pb_dynamic_input(o, bytes, 4096, &x);
 *     pb_dynamic_compute(o, &(pb_dynamic_spec){.kernel = step, .inputs = &x, .count = 1, .size = 4096}, &y);
 *     pb_dynamic_release(o, x);                      // the program no longer needs it; y can still be recomputed
 *     pb_dynamic_pin(o, y, &address);  ...  pb_dynamic_unpin(o, y);
 *     pb_dynamic_free(o);
 *
 * One block of `cap` bytes has all values and workspace. docs/engine.md compares the policies with plans made in
 * advance.
 */
#ifndef PEBBLE_DYNAMIC_H
#define PEBBLE_DYNAMIC_H

#include "graph.h"
#include "pack.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t pb_value; /* a handle; reused after the value is gone */

typedef struct pb_dynamic_call {
    const void *const *input; /* in the order of the spec */
    uint32_t count;
    void *output, *workspace; /* not cleared */
    uint64_t size;
    uint64_t times; /* how often this value was computed before */
} pb_dynamic_call;
/* The same inputs must give the same bits each time. Returns PB_OK, or a status with ctx->error set. */
typedef pb_status (*pb_dynamic_kernel)(void *state, pb_context *ctx, const pb_dynamic_call *call);

/* Which value is evicted first: the one with the lowest score. Staleness counts work since the last use. */
typedef enum pb_dynamic_policy {
    PB_DYNAMIC_DTR,       /* cost of it and of all evicted values around it / (size x staleness) */
    PB_DYNAMIC_DTR_EQ,    /* the same, with evicted values in classes that only grow: faster, and a little too high */
    PB_DYNAMIC_DTR_LOCAL, /* its own cost / (size x staleness) */
    PB_DYNAMIC_LRU,       /* least recently used */
    PB_DYNAMIC_LARGEST,
    PB_DYNAMIC_POLICIES
} pb_dynamic_policy;
const char *pb_dynamic_policy_name(pb_dynamic_policy policy);

typedef struct pb_dynamic_options {
    uint64_t cap;   /* bytes of the block; not PB_UNLIMITED */
    uint64_t align; /* of addresses, a power of two; sizes are rounded up to it; 0: PB_ALIGN_DEFAULT */
    pb_dynamic_policy policy;
    bool record; /* keep the trace for pb_dynamic_trace */
} pb_dynamic_options;

typedef struct pb_dynamic_spec {
    pb_dynamic_kernel kernel;
    void *state; /* must live as long as the value may be recomputed */
    const pb_value *inputs;
    uint32_t count;
    uint64_t size, workspace;
    uint64_t cost; /* 0: the time of the kernel by ctx->clock_ns */
    bool once;     /* never recomputed, so never evicted */
} pb_dynamic_spec;

typedef struct pb_dynamic_counts {
    uint64_t computed, recomputed, evicted;
    uint64_t work, rework; /* cost of all computations; of recomputations */
    uint64_t evicted_bytes;
    uint64_t windows; /* evictions of neighbours because free memory was fragmented */
    uint64_t moved;   /* values that were moved for the same reason */
    uint64_t peak;    /* max bytes in use: values and workspace */
    uint64_t values;  /* values known now, evicted ones included */
} pb_dynamic_counts;

typedef struct pb_dynamic pb_dynamic;

pb_status pb_dynamic_new(pb_context *ctx, const pb_dynamic_options *options, pb_dynamic **out);
void pb_dynamic_free(pb_dynamic *o);

/* A value from outside, copied. It is never evicted; its memory is freed when nothing can need it any more. */
pb_status pb_dynamic_input(pb_dynamic *o, const void *bytes, uint64_t size, pb_value *out);
/* Computes a value at once. The program has one reference to *out.
 *   returns PB_ELIMIT   no room, even with everything evicted that may be; ctx->error names what did not fit
 *           PB_EINVAL   an input is not known */
pb_status pb_dynamic_compute(pb_dynamic *o, const pb_dynamic_spec *spec, pb_value *out);

/* Adds or removes a reference. A value without references is evicted, and forgotten when nothing can need it any
 * more. */
pb_status pb_dynamic_hold(pb_dynamic *o, pb_value v);
pb_status pb_dynamic_release(pb_dynamic *o, pb_value v);

/* Its address, until pb_dynamic_unpin; recomputes it if it was evicted. Pins are counted. */
pb_status pb_dynamic_pin(pb_dynamic *o, pb_value v, void **out);
pb_status pb_dynamic_unpin(pb_dynamic *o, pb_value v);

void pb_dynamic_count(const pb_dynamic *o, pb_dynamic_counts *out);

/* What was recorded, as a graph in the order of the calls: values from outside are given, pinned values are targets,
 * values with references are kept. A plan of this graph at the same cap shows what knowing the program in advance is
 * worth. */
pb_status pb_dynamic_trace(pb_dynamic *o, pb_arena *result, const pb_graph **out);

#ifdef __cplusplus
}
#endif
#endif
