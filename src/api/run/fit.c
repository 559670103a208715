/* fit.c -- the largest batch that fits: doubling, then bisection, for each way to run a workload.
 *
 * A larger value of the option never makes a workload smaller, so a value that does not fit ends the search
 * upwards. Each way starts from the answer of the previous one, which fits too. Costs are measured once, at the
 * largest value that fits with everything kept, and scaled for other values: the decision depends on the ratio of
 * recomputation to other work, and the answer is run for real.
 */
#include "pebble/run.h"

#include "api/run/address.h"
#include "api/run/fit_search.h"
#include "base/context.h"
#include "engine/program_order.h"
#include "plan/strategy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_OPTIONS = 64, VALUE_ROOM = 24, REPEAT = 5, MIN_LOOKS = 7 };

/* One value of the option: the workload, and a plan that fits if there is one. */
typedef struct attempt {
    pb_arena arena;
    pb_workload *w;
    const pb_certificate *plan;
    pb_packing packing;
    uint64_t value;
    double overhead, forward_passes;
    const char *strategy;
} attempt;

typedef struct finder {
    pb_context *ctx;
    const pb_fit_request *request;
    pb_option options[MAX_OPTIONS];
    uint32_t option_count, varied; /* index of the option that is varied */
    char value[VALUE_ROOM];
    pb_arena costs_arena;
    uint64_t *cost; /* measured, by node; NULL: not yet */
    uint32_t cost_count;
    attempt best;
    pb_fit_way way; /* that is being searched */
    pb_fit fit;
} finder;

const char *pb_fit_way_name(pb_fit_way way)
{
    static const char *const names[] = {"store-all", "written", "order", "planned"};
    return (unsigned)way < PB_FIT_WAYS ? names[way] : "unknown";
}

static void drop(attempt *t)
{
    pb_workload_close(t->w);
    if (t->arena.ctx)
        pb_arena_release(&t->arena);
    memset(t, 0, sizeof *t);
}

/* A value that the workload refuses counts as one that does not fit; *taken is then false. */
static pb_status open_at(finder *f, uint64_t value, attempt *t, bool *taken)
{
    *t = (attempt){.value = value};
    snprintf(f->value, sizeof f->value, "%" PRIu64, value);
    pb_arena_init(&t->arena, f->ctx);
    pb_status status = pb_workload_open(f->ctx, f->request->workload, f->options, f->option_count, &t->w);
    *taken = status == PB_OK;
    if (status == PB_OK)
        return PB_OK;
    if (value == 1 && status == PB_EINVAL) {
        char why[300];
        snprintf(why, sizeof why, "%.299s", f->ctx->error.message);
        return pbi_fail(f->ctx, status, "the search starts at %s=1: %s", f->options[f->varied].key, why);
    }
    bool too_large = value > 1 && (status == PB_EINVAL || status == PB_ERANGE || status == PB_ENOMEM);
    return too_large ? PB_OK : status;
}

/* ---- costs ---- */

static pb_status measure_costs(finder *f, pb_workload *w, uint64_t value)
{
    pb_profiled p;
    pb_status status = pb_profile_workload(f->ctx, w, REPEAT, &f->costs_arena, &p);
    if (status != PB_OK)
        return status;
    f->cost_count = p.graph->node_count;
    f->cost = pb_arena_alloc(&f->costs_arena, (size_t)f->cost_count + 1, sizeof *f->cost);
    if (!f->cost)
        return PB_ENOMEM;
    memcpy(f->cost, p.graph->cost, f->cost_count * sizeof *f->cost);
    f->fit.profile_value = value;
    return PB_OK;
}

/* The graph at this value with measured costs; measured at each value if the option changes the graph's nodes. */
static pb_status with_costs(finder *f, attempt *t, const pb_graph **out)
{
    const pb_graph *g = pb_workload_graph(t->w);
    pb_status status = PB_OK;
    if (!f->cost || f->cost_count != g->node_count) {
        f->fit.profiled_each |= f->cost != NULL;
        status = measure_costs(f, t->w, t->value);
    }
    if (status == PB_OK)
        status = pb_graph_with_costs(f->ctx, g, &(pb_graph_costs){.cost = f->cost, .cost_unit = "ns"}, &t->arena, out);
    return status;
}

/* ---- does it fit? ---- */

static pb_status fits_in_program_order(finder *f, attempt *t, bool keep_all, uint64_t cap, bool *fits)
{
    const pb_certificate *plan = NULL;
    pb_status status = pbi_program_plan(f->ctx, pb_workload_graph(t->w), keep_all, &t->arena, &plan);
    if (status == PB_OK && pb_certificate_totals(plan)->peak > cap)
        return PB_OK;
    if (status == PB_OK)
        status = pbi_address_plan(f->ctx, plan, cap, &t->arena, &t->packing);
    *fits = status == PB_OK && t->packing.size <= cap;
    t->plan = *fits ? plan : NULL;
    return status;
}

static pb_status fits_planned(finder *f, attempt *t, bool order_only, uint64_t cap, bool *fits)
{
    pb_game game = {.kind = PB_GAME_REMAT, .cap = cap, .weights = PB_WEIGHTS_DEFAULT};
    pb_request request = f->request->plan;
    pb_plan_result planned;
    uint64_t forward = 0;
    if (order_only) {
        request.strategy = pbi_strategy_with(PB_GAME_REMAT, PB_HEURISTIC, PB_TRAIT_ANY_CAP, 0)->name;
        request.policy = NULL;
    }
    pb_status status = with_costs(f, t, &game.graph);
    if (status == PB_OK)
        status = pbi_forward_cost(f->ctx, game.graph, &forward);
    if (status == PB_OK)
        status = pb_run_plan_make(f->ctx, &game, &request, &t->arena, &planned, &t->packing);
    f->fit.plans++;
    if (status != PB_OK || !planned.certificate)
        return status;
    const pb_metrics *m = &planned.schedule.metrics;
    double most = f->request->max_overhead;
    t->overhead = m->overhead;
    t->forward_passes = forward ? (double)m->recompute / (double)forward : 0;
    t->strategy = planned.schedule.strategy;
    *fits = most < 0 ? m->recompute <= forward : m->overhead <= most;
    t->plan = *fits ? planned.certificate : NULL;
    return PB_OK;
}

/* Keeps the attempt if it fits. */
static pb_status try_value(void *state, uint64_t value, bool *fits, bool *taken)
{
    finder *f = state;
    pb_fit_way way = f->way;
    attempt now;
    *fits = false;
    pbi_progress(f->ctx, pb_fit_way_name(way), value, 0);
    pb_status status = pbi_poll(f->ctx);
    if (status != PB_OK)
        return status;
    status = open_at(f, value, &now, taken);
    if (status == PB_OK && *taken)
        status = way <= PB_FIT_PROGRAM_ORDER
                     ? fits_in_program_order(f, &now, way == PB_FIT_STORE_ALL, f->request->cap, fits)
                     : fits_planned(f, &now, way == PB_FIT_ORDER, f->request->cap, fits);
    if (status != PB_OK || !*fits) {
        drop(&now);
        return status;
    }
    drop(&f->best);
    f->best = now;
    return PB_OK;
}

static pb_status search(finder *f, pb_fit_way way, uint64_t low)
{
    pb_fit_row *row = &f->fit.row[way];
    row->value = low;
    f->way = way;
    return pbi_fit_search(try_value, f, 1, &row->value, &row->bounded);
}

/* ---- running the answers ---- */

static void describe_best(const finder *f, pb_fit_row *row)
{
    row->overhead = f->best.overhead;
    row->forward_passes = f->best.forward_passes;
    row->strategy = f->best.strategy;
}

static pb_status run_best(finder *f, pb_fit_way way, pb_arena *result)
{
    pb_fit_row *row = &f->fit.row[way];
    if (f->best.value != row->value) /* the previous way has the same answer: its plan is as good */
        return PB_OK;
    describe_best(f, row);
    pb_run_options how = {.steps = 1, .max_bytes = f->request->cap, .packing = &f->best.packing};
    pb_status status = pb_run_plan(f->ctx, f->best.w, f->best.plan, &how, result, &row->measured);
    if (status != PB_OK)
        return status;
    if (row->measured.block > f->request->cap)
        return pbi_fail(f->ctx, PB_EBUG, "at %" PRIu64 " the run took %" PRIu64 " bytes, more than the cap", row->value,
                        row->measured.block);
    uint64_t again = row->measured.recompute_ns, all = row->measured.kernel_ns;
    row->measured_overhead = all > again ? (double)again / (double)(all - again) : 0;
    row->ran = true;
    return PB_OK;
}

/* After a stop: completes the rows. What fits in one way also fits in the following ones; an answer that was not run is
 * reported all the same. Whether the workload takes a larger value is not known. */
static void complete_rows(finder *f)
{
    for (int way = 0; way < PB_FIT_WAYS; way++) {
        pb_fit_row *row = &f->fit.row[way];
        if (way && row->value <= f->fit.row[way - 1].value)
            *row = f->fit.row[way - 1];
        else if (row->value && !row->ran && f->best.value == row->value)
            describe_best(f, row);
        row->bounded = true;
    }
}

static pb_status find_all(finder *f, pb_arena *result)
{
    pb_status status = PB_OK;
    for (int way = 0; way < PB_FIT_WAYS && status == PB_OK; way++) {
        uint64_t before = way ? f->fit.row[way - 1].value : 0;
        status = search(f, (pb_fit_way)way, before);
        pb_fit_row *row = &f->fit.row[way];
        if (status == PB_OK && row->value && row->value == before) {
            bool bounded = row->bounded;
            *row = f->fit.row[way - 1];
            row->bounded = bounded;
        } else if (status == PB_OK && row->value) {
            status = run_best(f, (pb_fit_way)way, result);
        }
        if (status == PB_OK && way == PB_FIT_STORE_ALL && row->value)
            status = measure_costs(f, f->best.w, row->value);
    }
    return status;
}

/* Nothing fits: the smallest cap that a value of 1 fits, by bisection between the cap and the peak in program order,
 * which is known to work. */
static pb_status find_least(finder *f)
{
    attempt one;
    bool taken, fits = false;
    uint64_t low = f->request->cap, high = 0;
    pb_status status = open_at(f, 1, &one, &taken);
    if (status == PB_OK)
        status = fits_in_program_order(f, &one, false, PB_UNLIMITED, &fits);
    if (status == PB_OK && fits)
        high = one.packing.size;
    for (int i = 0; i < MIN_LOOKS && status == PB_OK && high > low + 1; i++) {
        uint64_t middle = low + (high - low) / 2;
        fits = false;
        status = fits_planned(f, &one, false, middle, &fits);
        if (status == PB_OK && fits)
            high = middle;
        else
            low = middle;
    }
    drop(&one);
    f->fit.least_cap = high;
    return status;
}

/* The caller's options including the varied one, whose text is f->value. */
static pb_status take_options(finder *f)
{
    const pb_fit_request *r = f->request;
    const char *vary = r->vary ? r->vary : "batch";
    if (r->option_count >= MAX_OPTIONS)
        return pbi_fail(f->ctx, PB_EINVAL, "a workload takes fewer than %d options; leave some out", MAX_OPTIONS);
    f->varied = UINT32_MAX;
    for (uint32_t i = 0; i < r->option_count; i++) {
        f->options[i] = r->options[i];
        if (strcmp(r->options[i].key, vary) == 0)
            f->varied = i;
    }
    f->option_count = r->option_count;
    if (f->varied == UINT32_MAX)
        f->varied = f->option_count++;
    f->options[f->varied] = (pb_option){vary, f->value};
    return PB_OK;
}

pb_status pb_fit_find(pb_context *ctx, const pb_fit_request *request, pb_arena *result, pb_fit *out)
{
    finder f = {.ctx = ctx, .request = request};
    if (request->cap == PB_UNLIMITED)
        return pbi_fail(ctx, PB_EINVAL, "expected a cap; without one, every size fits");
    pb_status status = take_options(&f);
    if (status != PB_OK)
        return status;
    pb_arena_init(&f.costs_arena, ctx);
    status = find_all(&f, result);
    if (status == PB_OK && !f.fit.row[PB_FIT_PLAN].value)
        status = find_least(&f);
    f.fit.stopped = status == PB_ECANCELLED;
    if (f.fit.stopped) {
        complete_rows(&f);
        status = PB_OK;
    }
    drop(&f.best);
    pb_arena_release(&f.costs_arena);
    if (status == PB_OK)
        *out = f.fit;
    return status;
}
