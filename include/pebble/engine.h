/* engine.h -- runs a certified schedule on real buffers.
 *
 * One block of memory, addresses assigned ahead, a table of kernels: values are computed, freed, uncomputed, stored and loaded as
 * the moves say, and what was measured is told beside what was planned.
 *
 *     pb_engine *e;
 *     pb_measured m;
 *     pb_engine_new(ctx, planned.certificate, &kernels, &(pb_engine_options){0}, &e);
 *     pb_engine_run(e, &m);                       // m.peak is the certificate's peak, to the byte
 *     const float *loss = pb_engine_value(e, v);  // of a kept node
 *     pb_engine_free(e);
 */
#ifndef PEBBLE_ENGINE_H
#define PEBBLE_ENGINE_H

#include "pack.h"
#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One computation, as its kernel sees it. */
typedef struct pb_call {
    pb_node node;
    void *const *value; /* by node: addresses of its inputs and of what it makes; NULL: a by-product that is not wanted.
                           Others must not be looked at. A value made over an input has that input's address. */
    void *fixed;        /* the graph's fixed_size bytes: parameters, statistics */
    void *workspace;    /* the node's workspace bytes; not cleared */
    uint64_t times;     /* how often the node has been computed before in this run: 0 is the first time */
} pb_call;

/* Computes a node. The same inputs must give the same bits each time, whatever is in the memory that it writes; what must
 * happen once only (statistics) happens where times is 0. PB_OK, or a status with ctx->error set. */
typedef pb_status (*pb_kernel)(void *state, pb_context *ctx, const pb_call *call);

typedef struct pb_kernels {
    const pb_kernel *of; /* by node; NULL for what is given and for by-products */
    void *state;
    /* Writes a value that exists before the start. */
    pb_status (*fill)(void *state, pb_context *ctx, pb_node given, void *bytes);
} pb_kernels;

typedef struct pb_engine_options {
    uint64_t align;      /* of addresses; 0: 64 */
    uint64_t most_bytes; /* of the block; 0: what the addresses need */
    /* NULL, or told after each computation, with the kernel's time by ctx->clock_ns. */
    void (*timed)(void *state, pb_node node, uint64_t ns);
    void *timed_state;
} pb_engine_options;

/* What a run took. Times are by ctx->clock_ns, 0 without one. */
typedef struct pb_measured {
    uint64_t peak;                    /* the most bytes in use at a time: values, workspace, fixed memory */
    uint64_t block;                   /* bytes of the block that they are in */
    uint64_t computed, recomputed;    /* computations; those of nodes that had been computed before */
    uint64_t kernel_ns, recompute_ns; /* in kernels; in those that computed again */
    uint64_t total_ns;
} pb_measured;

typedef struct pb_engine pb_engine;

/* Assigns addresses and takes the block. Everything passed is borrowed until pb_engine_free.
 *   returns PB_ELIMIT   the addresses need more than most_bytes; ctx->error says how many
 *           PB_EINVAL   a node that is computed has no kernel */
pb_status pb_engine_new(pb_context *ctx, const pb_certificate *plan, const pb_kernels *kernels,
                        const pb_engine_options *options, pb_engine **out);
void pb_engine_free(pb_engine *e);

/* From the start to the end; may be called again. Fixed memory stays as it is between runs (zero at first); all other values are made
 * anew. A stop ends it with PB_ECANCELLED between two moves. */
pb_status pb_engine_run(pb_engine *e, pb_measured *out);

/* Fixed memory, and the value of a node that is resident at the end of the schedule (NULL: it is not). */
void *pb_engine_fixed(pb_engine *e);
void *pb_engine_value(pb_engine *e, pb_node v);
const pb_packing *pb_engine_packing(const pb_engine *e);

#ifdef __cplusplus
}
#endif
#endif
