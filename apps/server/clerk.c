/* clerk.c -- threads that answer requests and may take their time, while connections wait suspended. */
#define _XOPEN_SOURCE 700
#include "request.h"

#include <string.h>

enum { MOST_WAITING = 1000 };

/* Does the answer take work that grows with the graph or the plan? */
static bool is_slow(const request *r)
{
    static const char *const ends[] = {"/layout", "/names", "/frames", "/file", "/explain"};
    const char *slash = strrchr(r->path, '/');
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(slash, ends[i]) == 0)
            return true;
    return strcmp(r->path, "/api/graphs") == 0;
}

static request *take_first(request_line *line)
{
    request *r = line->first;
    if (r)
        line->first = r->next;
    if (!line->first)
        line->last = NULL;
    return r;
}

/* The first clerk takes quick requests only, so that those never wait for slow ones. */
static request *take_request(server *s, bool quick_only)
{
    request *r = take_first(&s->quick);
    return r || quick_only ? r : take_first(&s->slow);
}

void *clerk_work(void *state)
{
    server *s = state;
    pthread_mutex_lock(&s->lock);
    bool quick_only = s->clerk_count++ == 0;
    for (;;) {
        request *r = take_request(s, quick_only);
        if (!r && s->closing && s->waiting == 0)
            break;
        if (!r) {
            pthread_cond_wait(&s->wanted, &s->lock);
            continue;
        }
        s->waiting--;
        bool closing = s->closing;
        pthread_mutex_unlock(&s->lock);
        if (closing)
            answer_fail(r, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is stopping");
        else
            api_answer(r);
        r->stage = STAGE_ANSWER;
        MHD_resume_connection(r->connection);
        pthread_mutex_lock(&s->lock);
    }
    pthread_cond_broadcast(&s->wanted); /* the other clerks end too */
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* The place in the queue is taken first: clerks do not leave while someone is on the way to it. */
bool clerk_hand_over(request *r)
{
    server *s = r->s;
    pthread_mutex_lock(&s->lock);
    bool taken = s->waiting < MOST_WAITING && !s->closing;
    s->waiting += taken;
    pthread_mutex_unlock(&s->lock);
    if (!taken)
        return false;
    r->stage = STAGE_WORK;
    MHD_suspend_connection(r->connection);
    pthread_mutex_lock(&s->lock);
    request_line *line = is_slow(r) ? &s->slow : &s->quick;
    r->next = NULL;
    if (line->last)
        line->last->next = r;
    else
        line->first = r;
    line->last = r;
    pthread_cond_broadcast(&s->wanted); /* any clerk is not good for any request */
    pthread_mutex_unlock(&s->lock);
    return true;
}
