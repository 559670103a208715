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
 *
 * docs/engine.md says what is guaranteed and how kernels are written.
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
    bool undo;          /* an exclusive-or kernel is called to take its result away again */
    bool
        parts_only; /* only by-products are wanted: the node's own value is there already and may be written again with the
                           same bits (not by an exclusive-or kernel), or its address is NULL */
    /* For pb_call_more. */
    pb_status (*grant)(const struct pb_call *call, uint64_t bytes, void **out);
    void *owner;
} pb_call;

/* Computes a node. The same inputs must give the same bits each time, whatever is in the memory that it writes; what must
 * happen once only (statistics) happens where times is 0. PB_OK, or a status with ctx->error set. */
typedef pb_status (*pb_kernel)(void *state, pb_context *ctx, const pb_call *call);

/* `bytes` of workspace beside what the node was said to need, until the kernel returns; not cleared, aligned as values are. Granted
 * where the block has a gap now and the cap is not passed. Else PB_ELIMIT: the kernel returns it as it is, having changed none
 * of its inputs, and the engine plans the rest anew with the node's true workspace, or stops. */
pb_status pb_call_more(const pb_call *call, uint64_t bytes, void **out);

/* What a kernel declares. */
enum {
    /* The result is combined by exclusive or with the bytes that are there, so that the same call once more takes it away. In memory of
     * our own the bytes are zero before. Values in borrowed memory need it; uncomputing then runs the kernel again. */
    PB_KERNEL_XOR = 1,
    /* Knows how to read an input from borrowed memory, where it is combined with the lender's bytes. */
    PB_KERNEL_READS_BORROWED = 2,
};

typedef struct pb_kernels {
    const pb_kernel *of; /* by node; NULL for what is given and for by-products */
    void *state;
    /* Writes a value that exists before the start. */
    pb_status (*fill)(void *state, pb_context *ctx, pb_node given, void *bytes);
    const uint8_t
        *kinds; /* by node: PB_KERNEL_*; NULL: all plain. Uncomputing a plain kernel's value only forgets it */
} pb_kernels;

typedef struct pb_engine_options {
    uint64_t align;      /* of addresses; 0: PB_ALIGN_DEFAULT */
    uint64_t most_bytes; /* of the block; 0: what the addresses need */
    /* NULL, or addresses for the plan's lifetimes (pb_lifetimes_make with the same align), which are checked. Not looked at where faults of
     * kernels are looked for, or the plan borrows memory. */
    const pb_packing *packing;
    /* NULL, or told after each computation, with the kernel's time by ctx->clock_ns. */
    void (*timed)(void *state, pb_node node, uint64_t ns);
    void *timed_state;

    /* Faults of kernels are looked for: what is made has bytes behind it that must stay as they are, fresh memory holds no old
     * values, and each kernel runs twice (not a `once` node's), with other bytes in all that it must not read. Slow, and more memory. */
    bool check;

    /* Slow tiers: for each a folder, or the beginning of a file's name. The file is unlinked as soon as it is made. NULL: that of the
     * tier before. */
    const char *slow_path[PB_MAX_TIERS];
    uint32_t io_threads; /* that store and load; 0: 2 */
    bool no_direct;      /* through the system's page cache, also where the file system can do without */
    bool no_overlap;     /* every store and load is waited for at its move */

    /* Memory of somebody else for the values that the plan makes there. */
    void *borrowed;
    uint64_t borrowed_bytes;

    /* NULL, or makes a plan of what is left: after a kernel that needs more workspace than was said, or a lowered cap. The game has the
     * same nodes; what is there now is given. *out stays NULL where there is no plan. It is called between two moves. */
    pb_status (*replan)(void *state, pb_context *ctx, const pb_game *rest, pb_arena *result,
                        const pb_certificate **out);
    void *replan_state;
} pb_engine_options;

/* What a run took. Times are by ctx->clock_ns, 0 without one; it is called by threads that store and load, too. */
typedef struct pb_measured {
    uint64_t peak;                    /* the most bytes in use at a time: values, workspace, fixed memory */
    uint64_t block;                   /* bytes of the block that they are in */
    uint64_t computed, recomputed;    /* computations; those of nodes that had been computed before */
    uint64_t kernel_ns, recompute_ns; /* in kernels; in those that computed again */
    uint64_t total_ns;
    uint64_t uncomputed, uncompute_ns;
    uint64_t stored_bytes, loaded_bytes;
    uint64_t io_wait_ns; /* the run waited for stores and loads */
    uint64_t io_busy_ns; /* threads stored and loaded: more than io_wait_ns where computing went on meanwhile */
    double flux;         /* bytes in use times nanoseconds, over computing, uncomputing and waiting */
    uint64_t borrowed;   /* the most bytes in borrowed memory */
    uint64_t more_bytes; /* workspace that kernels were granted beyond what was said, at most at a time */
    uint64_t replanned;  /* how often the rest was planned anew */
} pb_measured;

typedef struct pb_engine pb_engine;

/* Assigns addresses and takes the block. Everything passed is borrowed until pb_engine_free.
 *   returns PB_ELIMIT   the addresses need more than most_bytes or borrowed_bytes; ctx->error says how many
 *           PB_EINVAL   a node that is computed has no kernel, or none that can do what the plan asks for; a slow tier has no path;
 *                       the packing does not keep values apart
 *           PB_EIO      the file of a slow tier cannot be made */
pb_status pb_engine_new(pb_context *ctx, const pb_certificate *plan, const pb_kernels *kernels,
                        const pb_engine_options *options, pb_engine **out);
void pb_engine_free(pb_engine *e);

/* From the start to the end; may be called again. Fixed memory stays as it is between runs (zero at first); all other values are made
 * anew. A stop ends it with PB_ECANCELLED between two moves, when nothing is in borrowed memory; stores and loads under way are waited for.
 *   returns PB_EIO      a store or load failed, or other bytes came back than were stored; ctx->error names node, file and offset
 *           PB_EINVAL   a kernel broke its contract
 *           PB_ELIMIT   more memory is needed than there is, and the rest could not be planned anew
 * Where a run fails while something is in borrowed memory, it stays there, and ctx->error says so. */
pb_status pb_engine_run(pb_engine *e, pb_measured *out);

/* The cap is at most `bytes` from the next move on (and where something is borrowed, from when it is given back): what is left is planned
 * anew within it, or the run ends with PB_ELIMIT. May be called by a kernel or by another thread. It holds until the run ends, and
 * for the next run where there is none; UINT64_MAX takes back what has had no effect yet. */
void pb_engine_lower_cap(pb_engine *e, uint64_t bytes);

/* Fixed memory, and the value of a node that is resident at the end of the schedule (NULL: it is not). */
void *pb_engine_fixed(pb_engine *e);
void *pb_engine_value(pb_engine *e, pb_node v);
const pb_packing *pb_engine_packing(const pb_engine *e);

/* What storing and loading costs there, in nanoseconds (ctx->clock_ns must be set): the fixed part of a transfer and the part for each byte,
 * at least 1, from medians over values of two sizes, the larger of them `bytes` (0: 16 MiB). out->cap is PB_UNLIMITED. */
pb_status pb_slow_measure(pb_context *ctx, const char *path, uint64_t bytes, pb_tier *out);

#ifdef __cplusplus
}
#endif
#endif
