/* workload_parts.h -- shared by several workloads: numbers in options, files, a graph under construction. */
#ifndef PBI_WORKLOAD_PARTS_H
#define PBI_WORKLOAD_PARTS_H

#include "graph/emit.h"
#include "workloads/workload.h"

/* The next multiple of 64: the engine aligns addresses to it, so a smaller size would save nothing. */
static inline uint64_t pbi_round64(uint64_t size) { return (size + 63) / 64 * 64; }

/* A whole number between `least` and `most`; PB_EINVAL with a sentence that begins with `name`, "workload: option". */
pb_status pbi_workload_number(pb_context *ctx, const char *name, const char *text, uint64_t least, uint64_t most,
                              uint64_t *out);

/* Files are read by offset, so that kernels share no position. */
typedef struct pbi_file {
    int handle; /* -1: none */
    uint64_t size;
} pbi_file;
#define PBI_NO_FILE ((pbi_file){.handle = -1})
/* PB_EIO with a sentence that names the file. */
pb_status pbi_file_open(pb_context *ctx, const char *path, pbi_file *out);
/* A new file to write and read, without a name; `path` is only used to create it. */
pb_status pbi_file_scratch(pb_context *ctx, const char *path, pbi_file *out);
void pbi_file_close(pbi_file *file); /* may be called again */
pb_status pbi_file_read(const pbi_file *file, pb_context *ctx, uint64_t offset, void *bytes, size_t count);
pb_status pbi_file_write(const pbi_file *file, pb_context *ctx, uint64_t offset, const void *bytes, size_t count);

/* A graph under construction, as in the generators: keeps the first failure. */
typedef struct pbi_draft {
    pbi_emit e;
} pbi_draft;
pb_status pbi_draft_begin(pbi_draft *draft, pb_workload *w, const char *name, const char *cost_unit);
/* Freezes it into w->graph; ends the draft in any case. */
pb_status pbi_draft_end(pbi_draft *draft, pb_workload *w);

#endif
