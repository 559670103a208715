/* cmd_export.c -- pebble export: plans and graphs in formats that other programs read. */
#include "certify.h"
#include "commands.h"
#include "files.h"

#include <string.h>

typedef enum form { DECISIONS, CSV, JSON, DOT, TRACE, ACTIONS, FORM_COUNT } form;
static const char *const form_names[FORM_COUNT] = {"decisions", "csv", "json", "dot", "trace", "actions"};

static bool find_form(app *a, form *out)
{
    const char *name = app_option(a, OPT_AS);
    for (int i = 0; name && i < FORM_COUNT; i++)
        if (strcmp(form_names[i], name) == 0) {
            *out = (form)i;
            return true;
        }
    const char *near = name ? nearest_name(name, form_names, FORM_COUNT) : NULL;
    if (!name)
        app_usage(a, "--as is missing; choose decisions, csv, json, dot, trace or actions");
    else if (near)
        app_usage(a, "--as: there is no form `%s`; did you mean %s?", name, near);
    else
        app_usage(a, "--as: there is no form `%s`; choose decisions, csv, json, dot, trace or actions", name);
    return false;
}

static pb_status write_form(app *a, form f, const certified *c, pb_sink sink)
{
    const pb_certificate *proof = c->judged.verdict.certificate;
    switch (f) {
    case DECISIONS: return pb_decisions_write(&a->ctx, proof, sink);
    case CSV: return pb_steps_csv_write(&a->ctx, proof, sink);
    case JSON: return pb_steps_json_write(&a->ctx, proof, &c->schedule, sink);
    case DOT: return pb_plan_dot_write(&a->ctx, proof, sink);
    case ACTIONS: return pb_actions_write(&a->ctx, proof, sink);
    default: return pb_trace_write(&a->ctx, proof, sink);
    }
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

exit_code cmd_export(app *a)
{
    certified c;
    form f;
    file_out out;
    if (a->opts.positional_count == 1)
        return export_graph(a);
    if (a->opts.positional_count != 2)
        return app_usage(
            a,
            "expected a graph and a schedule, or a graph alone, as in pebble export g.json plan.json --as decisions");
    if (app_option(a, OPT_FORMAT))
        return app_usage(a, "--format is for a graph alone; use --as for a plan");
    if (!find_form(a, &f))
        return EXIT_USAGE;
    exit_code code = certify(a, a->opts.positional[0], a->opts.positional[1], &c);
    if (code == EXIT_ILLEGAL && c.has_verdict)
        return app_fail(a, code, "%s: %s", a->opts.positional[1], c.judged.message);
    if (code != EXIT_DONE)
        return code;
    if (!file_create(a, app_option(a, OPT_OUTPUT), &out))
        return EXIT_FAILED;
    return file_finish(a, &out, write_form(a, f, &c, file_sink(&out)));
}
