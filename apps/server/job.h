/* job.h -- planning in the background: what was asked, the queue, the workers. */
#ifndef PEBBLE_SERVER_JOB_H
#define PEBBLE_SERVER_JOB_H

#include "events.h"
#include "store.h"
#include "text_out.h"

typedef enum job_kind { JOB_COMPARE, JOB_PLAN, JOB_SWEEP, JOB_LEAST } job_kind;

enum { MOST_CAP_TEXTS = 64, MOST_WORKERS = 64, MOST_QUEUE = 256 };

/* What a job is to do; texts live in the job's arena. */
typedef struct job_spec {
    job_kind kind;
    pb_game base;
    unsigned games; /* pb_game_kind bits; 0 in a sweep: each strategy in its own */
    const char *strategies;
    pb_request request;
    uint64_t time_ms; /* of each strategy, or of a whole sweep; 0: no limit */
    uint64_t ticks;
    const char *caps[MOST_CAP_TEXTS]; /* of a sweep */
    uint32_t cap_count, points;
    /* While it runs. */
    uint64_t begin_ns, deadline_ns, told_ns, plan_ns;
    const char *now; /* the strategy at work */
    store *store;
    struct job *job;
    pb_event_handler handler;
    struct job_row {
        uint64_t plan;
        double gap;
        uint64_t lower_bound;
        pb_outcome outcome;
    } * rows;
    uint32_t row_count, row_room;
    double best_score; /* of the plans of the row at work */
    bool has_bound;
    uint64_t bound; /* of the game at work */
} job_spec;

typedef struct job_queue {
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    job *first, *last;
    unsigned waiting;
    bool closing;
    pthread_t workers[MOST_WORKERS];
    job *running[MOST_WORKERS];
    unsigned worker_count;
    store *store;
} job_queue;

/* A job on the graph, which it holds; NULL when memory is out. spec is in the arena, cleared. */
job *job_new(store *s, event_hub *hub, stored_graph *graph);
void job_drop(job *j); /* one that was never added */

/* Reads a control document (docs/server.md). False with a sentence in j->ctx.error. */
bool job_read(job *j, const char *text, size_t length);
/* Are the caps of a sweep sizes or ranges? False with a sentence likewise. */
bool job_check_caps(job *j);

bool queue_start(job_queue *q, store *s, unsigned workers);
/* False when too many wait already. */
bool queue_add(job_queue *q, job *j);
/* Stops one that runs, which is reported as stopping until it has ended; one that waits ends at once. The caller holds
 * it. */
void queue_stop_job(job_queue *q, job *j);
/* How many run and wait now. */
void queue_counts(job_queue *q, unsigned *running, unsigned *waiting);
/* Stops what runs, drops what waits, ends the workers. Nobody may add jobs any more. */
void queue_stop(job_queue *q);

/* Does the work, on a worker's thread. */
void job_run(job *j);
void job_run_sweep(job *j);
/* Tells the end of a job that was stopped before it ran. */
void job_skip(job *j);

/* Pieces that the kinds of jobs share. */
uint64_t job_clock(void);
void job_tell(job *j, const char *name, text_out *text, bool merge);
void job_tell_state(job *j, const char *state);
/* The callbacks of j->ctx and the request's listener. */
void job_hook(job *j);
void job_limit(job *j, uint64_t time_ms);
void job_done(job *j, pb_status status, uint32_t winner, const char *sentence);
bool job_stopped(const job *j);
void job_tell_row(job *j, const pb_plan_result *planned, uint32_t index);

#endif
