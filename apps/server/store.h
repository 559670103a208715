/* store.h -- the graphs, jobs and plans that the server keeps, and evicts if they use too much memory.
 *
 * Everything returned is reference counted: it lives until it is released, even if the store has evicted it by then.
 * Numbers are never reused, so that the store can distinguish evicted items from unknown ones.
 */
#ifndef PEBBLE_SERVER_STORE_H
#define PEBBLE_SERVER_STORE_H

#include "pebble/full.h"

#include <pthread.h>
#include <stdatomic.h>

struct event_log;

typedef struct stored_graph {
    uint64_t number;
    char *name; /* of the file, or the graph's own */
    const pb_graph *g;
    char hash[PB_HASH_TEXT];
    pb_info facts;
    bool training;
    pb_context ctx; /* of the arena; unused once the graph is stored */
    pb_arena arena;
    /* Used by the store only. */
    unsigned held;
    uint64_t used_at;
    struct stored_graph *next;
} stored_graph;

typedef struct stored_plan {
    uint64_t number; /* 0: the strategy found no plan */
    pb_plan_result planned;
} stored_plan;

typedef struct job {
    uint64_t number;
    stored_graph *graph;
    struct job_spec *spec; /* in the arena */
    struct event_log *log;
    pb_context ctx; /* the worker's, while the job runs */
    pb_arena arena;
    atomic_bool stop;
    bool ended;
    /* Used by the store only; plans are added under its lock. */
    stored_plan *plans;
    uint32_t plan_count, plan_room;
    size_t bytes; /* once it has ended */
    unsigned held;
    bool forgotten;
    uint64_t used_at;
    struct job *next;       /* in the store */
    struct job *next_queue; /* waiting for a worker */
} job;

typedef struct store {
    pthread_mutex_t lock;
    stored_graph *graphs;
    job *jobs;
    uint64_t graph_numbers, job_numbers, plan_numbers; /* the last used */
    uint64_t clock;
    size_t max_bytes;
} store;

typedef enum lookup { LOOKUP_FOUND, LOOKUP_EVICTED, LOOKUP_UNKNOWN } lookup;

void store_init(store *s, size_t max_bytes);
/* Removes everything; existing references remain valid. */
void store_release(store *s);

/* Takes over a graph without a number. If an equal one is already stored, that one is returned and this one freed. The
 * caller gets a reference. */
stored_graph *store_add_graph(store *s, stored_graph *graph);
lookup store_graph(store *s, uint64_t number, stored_graph **out);
void store_hold_graph(store *s, stored_graph *graph);
void store_release_graph(store *s, stored_graph *graph);

/* Takes over a job and numbers it. The caller and the store have a reference each. */
void store_add_job(store *s, job *j);
lookup store_job(store *s, uint64_t number, job **out);
void store_hold_job(store *s, job *j);
void store_release_job(store *s, job *j);
/* Counts the memory of a job that has ended, and evicts others if it is too much. */
void store_end_job(store *s, job *j);
void store_forget_job(store *s, job *j);

/* Adds a plan, or the moves up to the one that does not fit. Returns the number; 0: there are none, or no memory. */
uint64_t store_add_plan(store *s, job *j, const pb_plan_result *planned);
/* Updates a plan with later results: bounds, gap, outcome. */
void store_update_plan(store *s, job *j, uint64_t number, const pb_plan_result *planned);
/* A copy of the plan, and a reference to its job. */
lookup store_plan(store *s, uint64_t number, job **of, pb_plan_result *out);

/* A graph to fill, with its context and arena set up; NULL if out of memory. */
stored_graph *graph_new(size_t max_bytes);
void graph_free(stored_graph *graph);

#endif
