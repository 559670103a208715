/* engine.h -- runs a certified schedule on real buffers.
 *
 * One block of memory, addresses assigned in advance, a table of kernels. The engine computes, frees, uncomputes,
 * stores and loads values as the moves prescribe, and reports measured figures for comparison with the planned ones.
 *
 *     pb_engine *e;
 *     pb_measured m;
 *     pb_engine_new(ctx, planned.certificate, &kernels, &(pb_engine_options){0}, &e);
 *     pb_engine_run(e, &m);                       // m.peak is the certificate's peak, to the byte
 *     const float *loss = pb_engine_value(e, v);  // of a kept node
 *     pb_engine_free(e);
 *
 * docs/engine.md has the guarantees, and explains how to write kernels.
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
    /* By node: addresses of its inputs and of its results; NULL: a by-product that is not needed. The kernel must not
     * read other entries. A value that overwrites an input has that input's address. */
    void *const *value;
    void *fixed;     /* the graph's fixed_size bytes: parameters, statistics */
    void *workspace; /* the node's workspace bytes; not cleared */
    uint32_t by;     /* computed by this recipe of the node, counted from 1; 0: by its own inputs */
    uint64_t times;  /* how often the node was computed before in this run: 0 is the first time */
    bool undo;       /* an exclusive-or kernel is called to remove its result */
    /* Only by-products are needed: the node's own value is already resident and may be rewritten with the same bits
     * (not by an exclusive-or kernel), or its address is NULL. */
    bool parts_only;
    /* For pb_call_more. */
    pb_status (*grant)(const struct pb_call *call, uint64_t bytes, void **out);
    void *owner;
} pb_call;

/* Computes a node. The same inputs must give the same bits each time, whatever the memory it writes contains. What
 * must happen only once (statistics) happens if times is 0. Returns PB_OK, or a status with ctx->error set. */
typedef pb_status (*pb_kernel)(void *state, pb_context *ctx, const pb_call *call);

/* `bytes` of workspace in addition to what the node declared, until the kernel returns; not cleared, aligned as
 * values are. Granted if the block has a gap for it now and the cap is not exceeded. Else PB_ELIMIT: the kernel must
 * return this status without having changed any input, and the engine replans the remaining moves with the node's
 * true workspace, or stops. */
pb_status pb_call_more(const pb_call *call, uint64_t bytes, void **out);

/* What a kernel declares. */
enum {
    /* The result is combined by exclusive or with the bytes in memory, so that the same call once more removes it.
     * In our own memory the bytes are zero before. Values in borrowed memory need such a kernel; uncomputing runs it
     * again. */
    PB_KERNEL_XOR = 1,
    /* Can read an input from borrowed memory, where it is combined with the lender's bytes. */
    PB_KERNEL_READS_BORROWED = 2,
};

typedef struct pb_kernels {
    const pb_kernel *of; /* by node; NULL for given nodes and by-products */
    /* By index into the graph's recipes: computes its node by this recipe, from the inputs of the recipe. The bits may
     * differ from those of the first computation. NULL: none has a kernel. */
    const pb_kernel *recipe;
    void *state;
    /* Writes a value that exists before the start. */
    pb_status (*fill)(void *state, pb_context *ctx, pb_node given, void *bytes);
    /* By node: PB_KERNEL_*; NULL: none has flags. Uncomputing the value of a kernel without flags only forgets it. */
    const uint8_t *kinds;
} pb_kernels;

typedef struct pb_engine_options {
    uint64_t align;     /* of addresses; 0: PB_ALIGN_DEFAULT */
    uint64_t max_bytes; /* of the block; 0: what the addresses need */
    /* NULL, or addresses for the plan's lifetimes (pb_lifetimes_make with the same align), which are checked.
     * Ignored if `check` is set or the plan borrows memory. */
    const pb_packing *packing;
    /* NULL, or called after each computation, with the kernel's time by ctx->clock_ns. */
    void (*timed)(void *state, pb_node node, uint64_t ns);
    void *timed_state;

    /* Looks for bugs in kernels: results have guard bytes behind them that must not change, fresh memory has no old
     * values, and each kernel (except of `once` nodes) runs twice, with other bytes in everything that it must not
     * read. Slow, and needs more memory. */
    bool check;
    /* With `check`. NULL: a result with other bits than before ends the run. Else called for each computation of the
     * node whose result differs, although its inputs have the same bits, and the run goes on. Not called for what
     * differs only because an input does. */
    void (*differs)(void *state, pb_node node);
    void *differs_state;

    /* Slow tiers: for each a folder, or the beginning of a file name. The file is unlinked as soon as it is created.
     * NULL: as the previous tier. */
    const char *slow_path[PB_MAX_TIERS];
    uint32_t io_threads; /* for stores and loads; 0: 2 */
    bool no_direct;      /* use the system's page cache, even if the file system supports direct transfers */
    bool no_overlap;     /* wait for every store and load at its move */
    /* Timed plans: slow_path by memory of the machine, all NULL: anonymous memory. `throttle`: a copy takes at least
     * as long as its link does by the machine. */
    bool throttle;

    /* Memory of somebody else, for the values that the plan computes in borrowed memory. */
    void *borrowed;
    uint64_t borrowed_bytes;

    /* NULL, or makes a plan of the remaining moves: after a kernel that needs more workspace than declared, or a
     * lowered cap. The game has the same nodes; values that are resident now are given. *out stays NULL if there is
     * no plan. Called between two moves. */
    pb_status (*replan)(void *state, pb_context *ctx, const pb_game *rest, pb_arena *result,
                        const pb_certificate **out);
    void *replan_state;
} pb_engine_options;

/* What a run took. Times are by ctx->clock_ns, 0 without one; the threads that store and load call it too. */
typedef struct pb_measured {
    uint64_t peak;                    /* max bytes in use: values, workspace, fixed memory */
    uint64_t block;                   /* size of the block in bytes */
    uint64_t computed, recomputed;    /* computations; those of nodes that were computed before */
    uint64_t kernel_ns, recompute_ns; /* time in kernels; in recomputations */
    uint64_t total_ns;
    uint64_t uncomputed, uncompute_ns;
    uint64_t stored_bytes, loaded_bytes;
    uint64_t io_wait_ns; /* how long the run waited for stores and loads */
    /* Time of the threads in stores and loads: more than io_wait_ns if they overlap with computing. */
    uint64_t io_busy_ns;
    /* Of timed plans: from the first move to the end of the last; how long the processor waited for copies of inputs,
     * and for room. */
    uint64_t makespan_ns, stall_copy_ns, stall_memory_ns;
    double flux;         /* bytes in use times nanoseconds, over computing, uncomputing and waiting */
    uint64_t borrowed;   /* max bytes in borrowed memory */
    uint64_t more_bytes; /* max workspace granted at a time beyond what was declared */
    uint64_t replanned;  /* how often the remaining moves were replanned */
} pb_measured;

typedef struct pb_engine pb_engine;

/* Assigns addresses and allocates the block. All arguments are borrowed until pb_engine_free.
 *   returns PB_ELIMIT   the addresses need more than max_bytes or borrowed_bytes; ctx->error has the number
 *           PB_EINVAL   a computed node has no kernel, or none that the plan can use; a slow tier has no path;
 *                       values overlap in the packing
 *           PB_EIO      the file of a slow tier cannot be created */
pb_status pb_engine_new(pb_context *ctx, const pb_certificate *plan, const pb_kernels *kernels,
                        const pb_engine_options *options, pb_engine **out);
void pb_engine_free(pb_engine *e);

/* Runs the whole plan; may be called again. Fixed memory is kept between runs (zero at first); all other values are
 * recomputed. A stop ends the run with PB_ECANCELLED between two moves, when nothing is in borrowed memory, after the
 * pending stores and loads.
 *   returns PB_EIO      a store or load failed, or wrong bytes came back; ctx->error has node, file and offset
 *           PB_EINVAL   a kernel broke its contract
 *           PB_ELIMIT   more memory is needed than there is, and the remaining moves could not be replanned
 * If a run fails while borrowed memory is in use, it is not restored, and ctx->error reports that. */
pb_status pb_engine_run(pb_engine *e, pb_measured *out);

/* Limits the cap to `bytes` from the next move on (if memory is borrowed, once it is returned): the remaining moves
 * are replanned within it, or the run ends with PB_ELIMIT. May be called by a kernel or by another thread. It
 * applies until the run ends, and to the next run if there is none now; UINT64_MAX cancels a limit that has had no
 * effect yet. */
void pb_engine_lower_cap(pb_engine *e, uint64_t bytes);

/* Fixed memory, and the value of a node that is resident at the end of the schedule (NULL: it is not). */
void *pb_engine_fixed(pb_engine *e);
void *pb_engine_value(pb_engine *e, pb_node v);
const pb_packing *pb_engine_packing(const pb_engine *e);

/* The cost of storing to and loading from `path`, in nanoseconds (ctx->clock_ns must be set): a fixed part per
 * transfer and a part per byte, at least 1, from medians over values of two sizes, the larger of them `bytes` (0: 16
 * MiB). out->cap is PB_UNLIMITED. */
pb_status pb_slow_measure(pb_context *ctx, const char *path, uint64_t bytes, pb_tier *out);
/* The same as links: a latency and a bandwidth each. */
pb_status pb_slow_measure_links(pb_context *ctx, const char *path, uint64_t bytes, pb_price_link *store,
                                pb_price_link *load);

#ifdef __cplusplus
}
#endif
#endif
