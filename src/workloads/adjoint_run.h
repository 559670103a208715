/* adjoint_run.h -- a solver driven by a stream of actions (pebble/adjoint.h), with snapshots in memory and in a file.
 *
 *     pbi_adjoint_run run;
 *     pbi_adjoint_run_open(ctx, &model, snapshots, "scratch.file", &arena, &run);
 *     while (status == PB_OK && pb_revolve_next(&stream, &a))
 *         status = pbi_adjoint_run_do(&run, &a);
 *     ... run.gradient ...
 *     pbi_adjoint_run_close(&run);
 */
#ifndef PBI_ADJOINT_RUN_H
#define PBI_ADJOINT_RUN_H

#include "pebble/adjoint.h"
#include "workloads/burgers.h"
#include "workloads/workload_parts.h"

typedef struct pbi_adjoint_run {
    pb_context *ctx;
    const pbi_burgers *model;
    double *state, *tape, *gradient;
    double *work; /* two fields */
    double *ram;  /* snapshots, one after the other */
    uint32_t ram_slots;
    pbi_file disk;
    uint64_t steps, writes, reads; /* so far: forward steps, snapshots written to and read from the file */
} pbi_adjoint_run;

/* The working state starts as state 0. `path` is a file that is created for levels beyond RAM and removed at once;
 * NULL: there are no such levels. */
pb_status pbi_adjoint_run_open(pb_context *ctx, const pbi_burgers *model, uint32_t ram_slots, const char *path,
                               pb_arena *arena, pbi_adjoint_run *out);
void pbi_adjoint_run_close(pbi_adjoint_run *run);
pb_status pbi_adjoint_run_do(pbi_adjoint_run *run, const pb_action *a);

#endif
