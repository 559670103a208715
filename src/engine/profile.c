/* profile.c -- see profile.h.
 *
 * Medians of single nodes leave out rare events (interrupts, memory pressure from other programs), and a sum of medians
 * is less than the median of sums. Plans should predict the whole run, so the costs are scaled to add up to it. Reading
 * the clock costs some 20 ns per node; the engine reads it in every run, so it is part of the cost of a computation.
 */
#include "pebble/profile.h"

#include "base/checked.h"
#include "base/context.h"
#include "engine/program_order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_RUNS = 5, MAX_RUNS = 50, EXTRA_ROOM = 80 };
static const uint64_t second_ns = 1000000000;

typedef struct profiler {
    pb_context *ctx;
    const pb_graph *g;
    const pb_profile_options *options;
    pb_engine *engine;
    uint32_t most;
    uint64_t *sample;        /* [run][node] */
    uint64_t *whole, *inner; /* by run: without filling; in kernels */
    uint64_t *now;           /* the row of the current run */
    uint64_t first_ns;       /* when its first kernel started */
    bool began;
} profiler;

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

pb_spread pb_spread_of(uint64_t *values, uint32_t count)
{
    if (!count)
        return (pb_spread){0, 0, 0};
    qsort(values, count, sizeof *values, by_value);
    uint64_t below = values[(count - 1) / 2], above = values[count / 2];
    return (pb_spread){values[(count - 1) / 4], below + (above - below) / 2, values[count - 1 - (count - 1) / 4]};
}

static uint64_t clock_of(const pb_context *ctx) { return ctx->clock_ns(ctx->callback_state); }

static void take_time(void *state, pb_node v, uint64_t ns)
{
    profiler *p = state;
    if (!p->began)
        p->first_ns = clock_of(p->ctx) - ns;
    p->began = true;
    p->now[v] += ns;
}

static pb_status run_once(profiler *p, uint64_t step, uint32_t row, pb_measured *m)
{
    const pb_profile_options *o = p->options;
    p->now = p->sample + (size_t)row * p->g->node_count;
    memset(p->now, 0, p->g->node_count * sizeof *p->now);
    p->began = false;
    pb_status status = o->begin ? o->begin(o->state, step, p->engine) : PB_OK;
    uint64_t begin = clock_of(p->ctx);
    if (status == PB_OK)
        status = pb_engine_run(p->engine, m);
    uint64_t filling = p->began && p->first_ns > begin ? p->first_ns - begin : 0;
    if (status == PB_OK && o->end)
        status = o->end(o->state, step, p->engine);
    if (status != PB_OK)
        return status;
    p->whole[row] = m->total_ns > filling ? m->total_ns - filling : 0;
    p->inner[row] = m->kernel_ns < p->whole[row] ? m->kernel_ns : p->whole[row];
    return PB_OK;
}

/* The first run is cold: pages that were never touched, code that was never run. */
static pb_status run_all(profiler *p, pb_profiled *out)
{
    pb_measured m;
    uint64_t begin = clock_of(p->ctx), enough = p->options->enough_ns ? p->options->enough_ns : second_ns;
    pb_status status = run_once(p, 0, 0, &m);
    if (status != PB_OK)
        return status;
    out->peak = m.peak;
    out->block = m.block;
    for (uint32_t r = 0; r < p->most; r++) {
        pbi_progress(p->ctx, "measuring", r, p->most);
        if (!p->options->repeat && r >= MIN_RUNS && clock_of(p->ctx) - begin > enough)
            break;
        status = run_once(p, r + 1, r, &m);
        if (status != PB_OK)
            return status == PB_ECANCELLED && out->repeats ? PB_OK : status;
        out->repeats = r + 1;
    }
    return PB_OK;
}

/* value * up / down, rounded. */
static uint64_t share(uint64_t value, uint64_t up, uint64_t down)
{
    return down ? (uint64_t)((double)value * (double)up / (double)down + 0.5) : value;
}

static char *spread_text(pb_arena *arena, const pb_spread *s)
{
    char text[EXTRA_ROOM];
    int length = snprintf(text, sizeof text, "\"ns_low\":%" PRIu64 ",\"ns_high\":%" PRIu64, s->low, s->high);
    return pb_arena_text(arena, text, (size_t)length);
}

/* Quartiles of every node; *sum is that of the medians. */
static void find_spreads(profiler *p, uint32_t repeats, uint64_t *column, pb_spread *time, uint64_t *sum)
{
    *sum = 0;
    for (pb_node v = 0; v < p->g->node_count; v++) {
        for (uint32_t r = 0; r < repeats; r++)
            column[r] = p->sample[(size_t)r * p->g->node_count + v];
        time[v] = pb_spread_of(column, repeats);
        *sum += time[v].median;
    }
}

/* Recipes are not run: each is taken to be as much faster or slower than stated as its node. */
static const uint64_t *recipe_costs(const pb_graph *g, const uint64_t *cost, pb_arena *scratch)
{
    uint32_t count = g->recipe_start ? g->recipe_start[g->node_count] : 0;
    uint64_t *own = pb_arena_alloc(scratch, (size_t)count + 1, sizeof *own);
    for (pb_node v = 0; own && count && v < g->node_count; v++)
        for (uint32_t i = g->recipe_start[v]; i < g->recipe_start[v + 1]; i++) {
            double scaled = g->cost[v] ? (double)g->recipe[i].cost / (double)g->cost[v] * (double)cost[v] : 0;
            own[i] = g->cost[v] && scaled < 0x1p62 ? (uint64_t)scaled : g->recipe[i].cost;
        }
    return own;
}

static pb_status make_graph(profiler *p, pb_arena *scratch, pb_arena *result, pb_profiled *out)
{
    const pb_graph *g = p->g;
    size_t nodes = (size_t)g->node_count + 1;
    pb_spread *time = pb_arena_zero(result, nodes, sizeof *time);
    uint64_t *cost = pb_arena_zero(scratch, nodes, sizeof *cost);
    uint64_t *column = pb_arena_alloc(scratch, (size_t)out->repeats + 1, sizeof *column), sum;
    const char **extra = pb_arena_zero(scratch, nodes, sizeof *extra);
    if (!time || !cost || !column || !extra)
        return PB_ENOMEM;
    find_spreads(p, out->repeats, column, time, &sum);
    out->time = time;
    out->run = pb_spread_of(p->whole, out->repeats);
    uint64_t inner = pb_spread_of(p->inner, out->repeats).median;
    out->overhead_ns = g->order_count && out->run.median > inner ? (out->run.median - inner) / g->order_count : 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!pb_graph_is_computed(g, v))
            continue;
        cost[v] = pbi_add_saturated(share(time[v].median, inner, sum), out->overhead_ns);
        cost[v] += cost[v] == 0;
        if (!(extra[v] = spread_text(scratch, &time[v])))
            return PB_ENOMEM;
    }
    char text[2 * EXTRA_ROOM];
    snprintf(text, sizeof text,
             "\"profile\":{\"repeats\":%" PRIu32 ",\"run_ns\":%" PRIu64 ",\"overhead_ns\":%" PRIu64 "}", out->repeats,
             out->run.median, out->overhead_ns);
    const uint64_t *recipes = recipe_costs(g, cost, scratch);
    if (!recipes)
        return PB_ENOMEM;
    pb_graph_costs costs = {.cost = cost,
                            .recipe_cost = recipes,
                            .cost_unit = "ns",
                            .size_unit = "byte",
                            .extra = text,
                            .node_extra = extra};
    return pb_graph_with_costs(p->ctx, g, &costs, result, &out->graph);
}

static pb_status take_rows(profiler *p, pb_arena *scratch)
{
    size_t rows = p->most;
    if (p->g->node_count && rows > SIZE_MAX / p->g->node_count)
        return PB_ENOMEM;
    p->sample = pb_arena_alloc(scratch, rows * p->g->node_count + 1, sizeof *p->sample);
    p->whole = pb_arena_alloc(scratch, rows, sizeof *p->whole);
    p->inner = pb_arena_alloc(scratch, rows, sizeof *p->inner);
    return p->sample && p->whole && p->inner ? PB_OK : PB_ENOMEM;
}

pb_status pb_profile_run(pb_context *ctx, const pb_graph *g, const pb_kernels *kernels,
                         const pb_profile_options *options, pb_arena *result, pb_profiled *out)
{
    pb_arena scratch;
    const pb_certificate *plan;
    pb_profiled found = {0};
    profiler p = {.ctx = ctx, .g = g, .options = options, .most = options->repeat ? options->repeat : MAX_RUNS};
    pb_engine_options how = {.timed = take_time, .timed_state = &p};
    if (!ctx->clock_ns)
        return pbi_fail(ctx, PB_EINVAL, "there is no clock to measure with; set clock_ns in the context");
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_program_plan(ctx, g, false, &scratch, &plan);
    if (status == PB_OK)
        status = take_rows(&p, &scratch);
    if (status == PB_OK)
        status = pb_engine_new(ctx, plan, kernels, &how, &p.engine);
    if (status == PB_OK)
        status = run_all(&p, &found);
    pb_engine_free(p.engine);
    if (status == PB_OK)
        status = make_graph(&p, &scratch, result, &found);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = found;
    return status;
}
