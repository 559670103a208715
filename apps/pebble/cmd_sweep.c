/* cmd_sweep.c -- pebble sweep: caps x strategies x weights, and where the best strategy changes. */
#define _XOPEN_SOURCE 700
#include "commands.h"
#include "common/output.h"
#include "files.h"
#include "pictures.h"
#include "settings.h"
#include "sweep_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 1024, DEFAULT_POINTS = 20 };

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

/* ---- files ---- */

static exit_code write_csv(app *a, const pb_sweep *const *sweeps, uint32_t count)
{
    const char *path = app_option(a, OPT_CSV);
    file_out out;
    pb_status status = PB_OK;
    if (!path)
        return EXIT_DONE;
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    for (uint32_t i = 0; i < count && status == PB_OK; i++)
        status = pb_sweep_csv_write(&a->ctx, sweeps[i], i == 0, file_sink(&out));
    return file_finish(a, &out, status);
}

/* Letters, digits and a few signs of a name, others as _. */
static void plain_name(const char *name, char *text, size_t room)
{
    size_t used = 0;
    for (; *name && used + 1 < room; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     (*name >= '0' && *name <= '9') || *name == '-' || *name == '.' || *name == '_';
        text[used++] = plain ? *name : '_';
    }
    text[used] = '\0';
}

/* FOLDER/GRAPH-STRATEGY[-WEIGHTS]-CAP.json */
static exit_code write_plan(app *a, const char *folder, int index, const pb_sweep *s, uint32_t cell)
{
    char path[PATH_ROOM], graph[100], line[100], weights[24] = "";
    uint32_t w = pb_sweep_weights_of(s, cell);
    file_out out;
    plain_name(s->graph->name[0] ? s->graph->name : "graph", graph, sizeof graph);
    plain_name(s->lines[pb_sweep_line_of(s, cell)].spec, line, sizeof line);
    if (s->weights_count > 1)
        snprintf(weights, sizeof weights, "-w%u", (unsigned)w + 1);
    if (a->opts.positional_count > 1) /* graphs may have the same name */
        snprintf(graph + strlen(graph), sizeof graph - strlen(graph), "-%d", index + 1);
    snprintf(path, sizeof path, "%.700s/%s-%s%s-%llu.json", folder, graph, line, weights,
             (unsigned long long)s->caps[pb_sweep_cap_of(s, cell)]);
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    return file_finish(a, &out, pb_schedule_write(&a->ctx, &s->cells[cell].schedule, PB_FORMAT_JSON, file_sink(&out)));
}

static exit_code write_plans(app *a, int index, const pb_sweep *s)
{
    const char *folder = app_option(a, OPT_PLANS);
    exit_code code = EXIT_DONE;
    if (!folder)
        return EXIT_DONE;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return app_fail(a, EXIT_FAILED, "%s: cannot be created: %s; check the path and its permissions", folder,
                        strerror(errno));
    for (uint32_t i = 0; i < s->cell_count && code == EXIT_DONE; i++)
        if (s->cells[i].certificate)
            code = write_plan(a, folder, index, s, i);
    return code;
}

/* ---- the command ---- */

/* The exit code of a sweep: done if any cap has a plan; infeasible if it is proved that none has. */
static exit_code judge(const pb_sweep *s)
{
    exit_code code = EXIT_INFEASIBLE;
    for (uint32_t i = 0; i < s->cell_count; i++) {
        if (s->cells[i].certificate)
            return EXIT_DONE;
        if (!s->cells[i].present || s->cells[i].schedule.outcome != PB_INFEASIBLE)
            code = EXIT_NOTHING;
    }
    return code;
}

static bool shows_text(const app *a)
{
    const char *csv = app_option(a, OPT_CSV);
    return !app_option(a, OPT_JSON) && !(csv && strcmp(csv, "-") == 0);
}

static exit_code write_files(app *a, const pb_sweep *const *sweeps, uint32_t count)
{
    exit_code code = write_csv(a, sweeps, count);
    if (code == EXIT_DONE)
        code = sweep_pictures(a, sweeps, count);
    for (uint32_t i = 0; i < count && code == EXIT_DONE; i++)
        code = write_plans(a, (int)i, sweeps[i]);
    if (code != EXIT_DONE || !app_option(a, OPT_JSON))
        return code;
    pb_status status = pb_sweep_json_write(&a->ctx, sweeps, count, stream_sink(stdout));
    return status == PB_OK || status == PB_EIO ? EXIT_DONE : app_status(a, status);
}

static exit_code sweep_all(app *a, study *t, pb_sweep *sweeps, const pb_sweep **list)
{
    exit_code code = EXIT_DONE, worst = EXIT_DONE;
    uint32_t count = 0;
    for (int i = 0; i < a->opts.positional_count && code == EXIT_DONE && !progress_interrupted(); i++) {
        code = sweep_graph(a, t, i, &sweeps[i]);
        if (code != EXIT_DONE)
            break;
        list[count++] = &sweeps[i];
        worst = judge(&sweeps[i]) != EXIT_DONE ? judge(&sweeps[i]) : worst;
        if (i && shows_text(a))
            putchar('\n');
        pb_status status = shows_text(a) ? print_sweep(a, &sweeps[i]) : PB_OK;
        output_flush(); /* the next one may take long */
        if (status != PB_OK)
            return app_status(a, status);
    }
    exit_code written = count || code == EXIT_DONE ? write_files(a, list, count) : EXIT_DONE;
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
    if (a->opts.positional_count < 1)
        return app_usage(a, "expected one or more graph files, as in pebble sweep g.json");
    if (app_option(a, OPT_JSON) && csv && strcmp(csv, "-") == 0)
        return app_usage(a, "--json and --csv - both write to standard output; give --csv a file name");
    if (app_option(a, OPT_STRATEGIES) && app_option(a, OPT_STRATEGY))
        return app_usage(a, "--strategies and --strategy are the same option; leave one out");
    exit_code possible = pictures_check(a);
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
    return sweep_all(a, t, sweeps, list);
}
