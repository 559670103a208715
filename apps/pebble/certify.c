/* certify.c -- see certify.h. */
#include "certify.h"

#include "files.h"
#include "settings.h"

#include <string.h>

exit_code certify_schedule(app *a, certified *c)
{
    pb_judgement *j = &c->judged;
    pb_status status =
        pb_judge_all(&a->ctx, c->graph, &c->schedule, app_option(a, OPT_ANY_GRAPH) != NULL, &a->arena, j);
    if (status != PB_OK)
        return app_status(a, status);
    c->has_verdict = true;
    if (j->fault == PB_FAULT_GRAPH)
        strncat(j->message, "; --any-graph accepts it", sizeof j->message - strlen(j->message) - 1);
    return j->fault == PB_FAULT_NONE ? EXIT_DONE : EXIT_ILLEGAL;
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
    return certify_schedule(a, out);
}
