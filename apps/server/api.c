/* api.c -- finds what a path names and who answers for it. */
#define _XOPEN_SOURCE 700
#include "handlers.h"
#include "whole.h"

#include <string.h>

static void missing(request *r, lookup found, const char *what)
{
    if (found == FOUND_GONE)
        answer_fail(r, MHD_HTTP_GONE, "this %s was forgotten to make room; make it again", what);
    else
        answer_fail(r, MHD_HTTP_NOT_FOUND, "there is no such %s", what);
}

static void answer_graph(request *r, const char *rest)
{
    stored_graph *g;
    uint64_t number;
    const char *what;
    if (!whole_id(rest, 'g', &number, &what)) {
        missing(r, FOUND_NEVER, "graph");
        return;
    }
    lookup found = store_graph(&r->s->store, number, &g);
    if (found != FOUND_IT) {
        missing(r, found, "graph");
        return;
    }
    if (strcmp(what, "jobs") == 0 && strcmp(r->method, "POST") == 0)
        handle_new_job(r, g);
    else if (strcmp(r->method, "GET") == 0)
        handle_graph(r, g, what);
    else
        answer_fail(r, MHD_HTTP_METHOD_NOT_ALLOWED, "%s is not taken here", r->method);
    store_release_graph(&r->s->store, g);
}

static void answer_job(request *r, const char *rest)
{
    job *j;
    uint64_t number;
    const char *what;
    if (!whole_id(rest, 'j', &number, &what)) {
        missing(r, FOUND_NEVER, "job");
        return;
    }
    lookup found = store_job(&r->s->store, number, &j);
    if (found != FOUND_IT) {
        missing(r, found, "job");
        return;
    }
    handle_job(r, j, what);
    store_release_job(&r->s->store, j);
}

static void answer_plan(request *r, const char *rest)
{
    job *j;
    pb_plan_result planned;
    uint64_t number;
    const char *what;
    if (!whole_id(rest, 'p', &number, &what)) {
        missing(r, FOUND_NEVER, "plan");
        return;
    }
    lookup found = store_plan(&r->s->store, number, &j, &planned);
    if (found != FOUND_IT) {
        missing(r, found, "plan");
        return;
    }
    if (strcmp(r->method, "GET") == 0)
        handle_plan(r, j, &planned, number, what);
    else
        answer_fail(r, MHD_HTTP_METHOD_NOT_ALLOWED, "%s is not taken here", r->method);
    store_release_job(&r->s->store, j);
}

void api_answer(request *r)
{
    const char *path = r->path + 5; /* after /api/ */
    bool get = strcmp(r->method, "GET") == 0;
    if (strcmp(path, "about") == 0 && get)
        handle_about(r);
    else if (strcmp(path, "health") == 0 && get)
        handle_health(r);
    else if (strcmp(path, "graphs") == 0 && strcmp(r->method, "POST") == 0)
        handle_new_graph(r);
    else if (strncmp(path, "graphs/", 7) == 0)
        answer_graph(r, path + 7);
    else if (strncmp(path, "jobs/", 5) == 0)
        answer_job(r, path + 5);
    else if (strncmp(path, "plans/", 6) == 0)
        answer_plan(r, path + 6);
    else if (strcmp(path, "about") == 0 || strcmp(path, "graphs") == 0 || strcmp(path, "health") == 0)
        answer_fail(r, MHD_HTTP_METHOD_NOT_ALLOWED, "%s is not taken here", r->method);
    else
        answer_fail(r, MHD_HTTP_NOT_FOUND, "there is nothing at this address");
}
