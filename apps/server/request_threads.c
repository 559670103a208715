/* request_threads.c -- threads that handle API requests, which may be slow, while their connections are suspended. */
#define _XOPEN_SOURCE 700
#include "request.h"

#include <string.h>

enum { MAX_WAITING = 1000 };

/* Does the work grow with the graph or the plan? */
static bool is_slow(const request *r)
{
    static const char *const ends[] = {"/layout", "/names", "/frames", "/file", "/explain"};
    const char *slash = strrchr(r->path, '/');
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(slash, ends[i]) == 0)
            return true;
    return strcmp(r->path, "/api/graphs") == 0;
}

static request *take_first(request_queue *line)
{
    request *r = line->first;
    if (r)
        line->first = r->next;
    if (!line->first)
        line->last = NULL;
    return r;
}

/* The first thread takes quick requests only, so that those never wait for slow ones. */
static request *take_request(server *s, bool quick_only)
{
    request *r = take_first(&s->quick);
    return r || quick_only ? r : take_first(&s->slow);
}

void *request_thread(void *state)
{
    server *s = state;
    pthread_mutex_lock(&s->lock);
    bool quick_only = s->started_count++ == 0;
    for (;;) {
        request *r = take_request(s, quick_only);
        if (!r && s->closing && s->waiting == 0)
            break;
        if (!r) {
            pthread_cond_wait(&s->work_ready, &s->lock);
            continue;
        }
        s->waiting--;
        bool closing = s->closing;
        pthread_mutex_unlock(&s->lock);
        if (closing)
            respond_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is stopping; start pebble ui again");
        else
            api_respond(r);
        r->stage = STAGE_RESPOND;
        MHD_resume_connection(r->connection);
        pthread_mutex_lock(&s->lock);
    }
    pthread_cond_broadcast(&s->work_ready); /* the other threads end too */
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Counted as waiting before the connection is suspended, so that the threads do not end in between. */
bool request_enqueue(request *r)
{
    server *s = r->s;
    pthread_mutex_lock(&s->lock);
    bool taken = s->waiting < MAX_WAITING && !s->closing;
    s->waiting += taken;
    pthread_mutex_unlock(&s->lock);
    if (!taken)
        return false;
    r->stage = STAGE_WORK;
    MHD_suspend_connection(r->connection);
    pthread_mutex_lock(&s->lock);
    request_queue *line = is_slow(r) ? &s->slow : &s->quick;
    r->next = NULL;
    if (line->last)
        line->last->next = r;
    else
        line->first = r;
    line->last = r;
    pthread_cond_broadcast(&s->work_ready); /* all of them, because not every thread takes every request */
    pthread_mutex_unlock(&s->lock);
    return true;
}
