/* workload.h -- real computations for the engine: networks, hash trees, adjoint solvers, image pipelines.
 *
 * A workload is a graph with sizes in bytes, a kernel for each node, and data. Each only uses engine.h; to add one,
 * add a file and a row in src/workloads/workloads.def.
 *
 *     pb_workload *w;
 *     pb_workload_open(ctx, "train", options, count, &w);      // model=unet, batch=4
 *     ... plan pb_workload_graph(w), make an engine with pb_workload_kernels(w) ...
 *     pb_workload_begin(w, 0, engine);  pb_engine_run(engine, &m);  pb_workload_end(w, 0, engine);
 */
#ifndef PEBBLE_WORKLOAD_H
#define PEBBLE_WORKLOAD_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pb_workload_option {
    const char *key, *fallback, *help;
} pb_workload_option;

typedef struct pb_workload_row {
    const char *name, *summary;
    const char *needs; /* what this build lacks for it ("oneDNN is not built in (install...)"), or NULL */
    const pb_workload_option *options; /* pebble fit varies `batch` */
    uint32_t option_count;
    /* NULL, or an option that makes the values smaller and the work larger: better where memory is very tight. */
    const pb_option *smaller;
} pb_workload_row;
uint32_t pb_workload_count(void);
void pb_workload_row_of(uint32_t i, pb_workload_row *out);

/* The version of oneDNN that the workload train uses, "2.6.3"; NULL if the library was built without it. */
const char *pb_train_library(void);

typedef struct pb_workload pb_workload;
/* PB_EUNKNOWN: no such workload or option; PB_EINVAL: an invalid value, or a library that is not available. */
pb_status pb_workload_open(pb_context *ctx, const char *name, const pb_option *options, uint32_t option_count,
                           pb_workload **out);
void pb_workload_close(pb_workload *w);

/* Sizes in bytes, multiples of 64 if possible; costs are estimates until they are profiled. */
const pb_graph *pb_workload_graph(const pb_workload *w);
const pb_kernels *pb_workload_kernels(const pb_workload *w);

/* Before run number `step` of an engine: sets up fixed memory (at step 0) and chooses the data of that step. */
pb_status pb_workload_begin(pb_workload *w, uint64_t step, pb_engine *e);
/* After it: processes the results (an optimiser's step), which is not part of the plan. */
pb_status pb_workload_end(pb_workload *w, uint64_t step, pb_engine *e);
/* SHA-256 in hexadecimal of the results of the last run: equal bits have equal digests. */
pb_status pb_workload_digest(pb_workload *w, pb_engine *e, char hash[PB_HASH_TEXT]);
/* One line about the last run for display: "loss 2.302"; returns the length. */
size_t pb_workload_text(pb_workload *w, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
