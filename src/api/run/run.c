/* run.c -- see run.h: steps of a workload under one plan, timed and counted. */
#include "pebble/run.h"

#include "base/context.h"
#include "engine/program_order.h"

#include <string.h>

enum { REPLAN_TICKS = 20000 };

static pb_status begin_step(void *state, uint64_t step, pb_engine *e) { return pb_workload_begin(state, step, e); }

/* As between the steps of a run, so that the caches are in the same state for the next one. */
static pb_status end_step(void *state, uint64_t step, pb_engine *e)
{
    char hash[PB_HASH_TEXT];
    pb_status status = pb_workload_end(state, step, e);
    return status == PB_OK ? pb_workload_digest(state, e, hash) : status;
}

pb_status pb_profile_workload(pb_context *ctx, pb_workload *w, uint32_t repeat, pb_arena *result, pb_profiled *out)
{
    pb_profile_options options = {.repeat = repeat, .begin = begin_step, .end = end_step, .state = w};
    return pb_profile_run(ctx, pb_workload_graph(w), pb_workload_kernels(w), &options, result, out);
}

pb_status pb_run_program_order(pb_context *ctx, const pb_graph *g, bool keep_all, pb_arena *result,
                               const pb_certificate **out)
{
    return pbi_program_plan(ctx, g, keep_all, result, out);
}

/* Collected while steps run. */
typedef struct runner {
    pb_context *ctx;
    pb_workload *w;
    const pb_run_options *options;
    pb_engine *engine;
    uint64_t first_ns; /* when the first kernel of the step started; 0: not yet */
    uint64_t *time, *fill, *kernel, *again, *wait, *busy, *flux, *span, *stall[2]; /* by step; flux in byte x us */
} runner;

static uint64_t clock_of(const pb_context *ctx) { return ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0; }

static void take_time(void *state, pb_node v, uint64_t ns)
{
    runner *r = state;
    (void)v;
    if (!r->first_ns)
        r->first_ns = clock_of(r->ctx) - ns;
}

/* Plans the remaining moves with any suitable strategy: they rarely have the shape of the whole graph. */
static pb_status replan(void *state, pb_context *ctx, const pb_game *remaining, pb_arena *result,
                        const pb_certificate **out)
{
    const runner *r = state;
    pb_plan_result planned;
    pb_request request = *r->options->replan;
    uint64_t ticks = ctx->tick_limit;
    request.strategy = NULL;
    request.start = NULL;
    ctx->tick_limit = ticks ? ticks : REPLAN_TICKS; /* the run waits for it */
    pb_status status = pb_plan(ctx, remaining, &request, result, &planned);
    ctx->tick_limit = ticks;
    if (status == PB_OK)
        *out = planned.certificate;
    return status;
}

static pb_status run_step(runner *r, uint64_t step, pb_measured *m, uint64_t *fill)
{
    pb_status status = pb_workload_begin(r->w, step, r->engine);
    r->first_ns = 0;
    uint64_t begin = clock_of(r->ctx);
    if (status == PB_OK)
        status = pb_engine_run(r->engine, m);
    *fill = r->first_ns > begin ? r->first_ns - begin : 0;
    return status;
}

static void keep_step(runner *r, uint64_t step, const pb_measured *m, uint64_t fill, pb_run_figures *f)
{
    r->fill[step] = fill;
    r->time[step] = m->total_ns > fill ? m->total_ns - fill : 0;
    r->kernel[step] = m->kernel_ns;
    r->again[step] = m->recompute_ns;
    r->wait[step] = m->io_wait_ns;
    r->busy[step] = m->io_busy_ns;
    r->flux[step] = (uint64_t)(m->flux / 1000);
    r->span[step] = m->makespan_ns;
    r->stall[0][step] = m->stall_copy_ns;
    r->stall[1][step] = m->stall_memory_ns;
    f->peak = m->peak > f->peak ? m->peak : f->peak;
    f->more_bytes = m->more_bytes > f->more_bytes ? m->more_bytes : f->more_bytes;
    f->replanned += m->replanned;
    uint64_t block =
        m->block > m->peak ? m->block : m->peak; /* workspace beyond the plan is placed behind the plan's block */
    f->block = block > f->block ? block : f->block;
    f->computed = m->computed;
    f->recomputed = m->recomputed;
    f->stored_bytes = m->stored_bytes;
    f->loaded_bytes = m->loaded_bytes;
    f->steps = step + 1;
}

static pb_status run_steps(runner *r, const pb_run_options *o, char (*digest)[PB_HASH_TEXT], pb_run_figures *f)
{
    uint64_t steps = o->steps ? o->steps : 1, fill;
    pb_measured m;
    pb_status status = o->cold ? PB_OK : run_step(r, 0, &m, &fill);
    for (uint64_t step = 0; step < steps && status == PB_OK; step++) {
        pbi_progress(r->ctx, "running", step, steps);
        status = run_step(r, step, &m, &fill);
        if (status == PB_ECANCELLED && step)
            return PB_OK;
        if (status == PB_OK)
            status = pb_workload_end(r->w, step, r->engine);
        if (status == PB_OK)
            status = pb_workload_digest(r->w, r->engine, digest[step]);
        if (status != PB_OK)
            return status;
        keep_step(r, step, &m, fill, f);
        if (o->after)
            o->after(o->after_state, step);
    }
    return status;
}

static void sum_up(runner *r, pb_run_figures *f)
{
    uint32_t steps = (uint32_t)f->steps;
    f->time = pb_spread_of(r->time, steps);
    f->fill_ns = pb_spread_of(r->fill, steps).median;
    f->kernel_ns = pb_spread_of(r->kernel, steps).median;
    f->recompute_ns = pb_spread_of(r->again, steps).median;
    f->io_wait_ns = pb_spread_of(r->wait, steps).median;
    f->io_busy_ns = pb_spread_of(r->busy, steps).median;
    f->makespan_ns = pb_spread_of(r->span, steps).median;
    f->stall_copy_ns = pb_spread_of(r->stall[0], steps).median;
    f->stall_memory_ns = pb_spread_of(r->stall[1], steps).median;
    f->flux = 1000.0 * (double)pb_spread_of(r->flux, steps).median;
    pb_workload_text(r->w, f->text, sizeof f->text);
}

static pb_status take_rows(runner *r, uint64_t steps, pb_arena *scratch)
{
    uint64_t **rows[] = {&r->time, &r->fill, &r->kernel, &r->again,    &r->wait,
                         &r->busy, &r->flux, &r->span,   &r->stall[0], &r->stall[1]};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!(*rows[i] = pb_arena_alloc(scratch, steps, sizeof **rows[i])))
            return PB_ENOMEM;
    return PB_OK;
}

pb_status pb_run_plan(pb_context *ctx, pb_workload *w, const pb_certificate *plan, const pb_run_options *options,
                      pb_arena *result, pb_run_figures *out)
{
    uint64_t steps = options->steps ? options->steps : 1;
    pb_arena scratch;
    pb_run_figures figures = {0};
    runner r = {.ctx = ctx, .w = w, .options = options};
    pb_engine_options how = {.max_bytes = options->max_bytes,
                             .packing = options->packing,
                             .timed = take_time,
                             .timed_state = &r,
                             .slow_path = {options->slow_path},
                             .throttle = options->throttle,
                             .replan = options->replan ? replan : NULL,
                             .replan_state = &r};
    if (steps >= UINT32_MAX)
        return pbi_fail(ctx, PB_EINVAL, "a run has fewer than 2^32 steps; use fewer");
    pb_arena_init(&scratch, ctx);
    char(*digest)[PB_HASH_TEXT] = pb_arena_zero(result, steps, sizeof *digest);
    figures.digest = (const char(*)[PB_HASH_TEXT])digest;
    pb_status status = digest ? take_rows(&r, steps, &scratch) : PB_ENOMEM;
    if (status == PB_OK)
        status = pb_engine_new(ctx, plan, pb_workload_kernels(w), &how, &r.engine);
    if (status == PB_OK)
        status = run_steps(&r, options, digest, &figures);
    if (status == PB_OK)
        sum_up(&r, &figures);
    pb_engine_free(r.engine);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = figures;
    return status;
}

uint64_t pb_run_differs(const pb_run_figures *a, const pb_run_figures *b)
{
    uint64_t steps = a->steps < b->steps ? a->steps : b->steps;
    for (uint64_t k = 0; k < steps; k++)
        if (strcmp(a->digest[k], b->digest[k]) != 0)
            return k;
    return UINT64_MAX;
}
