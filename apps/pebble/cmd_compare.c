/* cmd_compare.c -- pebble compare: a table of strategies, and the best plan. */
#define _XOPEN_SOURCE 700
#include "commands.h"
#include "common/output.h"
#include "compare_text.h"
#include "files.h"
#include "grain_option.h"
#include "pictures.h"
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NAMES = 64 };

/* --group: the names of its strategies, as the value of --strategy. */
static exit_code take_group(app *a)
{
    const char *group = app_option(a, OPT_GROUP), *names[NAMES];
    uint32_t count, groups, used = 0;
    const pb_group *known = pb_groups(&groups);
    const pb_strategy *rows = pb_strategies(&count);
    char list[2048] = "";
    size_t length = 0;
    if (!group)
        return EXIT_DONE;
    if (app_option(a, OPT_STRATEGY))
        return app_usage(a, "--group and --strategy both name strategies; leave one of them out");
    for (uint32_t i = 0; i < groups && used < NAMES; i++)
        names[used++] = known[i].name;
    for (uint32_t i = 0; i < count; i++)
        if (pb_group_has(group, &rows[i]) && length < sizeof list)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? "," : "", rows[i].name);
    if (!length) {
        const char *near = nearest_name(group, names, used);
        if (near)
            return app_usage(a, "--group: there is no group `%.60s`; did you mean %s?", group, near);
        for (uint32_t i = 0; i < used && length < sizeof list; i++)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                       i == 0         ? ""
                                       : i + 1 < used ? ", "
                                                      : " or ",
                                       names[i]);
        return app_usage(a, "--group: there is no group `%.60s`; choose %s, or --all for every strategy", group, list);
    }
    a->opts.value[OPT_STRATEGY] = pb_arena_text(&a->arena, list, strlen(list));
    return a->opts.value[OPT_STRATEGY] ? EXIT_DONE : app_status(a, PB_ENOMEM);
}

static exit_code read_settings(app *a, contest *c)
{
    exit_code code = read_graph(a, a->opts.positional[0], &c->base.graph);
    if (code != EXIT_DONE)
        return code;
    code = setting_game(a, &c->base);
    if (code != EXIT_DONE)
        return code;
    if (!setting_request(a, &c->request))
        return EXIT_USAGE;
    code = setting_strategies(a, c->request.strategy, "all", &c->request.strategy);
    if (code != EXIT_DONE)
        return code;
    if (!has_cap(a, &c->base))
        return missing_cap(a);
    c->games = setting_games(a, &c->base);
    pb_status status = pb_graph_program_peak(&a->ctx, c->base.graph, &c->program_peak);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}

/* The exit code if no plan fits: infeasible if that is proved for every game that was played. */
static exit_code nothing_fits(const contest *c)
{
    unsigned played = 0, proved = 0;
    for (uint32_t i = 0; i < c->result.row_count; i++) {
        const pb_schedule *s = &c->result.rows[i].schedule;
        played |= (unsigned)s->game;
        proved |= s->outcome == PB_INFEASIBLE ? (unsigned)s->game : 0u;
    }
    return played && proved == played ? EXIT_INFEASIBLE : EXIT_NOTHING;
}

static pb_status make_front(app *a, contest *c)
{
    return pb_front_view_make(&a->ctx, c->base.graph, progress_left_ns(&a->progress), &a->arena, &c->front);
}

/* --failed: FOLDER/STRATEGY-GAME.json for each row that exceeds the cap; with its number if the name exists. */
static exit_code write_failed(app *a, const contest *c)
{
    const char *folder = app_option(a, OPT_FAILED);
    exit_code code = EXIT_DONE;
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST)
        return app_fail(a, EXIT_FAILED, "%s: cannot be created: %s; check the path and its permissions", folder,
                        strerror(errno));
    for (uint32_t i = 0; folder && i < c->result.row_count && code == EXIT_DONE; i++) {
        const pb_plan_result *p = &c->result.rows[i];
        bool again = false;
        char path[1024];
        if (!p->attempt.count)
            continue;
        for (uint32_t k = 0; k < i; k++)
            again |= c->result.rows[k].attempt.count && strcmp(c->result.rows[k].asked, p->asked) == 0 &&
                     c->result.rows[k].schedule.game == p->schedule.game;
        if (again)
            snprintf(path, sizeof path, "%s/%s-%s-%u.json", folder, p->asked, pb_game_kind_name(p->schedule.game),
                     (unsigned)i);
        else
            snprintf(path, sizeof path, "%s/%s-%s.json", folder, p->asked, pb_game_kind_name(p->schedule.game));
        code = write_attempt(a, p, path);
    }
    return code;
}

/* Plans, and chooses what to show. */
static pb_status run(app *a, contest *c)
{
    pb_status status = c->games & PB_GAME_REVERSIBLE && !c->base.borrow ? make_front(a, c) : PB_OK;
    c->request.time_ns = progress_left_ns(&a->progress);
    c->request.prove = c->request.find_least = c->request.attempts = true;
    pb_compare_request request = {.strategies = c->request.strategy, .games = c->games, .plan = c->request};
    if (status == PB_OK)
        status = pb_compare(&a->ctx, &c->base, &request, &a->arena, &c->result);
    /* The timed game has few strategies: all are shown. */
    c->reduced = !app_option(a, OPT_ALL) && !app_option(a, OPT_STRATEGY) && c->games != PB_GAME_TIMED;
    if (app_option(a, OPT_GROUP))
        c->reduced = strcmp(app_option(a, OPT_GROUP), "paper") == 0 && !app_option(a, OPT_ALL);
    if (status == PB_OK)
        status = pb_view_make(&a->ctx, &c->result, !c->reduced, &a->arena, &c->view);
    return status;
}

/* --grain: levels in place of strategies. */
static exit_code run_grains(app *a, contest *c)
{
    if (app_option(a, OPT_SVG) || app_option(a, OPT_HTML) || app_option(a, OPT_FAILED) || app_option(a, OPT_SCHEDULE))
        return app_usage(a, "--grain compares levels, without --schedule, --failed and pictures; leave them out");
    c->request.time_ns = progress_left_ns(&a->progress);
    c->request.find_least = true;
    progress_planning(&a->progress, true);
    exit_code code = compare_grains(a, &c->base, &c->request, c->program_peak);
    progress_planning(&a->progress, false);
    if (progress_interrupted())
        app_note(a, "interrupted: levels may be missing");
    return progress_interrupted() ? EXIT_INTERRUPTED : code;
}

exit_code cmd_compare(app *a)
{
    contest c = {.base = PB_GAME_DEFAULT(NULL), .request = PB_REQUEST_DEFAULT};
    while (a->opts.schedule_count && a->opts.positional_count > 1 && a->opts.schedule_count < MAX_SCHEDULES)
        a->opts.schedules[a->opts.schedule_count++] = a->opts.positional[--a->opts.positional_count];
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one graph file, as in pebble compare g.json --cap 60%%");
    exit_code code = pictures_check(a);
    if (code == EXIT_DONE)
        code = take_group(a);
    if (code == EXIT_DONE)
        code = read_settings(a, &c);
    if (code != EXIT_DONE)
        return code;
    if (app_option(a, OPT_GRAIN))
        return run_grains(a, &c);
    progress_planning(&a->progress, true);
    pb_status status = run(a, &c);
    progress_planning(&a->progress, false);
    if (status != PB_OK)
        return app_status(a, status);
    if (app_option(a, OPT_JSON))
        status = pb_comparison_json_write(&a->ctx, &c.base, c.program_peak, &c.result, &c.front, stream_sink(stdout));
    else
        status = print_comparison(a, &c);
    if (status != PB_OK && status != PB_EIO)
        return app_status(a, status);
    code = write_failed(a, &c);
    if (code == EXIT_DONE)
        code = comparison_pictures(a, &c.base, &c.result);
    if (code != EXIT_DONE)
        return code;
    if (progress_interrupted()) {
        app_note(a, "interrupted: the other strategies did not run");
        return EXIT_INTERRUPTED;
    }
    return c.result.winner == UINT32_MAX ? nothing_fits(&c) : EXIT_DONE;
}
