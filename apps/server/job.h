/* job.h -- planning in the background: job specifications, the queue, the workers. */
#ifndef PEBBLE_SERVER_JOB_H
#define PEBBLE_SERVER_JOB_H

#include "events.h"
#include "store.h"
#include "text_out.h"

typedef enum job_kind { JOB_COMPARE, JOB_PLAN, JOB_SWEEP, JOB_LEAST } job_kind;

enum { MOST_CAP_TEXTS = 64, MAX_WORKERS = 64, MAX_QUEUE = 256 };

/* What a job must do; strings are in the job's arena. */
typedef struct job_spec {
    job_kind kind;
    pb_game base;
    unsigned games; /* pb_game_kind bits; 0 in a sweep: each strategy in its own game */
    const char *strategies;
    pb_request request;
    uint64_t time_ms; /* for each strategy, or for a whole sweep; 0: no limit */
    uint64_t ticks;
    const char *caps[MOST_CAP_TEXTS]; /* of a sweep */
    uint32_t cap_count, points;
    /* While it runs. */
    uint64_t begin_ns, deadline_ns, progress_ns, incumbent_ns;
    const char *strategy_now; /* the strategy that is running */
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
    double best_score; /* of the plans of the current row */
    bool has_bound;
    uint64_t bound; /* of the current game */
} job_spec;

typedef struct job_queue {
    pthread_mutex_t lock;
    pthread_cond_t work_ready;
    job *first, *last;
    unsigned waiting;
    bool closing;
    pthread_t workers[MAX_WORKERS];
    job *running[MAX_WORKERS];
    unsigned worker_count;
    store *store;
} job_queue;

/* A job on the graph, with a reference to it; NULL if out of memory. spec is in the arena, cleared. */
job *job_new(store *s, event_hub *hub, stored_graph *graph);
void job_drop(job *j); /* only for a job that was never added */

/* Reads a control document (docs/server.md).
 *   in  machine  for a document that names none; NULL: the graph's own
 * False with a message in j->ctx.error. */
bool job_read(job *j, const char *text, size_t length, const char *machine);
/* Are the caps of a sweep sizes or ranges? False with a message in j->ctx.error. */
bool job_check_caps(job *j);

bool queue_start(job_queue *q, store *s, unsigned workers);
/* False if too many jobs wait. */
bool queue_add(job_queue *q, job *j);
/* Stops a running job, which is reported as stopping until it has ended. A waiting job ends at once. The caller must
 * hold a reference to the job. */
void queue_stop_job(job_queue *q, job *j);
/* How many jobs run and wait now. */
void queue_counts(job_queue *q, unsigned *running, unsigned *waiting);
/* Stops running jobs, drops waiting ones, ends the workers. No jobs may be added afterwards. */
void queue_stop(job_queue *q);

/* Runs the job, on a worker's thread. */
void job_run(job *j);
void job_run_sweep(job *j);
/* Sends the end of a job that was stopped before it ran. */
void job_skip(job *j);

/* Shared by the kinds of jobs. */
uint64_t job_clock(void);
void job_send_event(job *j, const char *name, text_out *text, bool merge);
void job_send_state(job *j, const char *state);
/* Sets the callbacks of j->ctx and the request's event handler. */
void job_set_callbacks(job *j);
void job_limit(job *j, uint64_t time_ms);
void job_done(job *j, pb_status status, uint32_t winner, const char *sentence);
/* Was it asked to stop? Called often while it runs. */
bool job_stopped(job *j);
void job_send_row(job *j, const pb_plan_result *planned, uint32_t index);

#endif
