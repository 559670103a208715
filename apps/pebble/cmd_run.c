/* cmd_run.c -- pebble run: runs a workload under a cap, and compares measured with predicted figures. */
#include "certify.h"
#include "commands.h"
#include "files.h"
#include "machine_print.h"
#include "plan_print.h"
#include "run_compare.h"
#include "run_print.h"
#include "run_smaller.h"
#include "settings.h"

#include <stdio.h>
#include <string.h>

enum { MIN_STEPS = 5, MAX_STEPS = 1000000, MAX_REPEATS = 10000, ENGINE_ALIGN = 64 };

typedef struct settings {
    pb_request request;
    uint64_t steps, repeat;
} settings;

static exit_code read_settings(app *a, run_report *r, settings *s)
{
    const char *path = app_option(a, OPT_OUTPUT);
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one workload, as in pebble run synthetic:steps=20 --cap 40%%");
    if (!app_option(a, OPT_CAP) && !app_option(a, OPT_PLAN))
        return missing_cap(a);
    if (path && strcmp(path, "-") == 0)
        return app_usage(a, "-o needs a file name: standard output is already used for the table");
    const char *game = app_option(a, OPT_GAME);
    if (game && strcmp(game, "timed") != 0)
        return app_usage(a, "--game %s: a run plays the remat game, with --slow the tiered one, or the timed one",
                         game);
    if (game && (app_option(a, OPT_COMPARE) || app_option(a, OPT_CHECK)))
        return app_usage(a, "--%s runs no timed plans; leave out --game timed",
                         app_option(a, OPT_CHECK) ? "check" : "compare");
    if (game && path)
        return app_usage(a,
                         "-o writes no timed plans; write one with pebble plan --game timed, and run it with --plan");
    if (app_option(a, OPT_PROFILE) && app_option(a, OPT_TIMED_BY) && !game)
        return app_usage(a, "--profile and --machine both give the costs; leave one out");
    if (app_option(a, OPT_PLAN) && path)
        return app_usage(a, "--plan runs an existing schedule, so there is nothing to write; leave out -o");
    if (app_option(a, OPT_SLOW_CAP) && !app_option(a, OPT_SLOW))
        return app_usage(a, "--slow-cap limits slow memory, but there is none; add --slow FOLDER");
    if (app_option(a, OPT_COMPARE) && (app_option(a, OPT_PLAN) || path || app_option(a, OPT_CHECK)))
        return app_usage(a, "--compare runs the plans of several strategies; leave out --plan, -o and --check");
    *s = (settings){.request = PB_REQUEST_DEFAULT};
    if (!workload_parse(a, a->opts.positional[0], &r->spec) || !setting_request(a, &s->request) ||
        !app_number(a, OPT_STEPS, MIN_STEPS, &s->steps) || !app_number(a, OPT_REPEAT, 0, &s->repeat) ||
        !clock_option(a))
        return EXIT_USAGE;
    if (s->steps < 1 || s->steps > MAX_STEPS)
        return app_usage(a, "--steps: expected a number from 1 to %d", MAX_STEPS);
    if (s->repeat > MAX_REPEATS)
        return app_usage(a, "--repeat: expected at most %d", MAX_REPEATS);
    return EXIT_DONE;
}

/* --profile: the same graph as the workload's, but for the costs. */
static exit_code read_profile(app *a, const char *path, const pb_graph *own, const pb_graph **out)
{
    char hash[2][PB_HASH_TEXT];
    exit_code code = read_graph(a, path, out);
    if (code != EXIT_DONE)
        return code;
    pb_status status = pb_graph_form_hash(&a->ctx, own, hash[0]);
    if (status == PB_OK)
        status = pb_graph_form_hash(&a->ctx, *out, hash[1]);
    if (status != PB_OK)
        return app_status(a, status);
    if (strcmp(hash[0], hash[1]) != 0)
        return app_fail(a, EXIT_INPUT,
                        "%s: this is the profile of another workload, or of other options; make one with pebble "
                        "profile and these options",
                        path);
    if (strcmp((*out)->cost_unit, "ns") != 0)
        return app_fail(a, EXIT_INPUT,
                        "%s: its costs are in %.40s, not in ns, so it is not a profile; make one with pebble profile",
                        path, (*out)->cost_unit);
    return EXIT_DONE;
}

/* --machine: by its models, else its rates. */
static exit_code take_machine(app *a, const pb_graph *own, const pb_graph **out)
{
    const pb_machine *m;
    const pb_graph *timed;
    pb_time_report report;
    exit_code code = machine_option(a, own, &m);
    if (code == EXIT_DONE && m->per_second != 1000000000)
        return app_usage(a, "--machine %s: its time unit is %s, but a run is measured in ns; use a file in ns",
                         app_option(a, OPT_TIMED_BY), m->time_unit);
    if (code == EXIT_DONE)
        code = time_graph(a, own, m, &timed, &report);
    if (code != EXIT_DONE)
        return code;
    if (report.outside)
        app_note(a,
                 "%u computation%s outside the range that machine %s was measured in; pebble profile --machine "
                 "lists them",
                 (unsigned)report.outside, report.outside == 1 ? " is" : "s are", m->name);
    return app_status(a, pb_graph_price(&a->ctx, timed, m, &a->arena, out));
}

static bool is_timed(const app *a) { return app_option(a, OPT_GAME) && strcmp(app_option(a, OPT_GAME), "timed") == 0; }

static exit_code find_costs(app *a, run_report *r, pb_workload *w, const settings *s)
{
    const char *path = app_option(a, OPT_PROFILE);
    if (path)
        return read_profile(a, path, pb_workload_graph(w), &r->game.graph);
    if (app_option(a, OPT_TIMED_BY) && !is_timed(a))
        return take_machine(a, pb_workload_graph(w), &r->game.graph);
    measuring(a, true);
    pb_status status = pb_profile_workload(&a->ctx, w, (uint32_t)s->repeat, &a->arena, &r->profiled);
    measuring(a, false);
    r->game.graph = r->profiled.graph;
    if (status == PB_OK && progress_interrupted())
        return app_fail(a, EXIT_INTERRUPTED, "interrupted before there was a result");
    return app_status(a, status);
}

/* The figures of a file that do not depend on costs. */
#define WITHOUT_COSTS \
    (PB_STATED_PEAK | PB_STATED_RECOMPUTE_COUNT | PB_STATED_MOVES | PB_STATED_DEPTH | PB_STATED_BORROWED)

/* --plan: a schedule from a file, checked as `pebble verify` does. With --any-graph it may have been made for
 * other costs: then only those of its figures are compared that do not depend on costs. */
static exit_code take_plan(app *a, run_report *r, const char *path)
{
    certified *c = pb_arena_zero(&a->arena, 1, sizeof *c); /* the certificate borrows game and moves */
    if (!c)
        return app_status(a, PB_ENOMEM);
    pb_schedule *s = &c->schedule;
    c->graph = r->game.graph;
    exit_code code = read_schedule(a, path, c->graph, s);
    if (code != EXIT_DONE)
        return code;
    if (s->game == PB_GAME_TIERED && !app_option(a, OPT_SLOW))
        return app_usage(a, "%s: the schedule uses slow memory; add --slow FOLDER", path);
    if (!setting_size(a, OPT_CAP, c->graph, &s->cap))
        return EXIT_USAGE;
    if (app_option(a, OPT_ANY_GRAPH) && s->has_metrics) {
        s->metrics_stated = (s->metrics_stated ? s->metrics_stated : UINT32_MAX) & WITHOUT_COSTS;
        s->has_metrics = s->metrics_stated != 0;
    }
    code = certify_schedule(a, c);
    if (code == EXIT_ILLEGAL)
        return app_fail(a, code, "%s: %s%s", path, c->judged.message,
                        c->judged.failure == PB_FAILURE_GRAPH && !app_option(a, OPT_PROFILE)
                            ? "; give the costs that it was planned with by --profile FILE"
                            : "");
    if (code != EXIT_DONE)
        return code;
    if (s->addresses.align == ENGINE_ALIGN) /* the engine needs this alignment */
        r->packing = (pb_packing){
            .offset = (uint64_t *)s->addresses.offset, .size = s->addresses.size, .minimal = s->addresses.minimal};
    r->game = c->judged.game;
    r->planned.schedule = *s;
    r->planned.schedule.metrics = c->judged.metrics;
    r->planned.schedule.metrics.gap = -1; /* its bound, and a proof of optimality, may be for other costs */
    r->planned.schedule.outcome = PB_FOUND;
    r->planned.game = &c->judged.game;
    r->planned.certificate = c->judged.verdict.certificate;
    return EXIT_DONE;
}

/* --game timed: copies take what the links of --machine take, else what is measured at --slow. */
static exit_code make_timed(app *a, run_report *r)
{
    const char *name = app_option(a, OPT_TIMED_BY), *path = app_option(a, OPT_SLOW);
    const pb_machine *m;
    pb_status status;
    if (!name && !path)
        return app_usage(a, "--game timed needs links to another memory: those of --machine FILE, or --slow FOLDER, "
                            "whose rates are measured");
    progress_planning(&a->progress, true);
    status = name ? pb_machine_find(&a->ctx, name, false, &a->arena, &m) : pb_run_links(&a->ctx, path, &a->arena, &m);
    progress_planning(&a->progress, false);
    if (status != PB_OK)
        return app_status(a, status);
    if (m->per_second != 1000000000)
        return app_usage(a, "--machine %s: its time unit is %s, but a run is measured in ns; use a file in ns", name,
                         m->time_unit);
    return app_status(a, pb_run_timed_game(&a->ctx, m, &a->arena, &r->game));
}

/* --slow: the tiered game, with measured transfer costs. */
static exit_code find_tier(app *a, run_report *r)
{
    const char *path = app_option(a, OPT_SLOW);
    pb_tier *tier = &r->game.tiers[0];
    if (!path)
        return EXIT_DONE;
    progress_planning(&a->progress, true);
    pb_status status = pb_slow_measure(&a->ctx, path, 0, tier);
    progress_planning(&a->progress, false);
    if (status != PB_OK)
        return app_status(a, status);
    r->game.kind = PB_GAME_TIERED;
    r->game.tier_count = 1;
    return setting_size(a, OPT_SLOW_CAP, r->game.graph, &tier->cap) ? EXIT_DONE : EXIT_USAGE;
}

static exit_code take_game(app *a, run_report *r)
{
    if (!setting_size(a, OPT_CAP, r->game.graph, &r->game.cap) || !setting_weights(a, r->game.graph, &r->game.weights))
        return EXIT_USAGE;
    return is_timed(a) ? make_timed(a, r) : find_tier(a, r);
}

static exit_code make_plan(app *a, run_report *r, settings *s)
{
    exit_code code = take_game(a, r);
    if (code != EXIT_DONE)
        return code;
    planning_time(a, true);
    s->request.time_ns = progress_left_ns(&a->progress);
    if (s->request.time_ns)
        s->request.bound_effort = pb_bounds_effort_in(1e-9 * (double)s->request.time_ns);
    progress_planning(&a->progress, true);
    double begin = seconds_now();
    pb_status status = pb_run_plan_make(&a->ctx, &r->game, &s->request, &a->arena, &r->planned, &r->packing);
    if (status == PB_OK && !r->planned.certificate)
        status = pb_run_least(&a->ctx, &r->game, r->planned.schedule.outcome == PB_INFEASIBLE, &s->request, &a->arena,
                              &r->planned.least);
    r->planning_seconds = seconds_now() - begin;
    progress_planning(&a->progress, false);
    planning_time(a, false);
    if (status != PB_OK)
        return app_status(a, status);
    if (progress_interrupted())
        return app_fail(a, EXIT_INTERRUPTED, "interrupted before there was a result");
    if (r->planned.certificate) {
        const char *path = app_option(a, OPT_OUTPUT);
        return path ? write_schedule(a, &r->planned.schedule, path) : EXIT_DONE;
    }
    if (app_option(a, OPT_JSON))
        run_print_json(r);
    else
        run_print_missing(a, r);
    return r->planned.schedule.outcome == PB_INFEASIBLE ? EXIT_INFEASIBLE : EXIT_NOTHING;
}

static void watch_memory(void *state, uint64_t step)
{
    run_report *r = state;
    uint64_t now = r->resident_max ? resident_max() : resident_bytes(false);
    (void)step;
    if (now > r->resident_before && now - r->resident_before > r->resident_growth)
        r->resident_growth = now - r->resident_before;
}

/* By default about half a second of steps, so that one slow moment does not spoil the measurement of short steps. */
static uint64_t steps_to_run(app *a, const run_report *r, const settings *s)
{
    return app_option(a, OPT_STEPS) ? s->steps : run_default_steps(r->planned.schedule.metrics.makespan);
}

/* --check */
static exit_code check_kernels(app *a, run_report *r, pb_workload *w)
{
    if (!app_option(a, OPT_CHECK) || progress_interrupted())
        return EXIT_DONE;
    pb_run_options how = {.steps = 1, .slow_path = app_option(a, OPT_SLOW)};
    pb_status status = pb_run_check(&a->ctx, w, r->planned.certificate, &how, &a->arena, &r->checked);
    r->was_checked = status == PB_OK;
    return app_status(a, status);
}

static exit_code run_both(app *a, run_report *r, pb_workload *w, const settings *s)
{
    uint64_t steps = steps_to_run(a, r, s);
    pb_run_options how = {.steps = steps, .after = watch_memory, .after_state = r};
    const pb_certificate *all;
    pb_status status;
    how.slow_path = app_option(a, OPT_SLOW);
    how.replan = &s->request;
    how.packing = r->packing.offset ? &r->packing : NULL;
    how.throttle = r->game.kind == PB_GAME_TIMED && (app_option(a, OPT_TIMED_BY) || app_option(a, OPT_PLAN));
    if (r->game.kind == PB_GAME_TIMED)
        how.replan = NULL;
    how.max_bytes = r->game.cap == PB_UNLIMITED ? 0 : r->game.cap;
    r->resident_before = resident_bytes(true);
    r->resident_max = resident_max_begin();
    measuring(a, true);
    status = pb_run_plan(&a->ctx, w, r->planned.certificate, &how, &a->arena, &r->measured);
    if (status == PB_OK && !app_option(a, OPT_NO_REFERENCE) && a->ctx.stopped == PB_GO_ON) {
        how = (pb_run_options){.steps = steps};
        status = pb_run_program_order(&a->ctx, r->game.graph, true, &a->arena, &all);
        if (status == PB_OK)
            status = pb_run_plan(&a->ctx, w, all, &how, &a->arena, &r->reference);
        if (status == PB_ECANCELLED) /* the measured figures are still shown */
            status = PB_OK;
    }
    measuring(a, false);
    if (status == PB_OK && check_kernels(a, r, w) != EXIT_DONE)
        return EXIT_FAILED;
    r->differs = r->reference.steps ? pb_run_differs(&r->measured, &r->reference) : UINT64_MAX;
    return app_status(a, status);
}

/* What a recipe recovers may differ by rounding; the workload compares it with a tolerance of its own. */
static bool has_recoveries(const run_report *r)
{
    const pb_moves *moves = pb_certificate_moves(r->planned.certificate);
    for (pb_step k = 0; k < moves->count; k++)
        if (moves->move[k].by)
            return true;
    return false;
}

/* Reports a run that does not match its plan. */
static exit_code judge(app *a, const run_report *r)
{
    uint64_t planned = pb_certificate_totals(r->planned.certificate)->peak;
    bool more = r->measured.replanned || r->measured.more_bytes;
    if (r->measured.peak != planned && !(more && r->measured.peak <= r->game.cap))
        return app_fail(
            a, EXIT_ILLEGAL,
            "the plan's peak is %llu bytes, but the run's was %llu; this is a bug in pebble: please report it",
            (unsigned long long)planned, (unsigned long long)r->measured.peak);
    if (r->checked.differs_count)
        return app_fail(a, EXIT_ILLEGAL,
                        "%u kernel%s not deterministic, so recomputing changes the results; make them so, or mark "
                        "their nodes `once`",
                        (unsigned)r->checked.differs_count, r->checked.differs_count == 1 ? " is" : "s are");
    if (r->differs != UINT64_MAX && !has_recoveries(r))
        return app_fail(
            a, EXIT_ILLEGAL,
            "after step %llu the results differ from those of the run that keeps everything: either a kernel is "
            "not deterministic, or this is a bug in pebble: please report it",
            (unsigned long long)r->differs);
    return EXIT_DONE;
}

static exit_code run_workload(app *a, run_report *r, pb_workload *w, settings *s)
{
    const char *plan = app_option(a, OPT_PLAN);
    exit_code code = find_costs(a, r, w, s);
    if (code == EXIT_DONE && app_option(a, OPT_COMPARE)) {
        code = take_game(a, r);
        return code == EXIT_DONE ? run_compare(a, r, w, &s->request, app_option(a, OPT_STEPS) ? s->steps : 0) : code;
    }
    if (code == EXIT_DONE)
        code = plan ? take_plan(a, r, plan) : make_plan(a, r, s);
    if (code == EXIT_DONE)
        code = run_both(a, r, w, s);
    if (code != EXIT_DONE)
        return code;
    note_policy(a, &r->planned.schedule);
    if (app_option(a, OPT_JSON))
        run_print_json(r);
    else if (!run_print_text(a, r))
        return app_status(a, PB_ENOMEM);
    code = judge(a, r);
    if (code == EXIT_DONE && progress_interrupted()) {
        app_note(a, "interrupted: these are the figures of %llu step%s", (unsigned long long)r->measured.steps,
                 r->measured.steps == 1 ? "" : "s");
        return EXIT_INTERRUPTED;
    }
    return code;
}

exit_code cmd_run(app *a)
{
    run_report r = {.game = {.kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT}};
    settings s;
    pb_workload *w = NULL;
    exit_code code = read_settings(a, &r, &s);
    if (code == EXIT_DONE)
        code = workload_open(a, &r.spec, &w);
    a->progress.deadline = 0; /* --time is for planning */
    if (code == EXIT_DONE) {
        code = run_workload(a, &r, w, &s);
        if (code == EXIT_DONE || code == EXIT_NOTHING || code == EXIT_INFEASIBLE)
            suggest_smaller(a, &r, w);
    }
    pb_workload_close(w);
    return code;
}
