/* run.c -- runs plans with kernels of the caller; see bindings.h. */
#include "api/session/session.h"

#include "base/context.h"
#include "base/out.h"
#include "pebble/engine.h"
#include "report/metrics_json.h"

#include <string.h>

typedef struct runner {
    pb_session *s;
    const pb_graph *g;
    pb_own_kernel kernel;
    void *state;
    pb_engine *engine;
    uint64_t step;
    uint64_t *best; /* by node: its shortest time */
    uint8_t *differs;
    void **only; /* the address of the value that a duty is about */
} runner;

static pb_status refused(const runner *r, pb_node v, const char *what)
{
    return pbi_fail(&r->s->ctx, PB_EINVAL, "%s of %.80s failed; its own message says why", what,
                    pb_graph_name(r->g, v));
}

static pb_status compute(void *state, pb_context *ctx, const pb_call *call)
{
    const runner *r = state;
    const uint64_t numbers[PB_DUTY_FIELDS] = {r->step, call->times, call->by, call->parts_only};
    (void)ctx;
    int code = r->kernel(r->state, PB_DUTY_COMPUTE, call->node, numbers, call->value, call->workspace, call->fixed);
    return code ? refused(r, call->node, "the kernel") : PB_OK;
}

/* A duty about one value, or about none. */
static pb_status do_duty(const runner *r, pb_duty duty, pb_node v, void *at, const char *what)
{
    const uint64_t numbers[PB_DUTY_FIELDS] = {r->step};
    if (v != PB_NO_NODE)
        r->only[v] = at;
    int code = r->kernel(r->state, duty, v, numbers, r->only, NULL, r->engine ? pb_engine_fixed(r->engine) : NULL);
    if (v != PB_NO_NODE)
        r->only[v] = NULL;
    if (code && v == PB_NO_NODE)
        return pbi_fail(&r->s->ctx, PB_EINVAL, "%s failed; its own message says why", what);
    return code ? refused(r, v, what) : PB_OK;
}

static pb_status fill(void *state, pb_context *ctx, pb_node v, void *bytes)
{
    (void)ctx;
    return do_duty(state, PB_DUTY_FILL, v, bytes, "filling the given value");
}

static void take_time(void *state, pb_node v, uint64_t ns)
{
    runner *r = state;
    if (ns < r->best[v])
        r->best[v] = ns;
}

static void take_difference(void *state, pb_node v)
{
    runner *r = state;
    r->differs[v] = 1;
}

static pb_status read_results(runner *r)
{
    pb_status status = PB_OK;
    for (pb_node v = 0; v < r->g->node_count && status == PB_OK; v++) {
        void *at = pb_engine_value(r->engine, v);
        if (at)
            status = do_duty(r, PB_DUTY_RESULT, v, at, "reading the result");
    }
    return status;
}

static pb_status run_steps(runner *r, uint64_t *times, pb_measured *sum)
{
    uint64_t steps = r->s->run_steps ? r->s->run_steps : 1;
    pb_measured m;
    pb_status status =
        r->g->fixed_size ? do_duty(r, PB_DUTY_FIXED, PB_NO_NODE, NULL, "setting up fixed memory") : PB_OK;
    for (r->step = 0; r->step < steps && status == PB_OK; r->step++) {
        status = pb_engine_run(r->engine, &m);
        if (status == PB_OK)
            status = read_results(r);
        if (status != PB_OK)
            break;
        m.peak = m.peak > sum->peak ? m.peak : sum->peak;
        m.block = m.block > sum->block ? m.block : sum->block;
        times[r->step] = m.total_ns;
        *sum = m;
    }
    return status;
}

static void put_list(pbi_out *out, const char *key, const uint64_t *values, uint64_t count)
{
    pbi_out_text(out, key);
    for (uint64_t i = 0; i < count; i++)
        pbi_put_u64(out, i ? "," : "", values[i]);
    pbi_out_text(out, "]");
}

static pb_status write_figures(runner *r, const pb_plan_result *p, const uint64_t *times, const pb_measured *m)
{
    pbi_out out;
    bool first = true;
    pbi_out_init(&out, &r->s->ctx, pbi_session_write(r->s));
    pbi_put_u64(&out, "{\"planned_peak\":", pb_certificate_totals(p->certificate)->peak);
    pbi_put_u64(&out, ",\"peak\":", m->peak);
    pbi_put_u64(&out, ",\"block\":", m->block);
    pbi_put_u64(&out, ",\"computed\":", m->computed);
    pbi_put_u64(&out, ",\"recomputed\":", m->recomputed);
    pbi_put_u64(&out, ",\"kernel_ns\":", m->kernel_ns);
    pbi_put_u64(&out, ",\"recompute_ns\":", m->recompute_ns);
    pbi_put_u64(&out, ",\"stored_bytes\":", m->stored_bytes);
    pbi_put_u64(&out, ",\"loaded_bytes\":", m->loaded_bytes);
    pbi_put_u64(&out, ",\"io_wait_ns\":", m->io_wait_ns);
    put_list(&out, ",\"time_ns\":[", times, r->s->run_steps ? r->s->run_steps : 1);
    put_list(&out, ",\"node_ns\":[", r->best, r->g->node_count);
    pbi_out_text(&out, ",\"differs\":[");
    for (pb_node v = 0; v < r->g->node_count; v++) {
        if (!r->differs[v])
            continue;
        pbi_put_u64(&out, first ? "" : ",", v);
        first = false;
    }
    pbi_out_text(&out, "]}\n");
    return pbi_out_finish(&out);
}

/* UINT64_MAX stands for a node that was not computed. */
static void clear_unknown(runner *r)
{
    for (pb_node v = 0; v < r->g->node_count; v++)
        r->best[v] = r->best[v] == UINT64_MAX ? 0 : r->best[v];
}

static pb_status open_and_run(runner *r, const pb_plan_result *p, pb_arena *scratch)
{
    pb_session *s = r->s;
    size_t room = (size_t)r->g->node_count + 1;
    pb_kernel *of = pb_arena_zero(scratch, room, sizeof *of);
    uint64_t *times = pb_arena_zero(scratch, (size_t)(s->run_steps ? s->run_steps : 1), sizeof *times);
    pb_measured m = {0};
    r->best = pb_arena_alloc(scratch, room, sizeof *r->best);
    r->differs = pb_arena_zero(scratch, room, sizeof *r->differs);
    r->only = pb_arena_zero(scratch, room, sizeof *r->only);
    if (!of || !times || !r->best || !r->differs || !r->only)
        return PB_ENOMEM;
    memset(r->best, 0xff, room * sizeof *r->best);
    for (pb_node v = 0; v < r->g->node_count; v++)
        of[v] = compute;
    size_t recipes = r->g->recipe_start ? r->g->recipe_start[r->g->node_count] : 0;
    pb_kernel *recipe = pb_arena_alloc(scratch, recipes + 1, sizeof *recipe);
    if (!recipe)
        return PB_ENOMEM;
    for (size_t i = 0; i < recipes; i++)
        recipe[i] = compute;
    pb_kernels kernels = {.of = of, .recipe = recipe, .state = r, .fill = fill};
    pb_engine_options how = {.align = s->run_align,
                             .max_bytes = s->run_max_block,
                             .timed = take_time,
                             .timed_state = r,
                             .check = s->run_check,
                             .differs = take_difference,
                             .differs_state = r,
                             .slow_path = {s->run_slow}};
    pb_status status = pb_engine_new(&s->ctx, p->certificate, &kernels, &how, &r->engine);
    if (status == PB_OK)
        status = run_steps(r, times, &m);
    clear_unknown(r);
    pb_engine_free(r->engine);
    return status == PB_OK ? write_figures(r, p, times, &m) : status;
}

pb_status pb_session_run(pb_session *s, const pb_plan_result *p, pb_own_kernel kernel, void *state)
{
    pb_arena scratch;
    if (!s)
        return PB_EINVAL;
    pbi_session_begin_reading(s);
    pb_status status = PB_OK;
    if (!p || !p->certificate)
        status = pbi_fail(&s->ctx, PB_EINVAL, "there is no plan to run; raise the cap or the time limit");
    else if (!kernel)
        status = pbi_fail(&s->ctx, PB_EINVAL, "a plan is run by kernels, but there are none; pass a function");
    else if (strcmp(p->game->graph->size_unit, "byte") != 0)
        status = pbi_fail(&s->ctx, PB_EINVAL,
                          "the sizes of the graph are in %.40s; to run it they must be bytes: make it with size_unit "
                          "`byte`",
                          p->game->graph->size_unit);
    if (status == PB_OK) {
        runner r = {.s = s, .g = p->game->graph, .kernel = kernel, .state = state};
        pb_arena_init(&scratch, &s->ctx);
        status = open_and_run(&r, p, &scratch);
        pb_arena_release(&scratch);
    }
    s->run_steps = s->run_align = s->run_max_block = 0;
    s->run_check = false;
    s->run_slow = NULL;
    return pbi_session_finish(s, status);
}

pb_status pb_session_run_number(pb_session *s, const char *name, uint64_t value)
{
    if (!s)
        return PB_EINVAL;
    pb_status status = PB_OK;
    if (strcmp(name, "steps") == 0 && value && value < UINT32_MAX)
        s->run_steps = value;
    else if (strcmp(name, "align") == 0 && value && !(value & (value - 1)))
        s->run_align = value;
    else if (strcmp(name, "max_block") == 0)
        s->run_max_block = value;
    else if (strcmp(name, "check") == 0)
        s->run_check = value != 0;
    else
        status = pbi_fail(&s->ctx, PB_EINVAL,
                          "%.40s: expected steps (1 or more), align (a power of two), max_block or check", name);
    return pbi_session_end(s, status);
}

pb_status pb_session_run_slow(pb_session *s, const char *path)
{
    if (!s)
        return PB_EINVAL;
    s->run_slow = path ? pb_arena_text(&s->arena, path, strlen(path)) : NULL;
    return pbi_session_end(s, !path || s->run_slow ? PB_OK : PB_ENOMEM);
}
