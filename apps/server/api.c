/* api.c -- routes API requests to their handlers. */
#define _XOPEN_SOURCE 700
#include "handlers.h"
#include "whole.h"

#include <string.h>

static void respond_missing(request *r, lookup found, const char *what)
{
    if (found == LOOKUP_EVICTED)
        respond_error(r, MHD_HTTP_GONE,
                      "this %s was evicted to free memory; create it again, or start pebble ui with a larger --memory",
                      what);
    else
        respond_error(r, MHD_HTTP_NOT_FOUND, "there is no such %s; docs/server.md shows how to create one", what);
}

static void respond_graph(request *r, const char *rest)
{
    stored_graph *g;
    uint64_t number;
    const char *what;
    if (!whole_id(rest, 'g', &number, &what)) {
        respond_missing(r, LOOKUP_UNKNOWN, "graph");
        return;
    }
    lookup found = store_graph(&r->s->store, number, &g);
    if (found != LOOKUP_FOUND) {
        respond_missing(r, found, "graph");
        return;
    }
    if (strcmp(what, "jobs") == 0 && strcmp(r->method, "POST") == 0)
        handle_new_job(r, g);
    else if (strcmp(r->method, "GET") == 0)
        handle_graph(r, g, what);
    else
        respond_error(r, MHD_HTTP_METHOD_NOT_ALLOWED,
                      "%s is not supported at this address; docs/server.md lists the methods", r->method);
    store_release_graph(&r->s->store, g);
}

static void respond_job(request *r, const char *rest)
{
    job *j;
    uint64_t number;
    const char *what;
    if (!whole_id(rest, 'j', &number, &what)) {
        respond_missing(r, LOOKUP_UNKNOWN, "job");
        return;
    }
    lookup found = store_job(&r->s->store, number, &j);
    if (found != LOOKUP_FOUND) {
        respond_missing(r, found, "job");
        return;
    }
    handle_job(r, j, what);
    store_release_job(&r->s->store, j);
}

static void respond_plan(request *r, const char *rest)
{
    job *j;
    pb_plan_result planned;
    uint64_t number;
    const char *what;
    if (!whole_id(rest, 'p', &number, &what)) {
        respond_missing(r, LOOKUP_UNKNOWN, "plan");
        return;
    }
    lookup found = store_plan(&r->s->store, number, &j, &planned);
    if (found != LOOKUP_FOUND) {
        respond_missing(r, found, "plan");
        return;
    }
    if (strcmp(r->method, "GET") == 0)
        handle_plan(r, j, &planned, number, what);
    else
        respond_error(r, MHD_HTTP_METHOD_NOT_ALLOWED,
                      "%s is not supported at this address; docs/server.md lists the methods", r->method);
    store_release_job(&r->s->store, j);
}

void api_respond(request *r)
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
        respond_graph(r, path + 7);
    else if (strncmp(path, "jobs/", 5) == 0)
        respond_job(r, path + 5);
    else if (strncmp(path, "plans/", 6) == 0)
        respond_plan(r, path + 6);
    else if (strcmp(path, "about") == 0 || strcmp(path, "graphs") == 0 || strcmp(path, "health") == 0)
        respond_error(r, MHD_HTTP_METHOD_NOT_ALLOWED,
                      "%s is not supported at this address; docs/server.md lists the methods", r->method);
    else
        respond_error(r, MHD_HTTP_NOT_FOUND, "this address does not exist; docs/server.md lists the addresses");
}
