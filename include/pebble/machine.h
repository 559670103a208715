/* machine.h -- where a graph runs: memories with caps, processors with rates, links between memories.
 *
 *     const pb_machine *m;
 *     if (pb_machine_builtin(&ctx, "a100-40", &arena, &m) != PB_OK) puts(ctx.error.message);
 *     uint64_t ns;
 *     pb_machine_duration(&ctx, m, &m->processors[0], &work, 0, &ns);
 *
 * A machine turns floating-point operations and bytes into time. docs/machines.md explains the fields, docs/formats.md
 * the file pebble-machine/1. pb_graph_price (game.h) prices the nodes of a graph by it.
 */
#ifndef PEBBLE_MACHINE_H
#define PEBBLE_MACHINE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* More than any real machine has; a larger file is refused. */
#define PB_MACHINE_MAX_PARTS 1024
/* In all models of a processor. */
#define PB_MACHINE_MAX_POINTS (1 << 20)
/* Room for "operation/type" with NUL; longer keys are refused. */
#define PB_MACHINE_KEY 128
/* Rates and bandwidths per second are at most this. */
#define PB_MACHINE_MAX_RATE (UINT64_C(1) << 63)

typedef struct pb_machine_memory {
    const char *name;
    uint64_t cap;      /* PB_UNLIMITED: none */
    uint64_t reserve;  /* always in use */
    const char *extra; /* unknown JSON members of the file, joined by commas; NULL or "": none */
} pb_machine_memory;

/* A number per second that holds for an operation and type ("conv/float32"), a type, an operation, or "other". */
typedef struct pb_machine_rate {
    const char *key;
    uint64_t per_second; /* above 0 */
} pb_machine_rate;

/* A measured computation: its operations, its memory traffic and the time it took. */
typedef struct pb_machine_point {
    uint64_t flops, bytes, time;
} pb_machine_point;

/* Measured computations of similar intensity (operations per byte), ascending by size; longer ones take no less. */
typedef struct pb_machine_curve {
    const pb_machine_point *points;
    uint32_t count;
} pb_machine_curve;

/* How a model finds a time: overhead + the longer of operations and traffic; or between the points of its one curve, by
 * their bytes or their operations; or between the points of the two curves next to the computation's intensity. */
typedef enum pb_model_by { PB_BY_FORMULA, PB_BY_BYTES, PB_BY_FLOPS } pb_model_by;
const char *pb_model_by_name(pb_model_by by); /* formula, bytes, flops */

/* The time of one operation with one type, finer than rates and bandwidths. Beyond the measured points it grows in
 * proportion to the size. */
typedef struct pb_machine_model {
    const char *op, *dtype;   /* dtype NULL: of every type */
    uint64_t overhead;        /* time units */
    uint64_t rate, bandwidth; /* per second; 0: takes no time */
    pb_model_by by;
    const pb_machine_curve *curves; /* at least one; several only by flops: ascending by intensity, without overlap */
    uint32_t curve_count;
} pb_machine_model;

typedef struct pb_machine_processor {
    const char *name;
    uint32_t memory;                   /* index of the memory that it reads and writes */
    uint64_t overhead;                 /* time units that every computation takes in addition */
    uint64_t bandwidth;                /* bytes per second; 0: memory traffic takes no time */
    const pb_machine_rate *rates;      /* operations per second, by "operation/type", type or "other" */
    const pb_machine_rate *bandwidths; /* bytes per second, by operation */
    uint32_t rate_count, bandwidth_count;
    const pb_machine_model *models; /* unique by operation and type */
    uint32_t model_count;
    const char *extra; /* as a memory's */
} pb_machine_processor;

typedef struct pb_machine_link {
    const char *name, *lane; /* lane NULL: its own; links with equal lanes share one */
    uint32_t from, to;       /* indices of memories */
    uint64_t bandwidth;      /* bytes per second; 0: not limited */
    uint64_t latency;        /* time units */
    uint64_t per_unit;       /* time units per unit of size */
    const char *extra;       /* as a memory's */
} pb_machine_link;

/* A computation that was timed together with the rates: to time it again shows how much faster or slower the machine
 * is now. */
typedef struct pb_machine_reference {
    const char *what; /* a workload with its options, as in train:model=mlp; NULL: none */
    uint64_t time;    /* time units, above 0 */
} pb_machine_reference;

/* Every name is unique among the parts of its kind. There is at least one memory and one processor. */
typedef struct pb_machine {
    const char *name, *time_unit; /* time_unit: ns, us, ms, s, or any other word for an abstract clock */
    uint64_t per_second;          /* time units per second; 0: the clock is abstract */
    const pb_machine_memory *memories;
    const pb_machine_processor *processors;
    const pb_machine_link *links;
    uint32_t memory_count, processor_count, link_count;
    pb_machine_reference reference;
    const char *extra; /* as a memory's */
} pb_machine;

/* What a computation does, as far as its node states it. */
typedef struct pb_work {
    const char *op, *dtype; /* NULL: not stated */
    bool has_flops, has_bytes;
    uint64_t flops, bytes; /* floating-point operations; everything that the kernel reads and writes */
} pb_work;

/* The time that `work` takes on a processor: overhead + the longer of its operations and its memory traffic; `cost` if
 * it states neither or the clock is abstract.
 *   returns PB_EINVAL  the processor has no rate for its operation and type
 *           PB_ERANGE  the time passes 64 bits */
pb_status pb_machine_duration(pb_context *ctx, const pb_machine *m, const pb_machine_processor *p, const pb_work *work,
                              uint64_t cost, uint64_t *out);
/* The time of copying `size` over a link; UINT64_MAX if it passes 64 bits. */
uint64_t pb_machine_copy_time(const pb_machine *m, const pb_machine_link *link, uint64_t size);
/* Time units per second of a clock; 0 for an abstract one. */
uint64_t pb_time_unit_per_second(const char *time_unit);

/* The model of an operation with a type, else of the operation with every type; NULL: there is none. */
const pb_machine_model *pb_machine_model_of(const pb_machine_processor *p, const pb_work *work);
/* The time by a model.
 *   out      *beyond    1 within what was measured; above 1: the factor by which the computation is larger, smaller,
 *                       more or less intense than any that was measured. May be NULL */
double pb_machine_model_time(const pb_machine *m, const pb_machine_model *model, const pb_work *work, double *beyond);

/* A measurement for pb_machine_fit; `time` is in ns. */
typedef struct pb_machine_sample {
    const char *op, *dtype; /* dtype NULL: not stated */
    pb_machine_point at;
} pb_machine_sample;
/* How well the model of an operation predicts measurements that it was not fitted to. */
typedef struct pb_machine_fitted {
    const pb_machine_model *model;
    uint32_t samples; /* of different sizes */
    double error;     /* mean of |ln(predicted / measured)| in cross-validation; below 0: too few samples */
} pb_machine_fitted;
/* Fits a model to the samples of each operation and type, in the form that predicts best, and fills the processor's
 * rates, bandwidths and overhead so that the plain formula suits the largest samples. Other fields of `*p` are kept.
 *   out      *fitted    one entry for each model, in `result`; may be NULL
 *   returns  PB_EINVAL  there are no samples, or one has no operation, takes no time, or has neither operations nor
 *                       traffic */
pb_status pb_machine_fit(pb_context *ctx, const pb_machine_sample *samples, uint32_t count, pb_arena *result,
                         pb_machine_processor *p, const pb_machine_fitted **fitted);
/* The machine with every time multiplied by `factor` (above 0): overheads, rates, bandwidths, models and the
 * reference; not links. */
pb_status pb_machine_rescale(pb_context *ctx, const pb_machine *m, double factor, pb_arena *result,
                             const pb_machine **out);

/* Checks everything that the comments above promise; PB_EFORMAT with a sentence that names the part. */
pb_status pb_machine_check(pb_context *ctx, const pb_machine *m);

/* The machines that come with the library. */
typedef struct pb_machine_summary {
    const char *name, *text; /* "A100 SXM, 40 GB: ..." */
} pb_machine_summary;
uint32_t pb_machine_builtin_count(void);
pb_machine_summary pb_machine_builtin_at(uint32_t i);
/* By name; "a100-40*4" is four of them, with links between neighbours and to the host. Its texts are in `result`.
 *   returns PB_EUNKNOWN with the closest name, or all of them */
pb_status pb_machine_builtin(pb_context *ctx, const char *name, pb_arena *result, const pb_machine **out);

#ifdef __cplusplus
}
#endif
#endif
