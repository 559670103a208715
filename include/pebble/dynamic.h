/* dynamic.h -- computing under a cap when the graph is not known ahead.
 *
 * A program with control flow of its own computes values one by one and says when it needs one no more. What does not fit is evicted by a
 * policy and computed again when somebody reads it.
 *
 *     pb_dynamic *o;
 *     pb_dynamic_new(ctx, &(pb_dynamic_options){.cap = 1 << 20}, &o);
 *     pb_dynamic_input(o, bytes, 4096, &x);
 *     pb_dynamic_compute(o, &(pb_dynamic_spec){.kernel = step, .inputs = &x, .count = 1, .size = 4096}, &y);
 *     pb_dynamic_release(o, x);                      // the program is done with it; y can still be computed again
 *     pb_dynamic_pin(o, y, &address);  ...  pb_dynamic_unpin(o, y);
 *     pb_dynamic_free(o);
 *
 * One block of `cap` bytes holds all values and workspace. docs/engine.md compares the policies with plans made ahead.
 */
#ifndef PEBBLE_DYNAMIC_H
#define PEBBLE_DYNAMIC_H

#include "graph.h"
#include "pack.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t pb_value; /* a handle; used again after the value is gone */

typedef struct pb_dynamic_call {
    const void *const *input; /* in the order of the spec */
    uint32_t count;
    void *output, *workspace; /* not cleared */
    uint64_t size;
    uint64_t times; /* how often this value has been computed before */
} pb_dynamic_call;
/* The same inputs must give the same bits each time. PB_OK, or a status with ctx->error set. */
typedef pb_status (*pb_dynamic_kernel)(void *state, pb_context *ctx, const pb_dynamic_call *call);

/* Who goes first: the least score. Staleness counts work since the last use. */
typedef enum pb_dynamic_policy {
    PB_DYNAMIC_DTR,       /* cost of it and of all evicted values around it / (size x staleness) */
    PB_DYNAMIC_DTR_EQ,    /* the same, with evicted values in classes that only grow: quicker, and a little too high */
    PB_DYNAMIC_DTR_LOCAL, /* its own cost / (size x staleness) */
    PB_DYNAMIC_LRU,       /* the one that was not used for longest */
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
    void *state; /* must last as long as the value may be computed again */
    const pb_value *inputs;
    uint32_t count;
    uint64_t size, workspace;
    uint64_t cost; /* 0: the time of the kernel by ctx->clock_ns */
    bool once;     /* never computed again, so never evicted */
} pb_dynamic_spec;

typedef struct pb_dynamic_counts {
    uint64_t computed, recomputed, evicted;
    uint64_t work, rework; /* costs of all computations; of those that were done again */
    uint64_t evicted_bytes;
    uint64_t windows; /* evictions of neighbours, because free memory was in pieces */
    uint64_t moved;   /* values that were moved for the same reason */
    uint64_t peak;    /* the most bytes in use: values and workspace */
    uint64_t values;  /* that are known now, evicted ones included */
} pb_dynamic_counts;

typedef struct pb_dynamic pb_dynamic;

pb_status pb_dynamic_new(pb_context *ctx, const pb_dynamic_options *options, pb_dynamic **out);
void pb_dynamic_free(pb_dynamic *o);

/* A value from outside, copied. It is never evicted; its memory is free when nothing can need it any more. */
pb_status pb_dynamic_input(pb_dynamic *o, const void *bytes, uint64_t size, pb_value *out);
/* Computes now. The program holds *out once.
 *   returns PB_ELIMIT   even with everything evicted that may be, there is no room; ctx->error says for what
 *           PB_EINVAL   an input is not known */
pb_status pb_dynamic_compute(pb_dynamic *o, const pb_dynamic_spec *spec, pb_value *out);

/* The program holds it once more, or once less. What nobody holds is evicted, and forgotten when nothing can need it any more. */
pb_status pb_dynamic_hold(pb_dynamic *o, pb_value v);
pb_status pb_dynamic_release(pb_dynamic *o, pb_value v);

/* Its address, until pb_dynamic_unpin: it is computed again if need be. Pins count. */
pb_status pb_dynamic_pin(pb_dynamic *o, pb_value v, void **out);
pb_status pb_dynamic_unpin(pb_dynamic *o, pb_value v);

void pb_dynamic_count(const pb_dynamic *o, pb_dynamic_counts *out);

/* What was recorded, as a graph with the order of the calls: values from outside are given, those that the program pinned are targets,
 * those that it still holds are kept. A plan of it at the same cap is what knowing everything ahead is worth. */
pb_status pb_dynamic_trace(pb_dynamic *o, pb_arena *result, const pb_graph **out);

#ifdef __cplusplus
}
#endif
#endif
