/* job_queue.c -- see job.h: jobs wait in a queue for a worker. */
#define _XOPEN_SOURCE 700
#include "job.h"

/* Ends a job and releases the reference of the queue or the worker. */
static void end_job(job_queue *q, job *j)
{
    store_end_job(q->store, j);
    log_end(j->log);
    store_release_job(q->store, j);
}

/* With the lock held: removes a job from the queue. False if it does not wait there. */
static bool remove_waiting(job_queue *q, const job *j)
{
    job **at = &q->first, *before = NULL;
    for (; *at && *at != j; at = &(*at)->next_queue)
        before = *at;
    if (!*at)
        return false;
    *at = j->next_queue;
    if (q->last == j)
        q->last = before;
    q->waiting--;
    return true;
}

static void *worker_main(void *state)
{
    job_queue *q = state;
    unsigned self = 0;
    pthread_mutex_lock(&q->lock);
    while (!pthread_equal(q->workers[self], pthread_self()))
        self++;
    for (;;) {
        while (!q->first && !q->closing)
            pthread_cond_wait(&q->work_ready, &q->lock);
        if (q->closing)
            break;
        job *j = q->first;
        remove_waiting(q, j);
        q->running[self] = j;
        pthread_mutex_unlock(&q->lock);
        job_run(j);
        pthread_mutex_lock(&q->lock);
        q->running[self] = NULL;
        pthread_mutex_unlock(&q->lock);
        end_job(q, j);
        pthread_mutex_lock(&q->lock);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

bool queue_start(job_queue *q, store *s, unsigned workers)
{
    *q = (job_queue){.store = s};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->work_ready, NULL);
    pthread_mutex_lock(&q->lock);
    for (unsigned i = 0; i < workers && i < MAX_WORKERS; i++)
        if (pthread_create(&q->workers[q->worker_count], NULL, worker_main, q) == 0)
            q->worker_count++;
    pthread_mutex_unlock(&q->lock);
    return q->worker_count > 0;
}

bool queue_add(job_queue *q, job *j)
{
    pthread_mutex_lock(&q->lock);
    bool taken = q->waiting < MAX_QUEUE && !q->closing;
    if (taken) {
        store_hold_job(q->store, j);
        job_send_state(j, "queued");
        j->next_queue = NULL;
        if (q->last)
            q->last->next_queue = j;
        else
            q->first = j;
        q->last = j;
        q->waiting++;
        pthread_cond_signal(&q->work_ready);
    }
    pthread_mutex_unlock(&q->lock);
    return taken;
}

void queue_stop_job(job_queue *q, job *j)
{
    bool before = atomic_exchange(&j->stop, true);
    pthread_mutex_lock(&q->lock);
    bool waited = remove_waiting(q, j);
    pthread_mutex_unlock(&q->lock);
    if (waited) {
        job_skip(j);
        end_job(q, j);
    } else if (!before) {
        job_send_state(j, "stopping"); /* ignored if the job has ended */
    }
}

bool job_stopped(job *j) { return atomic_load(&j->stop); }

void queue_counts(job_queue *q, unsigned *running, unsigned *waiting)
{
    pthread_mutex_lock(&q->lock);
    *waiting = q->waiting;
    *running = 0;
    for (unsigned i = 0; i < q->worker_count; i++)
        *running += q->running[i] != NULL;
    pthread_mutex_unlock(&q->lock);
}

void queue_stop(job_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closing = true;
    for (unsigned i = 0; i < q->worker_count; i++)
        if (q->running[i])
            atomic_store(&q->running[i]->stop, true);
    pthread_cond_broadcast(&q->work_ready);
    pthread_mutex_unlock(&q->lock);
    for (unsigned i = 0; i < q->worker_count; i++)
        pthread_join(q->workers[i], NULL);
    for (job *j = q->first; j; j = q->first) {
        remove_waiting(q, j);
        job_skip(j);
        end_job(q, j);
    }
    pthread_cond_destroy(&q->work_ready);
    pthread_mutex_destroy(&q->lock);
}
