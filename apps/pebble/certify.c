/* certify.c -- see certify.h. */
#include "certify.h"

#include "files.h"
#include "settings.h"

#include <stdio.h>
#include <string.h>

/* Turns "train batch=8" into "--train --batch=8"; "" if there are no words. */
static void reading_options(const char *words, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t length; words && *words && used < room; words += length + (words[length] != '\0')) {
        length = strcspn(words, " ");
        used += (size_t)snprintf(text + used, room - used, "%s--%.*s", used ? " " : "", (int)length, words);
    }
}

/* Advice how to read the graph as it was read for the schedule; false if it was read the same way. */
static bool other_reading(const pb_graph *g, const pb_schedule *s, char *text, size_t room)
{
    char with[400];
    if (!pb_read_otherwise(g, s))
        return false;
    reading_options(s->read_with ? s->read_with : g->read_with, with, sizeof with);
    snprintf(text, room, s->read_with ? "add %s" : "leave out %s", with);
    return true;
}

exit_code certify_schedule(app *a, certified *c)
{
    pb_judgement *j = &c->judged;
    char advice[512];
    pb_status status =
        pb_judge_all(&a->ctx, c->graph, &c->schedule, app_option(a, OPT_ANY_GRAPH) != NULL, &a->arena, j);
    if (status != PB_OK)
        return app_status(a, status);
    c->has_verdict = true;
    c->graph = j->game.graph; /* in the costs of the schedule's machine */
    size_t used = strlen(j->message), room = sizeof j->message - used;
    if (j->failure != PB_FAILURE_NONE && !j->same_graph && other_reading(c->graph, &c->schedule, advice, sizeof advice))
        snprintf(j->message + used, room, "; %s", advice);
    else if (j->failure == PB_FAILURE_GRAPH)
        snprintf(j->message + used, room, ", or --any-graph to check its moves here");
    return j->failure == PB_FAILURE_NONE ? EXIT_DONE : EXIT_ILLEGAL;
}

/* A schedule of another graph may name nodes that this graph does not have: explains why reading it failed. */
static exit_code read_or_explain(app *a, const char *path, certified *out)
{
    pb_schedule alone;
    char advice[512];
    exit_code code = read_schedule(a, path, out->graph, &out->schedule);
    if (code != EXIT_INPUT || strcmp(path, "-") == 0)
        return code;
    if (read_schedule_alone(a, path, &alone) && other_reading(out->graph, &alone, advice, sizeof advice))
        app_note(a, "%s was made for this file, read with other options; %s", path, advice);
    return code;
}

exit_code certify(app *a, const char *graph_path, const char *schedule_path, certified *out)
{
    memset(out, 0, sizeof *out);
    if (strcmp(graph_path, "-") == 0 && strcmp(schedule_path, "-") == 0)
        return app_usage(a,
                         "the graph and the schedule cannot both come from standard input; put one of them in a file");
    exit_code code = read_graph(a, graph_path, &out->graph);
    if (code == EXIT_DONE)
        code = read_or_explain(a, schedule_path, out);
    if (code != EXIT_DONE)
        return code;
    if (!setting_size(a, OPT_CAP, out->graph, &out->schedule.cap))
        return EXIT_USAGE;
    return certify_schedule(a, out);
}
