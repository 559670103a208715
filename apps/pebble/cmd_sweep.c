/* cmd_sweep.c -- pebble sweep: caps x strategies x weights, and where the best strategy changes. */
#include "commands.h"
#include "common/output.h"
#include "files.h"
#include "pictures.h"
#include "settings.h"
#include "sweep_files.h"
#include "sweep_store.h"
#include "sweep_text.h"

#include <stdio.h>
#include <string.h>

enum { DEFAULT_POINTS = 20 };

typedef struct study {
    pb_game base;
    pb_sweep_request request;
    uint64_t points;
} study;

/* In the units of this graph. */
static bool take_weights(app *a, study *t)
{
    pb_settings s = settings_of(a);
    pb_weights *list = NULL;
    pb_status status = pb_settings_weights(&a->ctx, &s, t->base.graph, &a->arena, &list, &t->request.weights_count);
    t->request.weights = list;
    return setting_done(a, &s, status);
}

static exit_code take_settings(app *a, study *t, const pb_graph *g)
{
    t->base = PB_GAME_DEFAULT(g);
    exit_code code = setting_game(a, &t->base);
    t->request.game = app_option(a, OPT_GAME) ? (unsigned)t->base.kind : 0;
    return code == EXIT_DONE && !take_weights(a, t) ? EXIT_USAGE : code;
}

static exit_code take_caps(app *a, study *t)
{
    progress_planning(&a->progress, true);
    pb_status status =
        pb_sweep_choose_caps(&a->ctx, &t->base, app_option(a, OPT_CAPS), (uint32_t)t->points, &a->arena, &t->request);
    progress_planning(&a->progress, false);
    if (status == PB_EINVAL)
        return app_usage(a, t->base.kind == PB_GAME_TIMED ? "%s" : "--caps: %s", a->ctx.error.message);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}

/* The share of the time that is left which one of `graphs` graphs may use. */
static uint64_t time_share(const app *a, int graphs)
{
    double left = a->progress.deadline - seconds_now();
    if (a->progress.deadline <= 0)
        return 0;
    return left > 0 ? (uint64_t)(1e9 * left / graphs) + 1 : 1;
}

/* Sweeps one graph into *out. */
static exit_code sweep_graph(app *a, study *t, int index, pb_sweep *out)
{
    const pb_graph *g;
    exit_code code = read_graph(a, a->opts.positional[index], &g);
    if (code == EXIT_DONE)
        code = take_settings(a, t, g);
    t->request.time_ns = time_share(a, a->opts.positional_count - index);
    if (code == EXIT_DONE)
        code = take_caps(a, t);
    if (code != EXIT_DONE)
        return code;
    t->request.plan.prove = true;
    t->request.time_ns = time_share(a, a->opts.positional_count - index);
    progress_planning(&a->progress, true);
    pb_status status = pb_sweep_make(&a->ctx, &t->base, &t->request, &a->arena, out);
    progress_planning(&a->progress, false);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}

/* ---- the command ---- */

static exit_code sweep_all(app *a, study *t, pb_sweep *sweeps, const pb_sweep **list)
{
    exit_code code = EXIT_DONE, worst = EXIT_DONE;
    uint32_t count = 0;
    for (int i = 0; i < a->opts.positional_count && code == EXIT_DONE && !progress_interrupted(); i++) {
        code = sweep_graph(a, t, i, &sweeps[i]);
        if (code != EXIT_DONE)
            break;
        list[count++] = &sweeps[i];
        worst = sweep_judge(&sweeps[i]) != EXIT_DONE ? sweep_judge(&sweeps[i]) : worst;
        if (i && sweep_shows_text(a))
            putchar('\n');
        pb_status status = sweep_shows_text(a) ? print_sweep(a, &sweeps[i]) : PB_OK;
        output_flush(); /* the next one may take long */
        if (status != PB_OK)
            return app_status(a, status);
    }
    exit_code written = count || code == EXIT_DONE ? sweep_write_files(a, list, count) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = written;
    if (progress_interrupted() && (code == EXIT_DONE || code == EXIT_INTERRUPTED)) {
        if (count)
            app_note(a, "interrupted: these are the results so far");
        return EXIT_INTERRUPTED;
    }
    return code == EXIT_DONE ? worst : code;
}

exit_code cmd_sweep(app *a)
{
    const char *csv = app_option(a, OPT_CSV);
    if (sweep_of_store(a) && a->opts.positional_count < 1)
        return sweep_store_jobs(a);
    if (a->opts.positional_count < 1)
        return app_usage(a, "expected one or more graph files, as in pebble sweep g.json");
    if (app_option(a, OPT_JSON) && csv && strcmp(csv, "-") == 0)
        return app_usage(a, "--json and --csv - both write to standard output; give --csv a file name");
    if (app_option(a, OPT_STRATEGIES) && app_option(a, OPT_STRATEGY))
        return app_usage(a, "--strategies and --strategy are the same option; leave one out");
    exit_code possible = sweep_store_check(a);
    if (possible == EXIT_DONE)
        possible = pictures_check(a);
    if (possible != EXIT_DONE)
        return possible;
    study *t = pb_arena_zero(&a->arena, 1, sizeof *t);
    pb_sweep *sweeps = pb_arena_zero(&a->arena, MAX_POSITIONALS, sizeof *sweeps);
    const pb_sweep **list = pb_arena_zero(&a->arena, MAX_POSITIONALS, sizeof *list);
    if (!t || !sweeps || !list)
        return app_status(a, PB_ENOMEM);
    t->request.plan = PB_REQUEST_DEFAULT;
    if (!setting_request(a, &t->request.plan) || !app_number(a, OPT_POINTS, DEFAULT_POINTS, &t->points))
        return EXIT_USAGE;
    if (t->points < 1 || t->points > PB_SWEEP_MAX_CAPS)
        return app_usage(a, "--points: expected a number from 1 to %d", PB_SWEEP_MAX_CAPS);
    exit_code code = setting_strategies(a, t->request.plan.strategy, "auto", &t->request.strategies);
    t->request.plan.strategy = NULL;
    if (code != EXIT_DONE)
        return code;
    if (sweep_of_store(a))
        return sweep_store_run(a, t->request.strategies, sweeps, list);
    return sweep_all(a, t, sweeps, list);
}
