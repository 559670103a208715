/* cmd_export.c -- pebble export: plans and graphs in formats that other programs read. */
#include "certify.h"
#include "commands.h"
#include "files.h"
#include "player_file.h"
#include "settings.h"

#include <string.h>

#define FORMS \
    "choose decisions, csv, json, dot, svg, html, trace, actions, torch-pipeline or explain; mps or lp for a graph"

/* *out is NULL for the player, which is not a form of the library: it is part of the page. */
static bool find_form(app *a, const pb_plan_form **out)
{
    static const char *const forms[] = {"decisions", "csv",     "json",           "dot",    "svg", "html",
                                        "trace",     "actions", "torch-pipeline", "explain"};
    const char *name = app_option(a, OPT_AS), *near;
    *out = NULL;
    if (!name)
        app_usage(a, "--as is missing; " FORMS);
    else if (strcmp(name, "html") == 0 || pb_plan_form_find(&a->ctx, name, out) == PB_OK)
        return true;
    else if ((near = nearest_name(name, forms, sizeof forms / sizeof *forms)) != NULL)
        app_usage(a, "--as: there is no form `%s`; did you mean %s?", name, near);
    else
        app_usage(a, "--as: there is no form `%s`; " FORMS, name);
    return false;
}

/* As a comparison of one row. */
static exit_code export_player(app *a, const certified *c)
{
    const pb_certificate *plan = c->judged.verdict.certificate;
    pb_plan_result row = {.schedule = c->schedule, .game = pb_certificate_game(plan), .certificate = plan};
    pb_comparison rows = {.rows = &row, .row_count = 1, .winner = 0};
    player_file file = {.base = row.game, .rows = &rows};
    return player_write(a, app_option(a, OPT_OUTPUT), &file);
}

static exit_code export_graph(app *a)
{
    const char *path = app_option(a, OPT_OUTPUT);
    pb_format format;
    const pb_graph *g;
    file_out out;
    if (app_option(a, OPT_AS))
        return app_usage(a, "--as needs a schedule after the graph; use --format to write a graph alone");
    if (!graph_format(a, app_option(a, OPT_FORMAT), path, &format))
        return EXIT_USAGE;
    exit_code code = read_graph(a, a->opts.positional[0], &g);
    if (code != EXIT_DONE)
        return code;
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    return file_finish(a, &out, pb_graph_write(&a->ctx, g, format, file_sink(&out)));
}

static exit_code export_other(app *a)
{
    certified c;
    const pb_plan_form *form;
    file_out out;
    if (a->opts.positional_count == 1)
        return export_graph(a);
    if (a->opts.positional_count != 2)
        return app_usage(
            a,
            "expected a graph and a schedule, or a graph alone, as in pebble export g.json plan.json --as decisions");
    if (app_option(a, OPT_FORMAT))
        return app_usage(a, "--format is for a graph alone; use --as for a plan");
    if (!find_form(a, &form))
        return EXIT_USAGE;
    exit_code code = certify(a, a->opts.positional[0], a->opts.positional[1], &c);
    if (code == EXIT_ILLEGAL && c.has_verdict)
        return app_fail(a, code, "%s: %s", a->opts.positional[1], c.judged.message);
    if (code != EXIT_DONE)
        return code;
    if (!form)
        return export_player(a, &c);
    if (!file_create(a, app_option(a, OPT_OUTPUT), &out))
        return EXIT_FAILED;
    pb_status status = form->write(&a->ctx, c.judged.verdict.certificate, &c.schedule, file_sink(&out));
    return file_finish(a, &out, status);
}

/* --as mps|lp: Checkmate's program under --cap. */
static exit_code export_program(app *a, bool lp)
{
    pb_game game = PB_GAME_DEFAULT(NULL);
    file_out out;
    if (a->opts.positional_count != 1)
        return app_usage(a, "--as mps and --as lp take a graph alone, as in pebble export g.json --as mps --cap 60%%");
    if (app_option(a, OPT_FORMAT))
        return app_usage(a, "--format is for a graph alone; leave it out with --as mps and --as lp");
    exit_code code = read_graph(a, a->opts.positional[0], &game.graph);
    if (code == EXIT_DONE)
        code = setting_game(a, &game);
    if (code != EXIT_DONE)
        return code;
    if (!has_cap(a, &game))
        return missing_cap(a);
    if (!file_create(a, app_option(a, OPT_OUTPUT), &out))
        return EXIT_FAILED;
    pb_status status = pb_program_write(&a->ctx, &game, lp ? PB_PROGRAM_LP : PB_PROGRAM_MPS, file_sink(&out));
    if (status == PB_EINVAL) {
        file_finish(a, &out, PB_OK);
        return app_fail(a, EXIT_NOTHING, "%s", a->ctx.error.message);
    }
    return file_finish(a, &out, status);
}

exit_code cmd_export(app *a)
{
    const char *as = app_option(a, OPT_AS);
    if (as && (strcmp(as, "mps") == 0 || strcmp(as, "lp") == 0))
        return export_program(a, strcmp(as, "lp") == 0);
    if (app_option(a, OPT_CAP) || app_option(a, OPT_MACHINE))
        return app_usage(a, "--cap and --machine are for --as mps and --as lp only");
    return export_other(a);
}
