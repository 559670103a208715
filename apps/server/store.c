/* store.c -- see store.h. */
#define _XOPEN_SOURCE 700
#include "store.h"

#include "events.h"

#include <stdlib.h>
#include <string.h>

void store_init(store *s, size_t max_bytes)
{
    *s = (store){.max_bytes = max_bytes};
    pthread_mutex_init(&s->lock, NULL);
}

stored_graph *graph_new(size_t max_bytes)
{
    stored_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return NULL;
    pb_context_init(&graph->ctx);
    graph->ctx.memory_limit = max_bytes;
    pb_arena_init(&graph->arena, &graph->ctx);
    return graph;
}

void graph_free(stored_graph *graph)
{
    pb_arena_release(&graph->arena);
    free(graph->name);
    free(graph);
}

/* ---- counts: all with the lock held ---- */

static void drop_graph(stored_graph *graph)
{
    if (--graph->held == 0)
        graph_free(graph);
}

static void drop_job(job *j)
{
    if (--j->held)
        return;
    drop_graph(j->graph);
    pb_arena_release(&j->arena);
    log_free(j->log);
    free(j->plans);
    free(j);
}

static void forget_job(store *s, job *j)
{
    if (j->forgotten)
        return;
    job **at = &s->jobs;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    j->forgotten = true;
    drop_job(j);
}

static void forget_graph(store *s, stored_graph *graph)
{
    stored_graph **at = &s->graphs;
    while (*at != graph)
        at = &(*at)->next;
    *at = graph->next;
    drop_graph(graph);
}

static size_t bytes_of(const store *s)
{
    size_t sum = 0;
    for (const stored_graph *g = s->graphs; g; g = g->next)
        sum += g->ctx.memory_used;
    for (const job *j = s->jobs; j; j = j->next)
        sum += j->bytes;
    return sum;
}

/* The least recently used job that has ended, except `keep`. */
static job *oldest_job(const store *s, const job *keep)
{
    job *best = NULL;
    for (job *j = s->jobs; j; j = j->next)
        if (j->ended && j != keep && (!best || j->used_at < best->used_at))
            best = j;
    return best;
}

static stored_graph *oldest_graph(const store *s, const stored_graph *keep)
{
    stored_graph *best = NULL;
    for (stored_graph *g = s->graphs; g; g = g->next)
        if (g->held == 1 && g != keep && (!best || g->used_at < best->used_at)) /* no job or request uses it */
            best = g;
    return best;
}

/* Evicts plans before graphs, because they can be recomputed. */
static void shrink(store *s, const job *keep_job, const stored_graph *keep_graph)
{
    while (bytes_of(s) > s->max_bytes) {
        job *j = oldest_job(s, keep_job);
        stored_graph *g = j ? NULL : oldest_graph(s, keep_graph);
        if (!j && !g)
            return;
        if (j)
            forget_job(s, j);
        else
            forget_graph(s, g);
    }
}

void store_release(store *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->jobs)
        forget_job(s, s->jobs);
    while (s->graphs)
        forget_graph(s, s->graphs);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_destroy(&s->lock);
}

/* ---- graphs ---- */

stored_graph *store_add_graph(store *s, stored_graph *graph)
{
    pthread_mutex_lock(&s->lock);
    stored_graph *same = s->graphs;
    while (same && (strcmp(same->hash, graph->hash) != 0 || strcmp(same->name, graph->name) != 0))
        same = same->next;
    if (!same) {
        graph->number = ++s->graph_numbers;
        graph->held = 1; /* the store's */
        graph->next = s->graphs;
        s->graphs = same = graph;
        graph = NULL;
    }
    same->held++;
    same->used_at = ++s->clock;
    shrink(s, NULL, same);
    pthread_mutex_unlock(&s->lock);
    if (graph)
        graph_free(graph);
    return same;
}

lookup store_graph(store *s, uint64_t number, stored_graph **out)
{
    pthread_mutex_lock(&s->lock);
    stored_graph *g = s->graphs;
    while (g && g->number != number)
        g = g->next;
    if (g) {
        g->held++;
        g->used_at = ++s->clock;
        *out = g;
    }
    lookup result = g ? LOOKUP_FOUND : number && number <= s->graph_numbers ? LOOKUP_EVICTED : LOOKUP_UNKNOWN;
    pthread_mutex_unlock(&s->lock);
    return result;
}

void store_hold_graph(store *s, stored_graph *graph)
{
    pthread_mutex_lock(&s->lock);
    graph->held++;
    pthread_mutex_unlock(&s->lock);
}

void store_release_graph(store *s, stored_graph *graph)
{
    pthread_mutex_lock(&s->lock);
    drop_graph(graph);
    pthread_mutex_unlock(&s->lock);
}

/* ---- jobs and plans ---- */

void store_add_job(store *s, job *j)
{
    pthread_mutex_lock(&s->lock);
    j->number = ++s->job_numbers;
    j->held = 2;
    j->used_at = ++s->clock;
    j->next = s->jobs;
    s->jobs = j;
    pthread_mutex_unlock(&s->lock);
}

lookup store_job(store *s, uint64_t number, job **out)
{
    pthread_mutex_lock(&s->lock);
    job *j = s->jobs;
    while (j && j->number != number)
        j = j->next;
    if (j) {
        j->held++;
        j->used_at = ++s->clock;
        *out = j;
    }
    lookup result = j ? LOOKUP_FOUND : number && number <= s->job_numbers ? LOOKUP_EVICTED : LOOKUP_UNKNOWN;
    pthread_mutex_unlock(&s->lock);
    return result;
}

void store_hold_job(store *s, job *j)
{
    pthread_mutex_lock(&s->lock);
    j->held++;
    pthread_mutex_unlock(&s->lock);
}

void store_release_job(store *s, job *j)
{
    pthread_mutex_lock(&s->lock);
    drop_job(j);
    pthread_mutex_unlock(&s->lock);
}

void store_end_job(store *s, job *j)
{
    size_t log = log_bytes(j->log);
    pthread_mutex_lock(&s->lock);
    j->ended = true;
    j->bytes = sizeof *j + j->ctx.memory_used + j->plan_room * sizeof *j->plans + log;
    shrink(s, j, j->graph);
    pthread_mutex_unlock(&s->lock);
}

void store_forget_job(store *s, job *j)
{
    pthread_mutex_lock(&s->lock);
    forget_job(s, j);
    pthread_mutex_unlock(&s->lock);
}

uint64_t store_add_plan(store *s, job *j, const pb_plan_result *planned)
{
    uint64_t number = 0;
    bool plays = planned->certificate || planned->attempt.count;
    pthread_mutex_lock(&s->lock);
    if (plays && j->plan_count == j->plan_room) {
        uint32_t room = j->plan_room ? 2 * j->plan_room : 8;
        stored_plan *plans = realloc(j->plans, room * sizeof *plans);
        if (plans) {
            j->plans = plans;
            j->plan_room = room;
        }
    }
    if (plays && j->plan_count < j->plan_room) {
        number = ++s->plan_numbers;
        j->plans[j->plan_count++] = (stored_plan){number, *planned};
    }
    pthread_mutex_unlock(&s->lock);
    return number;
}

void store_update_plan(store *s, job *j, uint64_t number, const pb_plan_result *planned)
{
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < j->plan_count; i++)
        if (j->plans[i].number == number)
            j->plans[i].planned = *planned;
    pthread_mutex_unlock(&s->lock);
}

lookup store_plan(store *s, uint64_t number, job **of, pb_plan_result *out)
{
    lookup result;
    pthread_mutex_lock(&s->lock);
    result = number && number <= s->plan_numbers ? LOOKUP_EVICTED : LOOKUP_UNKNOWN;
    for (job *j = s->jobs; j && result == LOOKUP_EVICTED; j = j->next)
        for (uint32_t i = 0; i < j->plan_count; i++)
            if (j->plans[i].number == number) {
                *out = j->plans[i].planned;
                *of = j;
                j->held++;
                j->used_at = ++s->clock;
                j->graph->used_at = s->clock;
                result = LOOKUP_FOUND;
                break;
            }
    pthread_mutex_unlock(&s->lock);
    return result;
}
