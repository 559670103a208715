/* adjoint_run.c -- see adjoint_run.h. */
#include "workloads/adjoint_run.h"

#include "base/context.h"

#include <string.h>

pb_status pbi_adjoint_run_open(pb_context *ctx, const pbi_burgers *model, uint32_t ram_slots, const char *path,
                               pb_arena *arena, pbi_adjoint_run *out)
{
    size_t points = pbi_burgers_points(model);
    *out = (pbi_adjoint_run){.ctx = ctx, .model = model, .ram_slots = ram_slots, .disk = PBI_NO_FILE};
    out->state = pb_arena_alloc(arena, points, sizeof *out->state);
    out->tape = pb_arena_alloc(arena, points, sizeof *out->tape);
    out->gradient = pb_arena_alloc(arena, points + PBI_BURGERS_TAIL, sizeof *out->gradient);
    out->work = pb_arena_alloc(arena, 2 * points, sizeof *out->work);
    out->ram = pb_arena_alloc(arena, ram_slots, pbi_burgers_state_bytes(model));
    if (!out->state || !out->tape || !out->gradient || !out->work || !out->ram)
        return PB_ENOMEM;
    pbi_burgers_begin(model, out->state);
    return path ? pbi_file_scratch(ctx, path, &out->disk) : PB_OK;
}

void pbi_adjoint_run_close(pbi_adjoint_run *run) { pbi_file_close(&run->disk); }

/* The address of a snapshot in memory; NULL: it is in the file. */
static double *ram_of(const pbi_adjoint_run *run, unsigned storage, uint32_t slot)
{
    return storage == PB_STORAGE_RAM && slot < run->ram_slots ? run->ram + slot * pbi_burgers_points(run->model) : NULL;
}

static pb_status check_place(const pbi_adjoint_run *run, unsigned storage)
{
    if (storage <= PB_STORAGE_RAM || run->disk.handle < 0)
        return pbi_fail(run->ctx, PB_EINVAL, "the run has no snapshot in storage %s; use a schedule with fewer levels",
                        pb_storage_name((pb_storage)storage));
    return PB_OK;
}

/* Levels beyond RAM share the file: each has every tenth place. */
static uint64_t place_of(const pbi_adjoint_run *run, unsigned storage, uint32_t slot)
{
    return ((uint64_t)slot * PB_STORAGE_COUNT + storage) * pbi_burgers_state_bytes(run->model);
}

static pb_status save(pbi_adjoint_run *run, const pb_action *a)
{
    size_t bytes = pbi_burgers_state_bytes(run->model);
    double *ram = ram_of(run, a->to, a->slot);
    if (ram) {
        memcpy(ram, run->state, bytes);
        return PB_OK;
    }
    pb_status status = check_place(run, a->to);
    run->writes++;
    return status == PB_OK ? pbi_file_write(&run->disk, run->ctx, place_of(run, a->to, a->slot), run->state, bytes)
                           : status;
}

static pb_status load(pbi_adjoint_run *run, const pb_action *a)
{
    size_t bytes = pbi_burgers_state_bytes(run->model);
    const double *ram = ram_of(run, a->from, a->slot);
    if (ram) {
        memcpy(run->state, ram, bytes);
        return PB_OK;
    }
    pb_status status = check_place(run, a->from);
    run->reads++;
    return status == PB_OK ? pbi_file_read(&run->disk, run->ctx, place_of(run, a->from, a->slot), run->state, bytes)
                           : status;
}

static pb_status forward(pbi_adjoint_run *run, const pb_action *a)
{
    pb_status status = a->flags & PB_WRITE_RESTART ? save(run, a) : PB_OK;
    if (a->flags & PB_WRITE_REVERSE) /* everything that the adjoint of a step needs */
        memcpy(run->tape, run->state, pbi_burgers_state_bytes(run->model));
    for (uint64_t i = a->n0; i < a->n1 && status == PB_OK; i++) {
        pbi_burgers_step(run->model, run->state, run->state, run->work);
        run->steps++;
        status = pbi_poll(run->ctx);
    }
    return status;
}

pb_status pbi_adjoint_run_do(pbi_adjoint_run *run, const pb_action *a)
{
    switch (a->kind) {
    case PB_ACTION_FORWARD: return forward(run, a);
    case PB_ACTION_REVERSE:
        pbi_burgers_reverse(run->model, run->tape, run->gradient, run->gradient, run->work);
        return PB_OK;
    case PB_ACTION_COPY:
    case PB_ACTION_MOVE: return load(run, a);
    case PB_ACTION_END_FORWARD: pbi_burgers_turn(run->model, run->state, run->gradient); return PB_OK;
    default: return PB_OK;
    }
}
