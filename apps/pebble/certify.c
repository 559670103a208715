/* certify.c -- see certify.h. */
#include "certify.h"

#include "files.h"
#include "settings.h"

#include <stdio.h>
#include <string.h>

static exit_code check_graph(app *a, certified *c)
{
    char hash[PB_HASH_TEXT];
    c->same_graph = true;
    if (!c->schedule.graph_hash[0])
        return EXIT_DONE;
    pb_status status = pb_graph_hash(&a->ctx, c->graph, hash);
    if (status != PB_OK)
        return app_status(a, status);
    c->same_graph = strcmp(hash, c->schedule.graph_hash) == 0;
    return EXIT_DONE;
}

static exit_code judge(app *a, certified *c)
{
    char text[512];
    pb_status status = pb_judge(&a->ctx, c->graph, &c->schedule, &a->arena, &c->game, &c->verdict, &c->metrics);
    if (status == PB_ERANGE) {
        snprintf(c->message, sizeof c->message, "%s", a->ctx.error.message);
        return EXIT_ILLEGAL;
    }
    if (status != PB_OK)
        return app_status(a, status);
    if (!c->verdict.certificate) {
        pb_verdict_text(&c->game, &c->schedule.moves, &c->verdict, text, sizeof text);
        snprintf(c->message, sizeof c->message, "%s [rule %s]", text, pb_rule_name(c->verdict.rule));
        return EXIT_ILLEGAL;
    }
    if (!c->same_graph && !app_option(a, OPT_ANY_GRAPH)) {
        snprintf(c->message, sizeof c->message,
                 "the schedule was made for another graph (%.80s): the hashes differ; --any-graph accepts it",
                 c->schedule.graph_name && c->schedule.graph_name[0] ? c->schedule.graph_name : "without a name");
        return EXIT_ILLEGAL;
    }
    bool apart;
    status = pb_judge_addresses(&a->ctx, c->verdict.certificate, &c->schedule.addresses, &apart, text, sizeof text);
    if (status != PB_OK)
        return app_status(a, status);
    if (!apart) {
        snprintf(c->message, sizeof c->message, "the moves are legal, but the addresses are wrong: %s", text);
        return EXIT_ILLEGAL;
    }
    if (pb_judge_metrics(&c->schedule, &c->metrics, text, sizeof text)) {
        snprintf(c->message, sizeof c->message, "the moves are legal, but the figures are wrong: %s", text);
        return EXIT_ILLEGAL;
    }
    return EXIT_DONE;
}

exit_code certify(app *a, const char *graph_path, const char *schedule_path, certified *out)
{
    memset(out, 0, sizeof *out);
    if (strcmp(graph_path, "-") == 0 && strcmp(schedule_path, "-") == 0)
        return app_usage(a, "the graph and the schedule cannot both come from standard input");
    exit_code code = read_graph(a, graph_path, &out->graph);
    if (code == EXIT_DONE)
        code = read_schedule(a, schedule_path, out->graph, &out->schedule);
    if (code != EXIT_DONE)
        return code;
    if (!setting_size(a, OPT_CAP, out->graph, &out->schedule.cap))
        return EXIT_USAGE;
    code = check_graph(a, out);
    return code == EXIT_DONE ? judge(a, out) : code;
}
