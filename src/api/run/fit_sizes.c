/* fit_sizes.c -- the largest size of a graph that fits a memory, in program order and with a plan.
 *
 * Nothing is run: times are those of the machine. A batch with a plan is compared with what gives as many samples
 * without one: several smaller batches whose gradients are accumulated.
 */
#include "api/run/fit_search.h"
#include "base/arena.h"
#include "base/context.h"
#include "pebble/run.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TRIED = 128 }; /* doubling and bisection try about 80 */

typedef struct finder {
    pb_context *ctx;
    const pb_size_request *request;
    pb_arena *result;
    pb_size_point best, tried[MAX_TRIED];
    uint32_t tried_count;
    pb_sizes found;
} finder;

/* The graph at a size, priced. Too large a size is not taken. */
static pb_status graph_at(finder *f, uint64_t value, pb_arena *arena, const pb_graph **out, bool *taken)
{
    const pb_size_request *r = f->request;
    pb_status status = r->graph(r->state, value, arena, out);
    *taken = status == PB_OK;
    if (value > r->first && (status == PB_EINVAL || status == PB_ERANGE))
        return PB_OK;
    if (status == PB_OK && r->machine)
        status = pb_graph_price(f->ctx, *out, r->machine, arena, out);
    return status;
}

static pb_status take_units(finder *f, const pb_graph *g)
{
    if (f->found.cost_unit)
        return PB_OK;
    f->found.cost_unit = pb_arena_text(f->result, g->cost_unit, strlen(g->cost_unit));
    f->found.size_unit = pb_arena_text(f->result, g->size_unit, strlen(g->size_unit));
    return f->found.cost_unit && f->found.size_unit ? PB_OK : PB_ENOMEM;
}

static pb_status try_program(void *state, uint64_t value, bool *fits, bool *taken)
{
    finder *f = state;
    pb_arena arena;
    const pb_graph *g;
    pb_size_point point = {.value = value, .fits = true};
    pb_arena_init(&arena, f->ctx);
    pbi_progress(f->ctx, "program order", value, 0);
    pb_status status = pbi_poll(f->ctx);
    if (status == PB_OK)
        status = graph_at(f, value, &arena, &g, taken);
    *fits = false;
    if (status == PB_OK && *taken) {
        status = take_units(f, g);
        if (status == PB_OK)
            status = pb_graph_program_peak(f->ctx, g, &point.peak);
        point.cost = g->needed_cost;
        if (value == f->request->first)
            f->found.first_peak = point.peak;
        *fits = status == PB_OK && point.peak <= f->request->cap;
    }
    if (*fits)
        f->best = point;
    pb_arena_release(&arena);
    return status;
}

static pb_status plan_at(finder *f, const pb_graph *g, pb_arena *arena, pb_size_point *point, bool *found)
{
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = f->request->cap, .weights = PB_WEIGHTS_DEFAULT};
    pb_plan_result planned;
    uint64_t forward;
    pb_status status = pb_plan(f->ctx, &game, &f->request->plan, arena, &planned);
    *found = status == PB_OK && planned.certificate;
    if (*found)
        status = pbi_forward_cost(f->ctx, g, &forward);
    if (status != PB_OK || !*found)
        return status;
    const pb_metrics *m = &planned.schedule.metrics;
    double most = f->request->max_overhead;
    point->peak = m->peak;
    point->cost = m->makespan;
    point->overhead = m->overhead;
    point->strategy = planned.schedule.strategy;
    point->fits = most < 0 ? m->recompute <= forward : m->overhead <= most;
    return PB_OK;
}

static pb_status try_planned(void *state, uint64_t value, bool *fits, bool *taken)
{
    finder *f = state;
    pb_arena arena;
    const pb_graph *g;
    pb_size_point point = {.value = value};
    bool found = false;
    pb_arena_init(&arena, f->ctx);
    pbi_progress(f->ctx, "planned", value, 0);
    pb_status status = pbi_poll(f->ctx);
    if (status == PB_OK)
        status = graph_at(f, value, &arena, &g, taken);
    if (status == PB_OK && *taken)
        status = plan_at(f, g, &arena, &point, &found);
    *fits = status == PB_OK && found && point.fits;
    if (status == PB_OK && found && f->tried_count < MAX_TRIED)
        f->tried[f->tried_count++] = point;
    if (*fits)
        f->best = point;
    pb_arena_release(&arena);
    return status;
}

/* ---- several smaller batches ---- */

static uint64_t update_cost(const pb_graph *g)
{
    uint64_t cost = 0;
    for (uint32_t i = 0; i < g->order_count; i++) {
        const char *op = pb_graph_work(g, g->order[i]).op;
        if (op && strcmp(op, "update") == 0)
            cost += g->cost[g->order[i]];
    }
    return cost;
}

static pb_status add_parts(finder *f, pb_size_point *point)
{
    uint64_t most = f->found.program.value;
    pb_arena arena;
    const pb_graph *g;
    bool taken;
    if (!f->request->batches || !most)
        return PB_OK;
    point->parts = (point->value + most - 1) / most;
    point->part = (point->value + point->parts - 1) / point->parts;
    pb_arena_init(&arena, f->ctx);
    pb_status status = graph_at(f, point->part, &arena, &g, &taken);
    if (status == PB_OK && taken) {
        uint64_t update = update_cost(g);
        point->parts_cost = point->parts * (g->needed_cost - update) + update;
    } else {
        point->parts = 0;
    }
    pb_arena_release(&arena);
    return status;
}

/* Costs per sample: a / samples of a <= b / samples of b. */
static bool no_more(const pb_size_point *p)
{
    return (double)p->cost / (double)p->value <= (double)p->parts_cost / (double)(p->parts * p->part);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = ((const pb_size_point *)a)->value, y = ((const pb_size_point *)b)->value;
    return (x > y) - (x < y);
}

static pb_status compare_parts(finder *f)
{
    pb_status status = add_parts(f, &f->found.planned);
    qsort(f->tried, f->tried_count, sizeof *f->tried, by_value);
    for (uint32_t i = 0; i < f->tried_count && status == PB_OK; i++) {
        status = add_parts(f, &f->tried[i]);
        if (status == PB_OK && f->tried[i].fits && f->tried[i].parts && no_more(&f->tried[i]))
            f->found.break_even = f->tried[i].value;
    }
    pb_size_point *tried = pb_arena_alloc(f->result, (size_t)f->tried_count + 1, sizeof *tried);
    if (!tried)
        return PB_ENOMEM;
    memcpy(tried, f->tried, f->tried_count * sizeof *tried);
    f->found.tried = tried;
    f->found.tried_count = f->tried_count;
    return status;
}

pb_status pb_sizes_find(pb_context *ctx, const pb_size_request *request, pb_arena *result, pb_sizes *out)
{
    finder f = {.ctx = ctx, .request = request, .result = result};
    uint64_t value = 0;
    if (request->cap == PB_UNLIMITED)
        return pbi_fail(ctx, PB_EINVAL, "expected a cap; without one, every size fits");
    pb_status status = pbi_fit_search(try_program, &f, request->first, &value, &f.found.program_bounded);
    f.found.program = f.best;
    if (status == PB_OK)
        status = pbi_fit_search(try_planned, &f, request->first, &value, &f.found.planned_bounded);
    f.found.planned = f.best;
    f.found.stopped = status == PB_ECANCELLED;
    if (status == PB_OK)
        status = compare_parts(&f);
    if (status == PB_OK || f.found.stopped)
        *out = f.found;
    return f.found.stopped ? PB_OK : status;
}
