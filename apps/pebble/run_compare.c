/* run_compare.c -- see run_compare.h. The weighted cost of a run: the formula of the plan's, with measured figures. */
#include "run_compare.h"

#include "common/json_print.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 32, SPEC_ROOM = 512, MIN_STEPS = 5, DEFAULT_STEPS = 50, HALF_A_SECOND = 500000000 };

typedef struct row {
    const char *spec;
    pb_plan_result planned;
    pb_packing packing;
    pb_run_figures measured; /* steps 0: there is no plan */
    double predicted_cost, measured_cost;
    double seconds; /* of planning */
} row;

typedef struct contest {
    app *a;
    run_report *r;
    row rows[MAX_ROWS];
    uint32_t count;
    const row *sorted[MAX_ROWS];
} contest;

uint64_t run_default_steps(uint64_t step_ns)
{
    uint64_t steps = step_ns ? HALF_A_SECOND / step_ns : DEFAULT_STEPS;
    return steps < MIN_STEPS ? MIN_STEPS : steps > DEFAULT_STEPS ? DEFAULT_STEPS : steps;
}

/* ---- what is compared ---- */

/* The length of the first strategy of a list: "every-k:k=3,b=2,dtr" begins with one that has two options. */
static size_t first_spec(const char *list)
{
    size_t length = strcspn(list, ",");
    while (list[length]) {
        const char *next = list + length + 1;
        size_t name = strcspn(next, ",:=");
        if (next[name] != '=')
            break;
        length += 1 + strcspn(next, ",");
    }
    return length;
}

static exit_code add_row(contest *c, const char *spec, size_t length)
{
    if (c->count == MAX_ROWS)
        return app_usage(c->a, "--strategy: more than %d strategies; leave some out", MAX_ROWS);
    c->rows[c->count].spec = pb_arena_text(&c->a->arena, spec, length);
    if (!c->rows[c->count].spec)
        return app_status(c->a, PB_ENOMEM);
    pb_status status = pb_spec_check(&c->a->ctx, c->rows[c->count].spec);
    c->count += status == PB_OK;
    return status == PB_OK ? EXIT_DONE : app_usage(c->a, "--strategy: %s", c->a->ctx.error.message);
}

/* Without --strategy: what every comparison shows, and the best that is found. */
static exit_code take_rows(contest *c, const char *list)
{
    exit_code code = EXIT_DONE;
    for (const char *at = list; at && *at && code == EXIT_DONE;) {
        size_t length = first_spec(at);
        code = add_row(c, at, length);
        at += length + (at[length] == ',');
    }
    if (list)
        return code;
    uint32_t count;
    const pb_strategy *known = pb_strategies(&count);
    for (uint32_t i = 0; i < count && code == EXIT_DONE; i++)
        if ((known[i].traits & PB_TRAIT_COMPARED) && (known[i].games & (unsigned)c->r->game.kind))
            code = add_row(c, known[i].name, strlen(known[i].name));
    return code == EXIT_DONE ? add_row(c, "auto", strlen("auto")) : code;
}

/* ---- plan and run ---- */

static double weighted(const pb_weights *w, double peak, double flux, double extra)
{
    double scale = 1;
    for (uint32_t k = 0; k < w->digits; k++)
        scale *= 10;
    return ((double)w->alpha * peak + (double)w->beta * flux + (double)w->gamma * extra) / scale;
}

static pb_status plan_row(contest *c, row *x, const pb_request *request)
{
    app *a = c->a;
    pb_request own = *request;
    own.strategy = x->spec;
    planning_time(a, true);
    own.time_ns = progress_left_ns(&a->progress);
    if (own.time_ns)
        own.bound_effort = pb_bounds_effort_in(1e-9 * (double)own.time_ns);
    progress_planning(&a->progress, true);
    double begin = seconds_now();
    pb_status status = pb_run_plan_make(&a->ctx, &c->r->game, &own, &a->arena, &x->planned, &x->packing);
    x->seconds = seconds_now() - begin;
    progress_planning(&a->progress, false);
    planning_time(a, false);
    return status;
}

static pb_status run_row(contest *c, row *x, pb_workload *w, uint64_t steps)
{
    const pb_metrics *m = &x->planned.schedule.metrics;
    const pb_weights *weights = &c->r->game.weights;
    pb_run_options how = {.steps = steps ? steps : run_default_steps(m->makespan),
                          .slow_path = app_option(c->a, OPT_SLOW),
                          .max_bytes = c->r->game.cap == PB_UNLIMITED ? 0 : c->r->game.cap,
                          .packing = x->packing.offset ? &x->packing : NULL};
    measuring(c->a, true);
    pb_status status = pb_run_plan(&c->a->ctx, w, x->planned.certificate, &how, &c->a->arena, &x->measured);
    measuring(c->a, false);
    if (status != PB_OK)
        return status;
    x->predicted_cost =
        weighted(weights, (double)m->peak, pb_u128_double(m->flux), (double)m->recompute + (double)m->io);
    x->measured_cost = weighted(weights, (double)x->measured.peak, x->measured.flux,
                                (double)x->measured.recompute_ns + (double)x->measured.io_busy_ns);
    return PB_OK;
}

/* The cheapest by its measured cost first; without a plan last. */
static int by_cost(const void *a, const void *b)
{
    const row *x = *(const row *const *)a, *y = *(const row *const *)b;
    if (!x->measured.steps != !y->measured.steps)
        return x->measured.steps ? -1 : 1;
    if (x->measured_cost != y->measured_cost)
        return x->measured_cost < y->measured_cost ? -1 : 1;
    if (x->measured.time.median != y->measured.time.median)
        return x->measured.time.median < y->measured.time.median ? -1 : 1;
    return x < y ? -1 : x > y;
}

static pb_status run_rows(contest *c, pb_workload *w, const pb_request *request, uint64_t steps)
{
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < c->count && status == PB_OK && !progress_interrupted(); i++) {
        status = plan_row(c, &c->rows[i], request);
        if (status == PB_OK && c->rows[i].planned.certificate && !progress_interrupted())
            status = run_row(c, &c->rows[i], w, steps);
        if (status == PB_ECANCELLED) /* the other rows are still shown */
            status = PB_OK;
    }
    for (uint32_t i = 0; i < c->count; i++)
        c->sorted[i] = &c->rows[i];
    qsort(c->sorted, c->count, sizeof(const row *), by_cost);
    return status;
}

/* ---- the table ---- */

static const char *reason_of(const row *x, char text[SPEC_ROOM])
{
    if (!x->planned.game)
        return "did not run";
    pb_result_reason(&x->planned, x->planned.game, text, SPEC_ROOM);
    return text;
}

static bool add_line(table *t, const row *x)
{
    const pb_metrics *m = &x->planned.schedule.metrics;
    char text[6][FIGURE_ROOM], error[FIGURE_ROOM], strategy[FIGURE_ROOM], reason[SPEC_ROOM];
    if (!x->measured.steps) {
        const char *none[] = {x->spec, reason_of(x, reason), NULL, NULL, NULL, NULL, NULL, NULL};
        return table_row(t, none, NULL);
    }
    strategy_text(&x->planned.schedule, strategy);
    if (strcmp(x->spec, "auto") == 0) {
        snprintf(text[0], FIGURE_ROOM, "auto: %.100s", strategy);
        snprintf(strategy, sizeof strategy, "%s", text[0]);
    }
    pb_quantity_text(m->peak, "byte", text[0], FIGURE_ROOM);
    pb_quantity_text(x->measured.peak, "byte", text[1], FIGURE_ROOM);
    duration_text(m->makespan, text[2]);
    duration_text(x->measured.time.median, text[3]);
    change_text((double)m->makespan, (double)x->measured.time.median, error);
    duration_text((uint64_t)(x->predicted_cost + 0.5), text[4]);
    duration_text((uint64_t)(x->measured_cost + 0.5), text[5]);
    const char *cells[] = {strategy, text[0], text[1], text[2], text[3], error, text[4], text[5]};
    return table_row(t, cells, NULL);
}

static pb_status print_table(contest *c)
{
    static const table_column columns[] = {{"strategy", false, 0}, {"peak", true, 0},     {"measured", true, 0},
                                           {"time", true, 0},      {"measured", true, 0}, {"", true, 1},
                                           {"cost", true, 0},      {"measured", true, 0}};
    app *a = c->a;
    char cap[FIGURE_ROOM], text[FIGURE_ROOM + 600];
    table t;
    pb_quantity_text(c->r->game.cap, "byte", cap, sizeof cap);
    const char *weights = app_option(a, OPT_WEIGHTS);
    snprintf(text, sizeof text, "%.400s under a cap of %s; cost: the weights are %.100s", c->r->spec.text,
             c->r->game.cap == PB_UNLIMITED ? "none" : cap,
             weights ? weights : "0,0,1, so it is the time of recomputation and transfers");
    print_wrapped(stdout, text, 0, 2, a->width);
    putchar('\n');
    table_init(&t, &a->arena, columns, sizeof columns / sizeof *columns);
    t.color = a->color;
    t.width = a->width;
    for (uint32_t i = 0; i < c->count; i++)
        if (!add_line(&t, c->sorted[i]))
            return PB_ENOMEM;
    table_print(&t, stdout);
    return PB_OK;
}

static void number(const char *key, uint64_t value, const char *after)
{
    printf("\"%s\":", key);
    json_u64(stdout, value);
    fputs(after, stdout);
}

static void json_figures(const row *x)
{
    const pb_metrics *m = &x->planned.schedule.metrics;
    fputs(",\"predicted\":{", stdout);
    number("peak", m->peak, ",");
    number("time_ns", m->makespan, ",");
    number("recompute_ns", m->recompute, ",\"cost\":");
    json_double(stdout, x->predicted_cost);
    fputs("},\"measured\":{", stdout);
    number("steps", x->measured.steps, ",");
    number("peak", x->measured.peak, ",");
    number("block", x->measured.block, ",");
    number("time_ns", x->measured.time.median, ",");
    number("recompute_ns", x->measured.recompute_ns, ",\"cost\":");
    json_double(stdout, x->measured_cost);
    fputs(",\"digest\":", stdout);
    json_text(stdout, x->measured.digest[x->measured.steps - 1]);
    putchar('}');
}

static void print_json(const contest *c, bool equal)
{
    char reason[SPEC_ROOM];
    fputs("{\"workload\":", stdout);
    json_text(stdout, c->r->spec.name);
    fputs(",\"options\":", stdout);
    workload_print_options(&c->r->spec);
    fputs(",\"cap\":", stdout);
    json_cap(stdout, c->r->game.cap);
    printf(",\"results_equal\":%s,\"strategies\":[", equal ? "true" : "false");
    for (uint32_t i = 0; i < c->count; i++) {
        const row *x = c->sorted[i];
        fputs(i ? ",\n{\"asked\":" : "\n{\"asked\":", stdout);
        json_text(stdout, x->spec);
        fputs(",\"strategy\":", stdout);
        json_text(stdout, x->measured.steps ? x->planned.schedule.strategy : x->spec);
        fputs(",\"outcome\":", stdout);
        json_text(stdout, pb_outcome_name(x->planned.schedule.outcome));
        fputs(",\"seconds\":", stdout);
        json_double(stdout, x->seconds);
        if (x->measured.steps) {
            json_figures(x);
        } else {
            fputs(",\"reason\":", stdout);
            json_text(stdout, reason_of(x, reason));
            fputs(",\"predicted\":null,\"measured\":null", stdout);
        }
        putchar('}');
    }
    puts("]}");
}

/* ---- the verdict ---- */

/* All runs start from the same data: step by step their results are the same. Recipes may round in another way. */
static bool results_agree(const contest *c)
{
    const row *first = NULL;
    for (uint32_t i = 0; i < c->count; i++) {
        const row *x = &c->rows[i];
        if (!x->measured.steps || x->planned.game->graph->recipe_start)
            continue;
        if (first && pb_run_differs(&first->measured, &x->measured) != UINT64_MAX)
            return false;
        first = first ? first : x;
    }
    return true;
}

static exit_code judge(contest *c, bool equal)
{
    bool any = false, proved = true;
    for (uint32_t i = 0; i < c->count; i++) {
        const row *x = &c->rows[i];
        any = any || x->measured.steps;
        proved = proved && x->planned.schedule.outcome == PB_INFEASIBLE;
        if (x->measured.steps && x->measured.peak != x->planned.schedule.metrics.peak)
            return app_fail(c->a, EXIT_ILLEGAL,
                            "the plan of %s has a peak of %llu bytes, but the run's was %llu; a kernel needs more than "
                            "it declares, or this is a bug in pebble: please report it",
                            x->spec, (unsigned long long)x->planned.schedule.metrics.peak,
                            (unsigned long long)x->measured.peak);
    }
    if (!equal)
        return app_fail(
            c->a, EXIT_ILLEGAL,
            "the results of these runs differ: a kernel is not deterministic (pebble run --check names it), "
            "or this is a bug in pebble: please report it");
    if (progress_interrupted()) {
        app_note(c->a, "interrupted: the other strategies did not run");
        return EXIT_INTERRUPTED;
    }
    return any ? EXIT_DONE : proved && c->count ? EXIT_INFEASIBLE : EXIT_NOTHING;
}

exit_code run_compare(app *a, run_report *r, pb_workload *w, const pb_request *request, uint64_t steps)
{
    contest *c = pb_arena_zero(&a->arena, 1, sizeof *c);
    if (!c)
        return app_status(a, PB_ENOMEM);
    c->a = a;
    c->r = r;
    exit_code code = take_rows(c, request->strategy);
    if (code != EXIT_DONE)
        return code;
    pb_status status = run_rows(c, w, request, steps);
    if (status != PB_OK)
        return app_status(a, status);
    bool equal = results_agree(c);
    if (app_option(a, OPT_JSON))
        print_json(c, equal);
    else
        status = print_table(c);
    return status == PB_OK ? judge(c, equal) : app_status(a, status);
}
