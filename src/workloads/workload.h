/* workload.h -- the interface of a workload, and what they share. */
#ifndef PBI_WORKLOAD_H
#define PBI_WORKLOAD_H

#include "pebble/workload.h"

typedef struct pbi_workload_kind {
    const char *needs; /* as in pb_workload_row */
    const pb_workload_option *options;
    uint32_t option_count;
    const pb_option *smaller; /* as in pb_workload_row */
    /* Fills graph, kernels and state from the values of its options, in their order. Allocates from w->arena. */
    pb_status (*open)(pb_workload *w, const char *const *values);
    void (*close)(pb_workload *w); /* releases what is not in the arena; may be NULL, as those below */
    pb_status (*begin)(pb_workload *w, uint64_t step, pb_engine *e);
    pb_status (*end)(pb_workload *w, uint64_t step, pb_engine *e);
    /* NULL: the digest of all kept values and of fixed memory. */
    pb_status (*digest)(pb_workload *w, pb_engine *e, char hash[PB_HASH_TEXT]);
    size_t (*text)(pb_workload *w, char *text, size_t room);
} pbi_workload_kind;

struct pb_workload {
    pb_context *ctx;
    pb_arena arena;
    const pbi_workload_kind *kind;
    const pb_graph *graph;
    pb_kernels kernels; /* its state belongs to the workload */
};

#define WORKLOAD(id, name, summary) extern const pbi_workload_kind pbi_workload_##id;
#include "workloads/workloads.def"
#undef WORKLOAD

#endif
