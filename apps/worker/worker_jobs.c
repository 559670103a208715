/* worker_jobs.c -- the queue and the event log of apps/server in a Web Worker: one job at a time, and its events go to
 * the page as they come. The page starts a job when its request has been answered, with worker_run. */
#define _XOPEN_SOURCE 700
#include "worker.h"

#include <stdlib.h>
#include <string.h>

enum { POLL_NS = 40000000 };

/* ---- the queue ---- */

bool queue_add(job_queue *q, job *j)
{
    if (q->first)
        return false;
    store_hold_job(q->store, j);
    job_send_state(j, "queued");
    q->first = q->last = j;
    q->waiting = 1;
    return true;
}

static void end_job(job_queue *q, job *j)
{
    q->first = q->last = NULL;
    q->waiting = 0;
    store_end_job(q->store, j);
    log_end(j->log);
    store_release_job(q->store, j);
}

void queue_stop_job(job_queue *q, job *j)
{
    atomic_store(&j->stop, true);
    if (q->first != j)
        return; /* it has ended: while a job runs, nothing else does */
    job_skip(j);
    end_job(q, j);
}

void queue_counts(job_queue *q, unsigned *running, unsigned *waiting)
{
    *running = 0;
    *waiting = q->waiting;
}

/* The page's flag is not free to read, so it is read now and then. */
bool job_stopped(job *j)
{
    static uint64_t asked_ns;
    uint64_t now = job_clock();
    if (!atomic_load(&j->stop) && now - asked_ns >= POLL_NS) {
        asked_ns = now;
        if (worker_stop_requested())
            atomic_store(&j->stop, true);
    }
    return atomic_load(&j->stop);
}

void queue_run(job_queue *q)
{
    job *j = q->first;
    if (!j)
        return;
    q->waiting = 0;
    job_run(j);
    end_job(q, j);
}

/* ---- the event log ---- */

struct event_log {
    bool has_done, lost;
};

void hub_init(event_hub *hub) { *hub = (event_hub){.closing = false}; }

event_log *log_new(event_hub *hub)
{
    (void)hub;
    return calloc(1, sizeof(event_log));
}

void log_free(event_log *log) { free(log); }

static bool is_transient(const char *name)
{
    return strcmp(name, "progress") == 0 || strcmp(name, "incumbent") == 0 || strcmp(name, "state") == 0;
}

void log_add(event_log *log, const char *name, char *data, bool merge)
{
    (void)merge;
    if (data && !log->has_done) {
        log->has_done = strcmp(name, "done") == 0;
        worker_event(name, data, strlen(data));
    }
    log->lost |= !data && !log->has_done && !is_transient(name);
    free(data);
}

bool log_lost(event_log *log) { return log->lost; }

void log_state(event_log *log, const char *state) { (void)log, (void)state; }

void log_end(event_log *log)
{
    static const char data[] = "{\"state\":\"failed\",\"winner\":null,\"winner_index\":null,\"error\":{\"message\":"
                               "\"out of memory: the result of this job was lost; use fewer strategies\"},"
                               "\"sentence\":null,\"elapsed_ms\":0}";
    if (!log->has_done)
        worker_event("done", data, sizeof data - 1);
    log->has_done = true;
}

size_t log_bytes(event_log *log)
{
    (void)log;
    return sizeof(event_log);
}

void log_print(event_log *log, FILE *out)
{
    fprintf(out, "{\"state\":\"%s\",\"events\":[]}", log->has_done ? "ended" : "queued"); /* the page has the events */
}
