/* store.h -- the graphs, jobs and plans that the server keeps, and forgets when they take too much memory.
 *
 * Everything handed out is held by a count: it stays until it is released, though the store may have forgotten it by then.
 * Numbers are never given twice, so that the store can tell what is gone from what never was.
 */
#ifndef PEBBLE_SERVER_STORE_H
#define PEBBLE_SERVER_STORE_H

#include "pebble/full.h"

#include <pthread.h>
#include <stdatomic.h>

struct event_log;

typedef struct stored_graph {
    uint64_t number;
    char *name; /* of the file, or as the graph calls itself */
    const pb_graph *g;
    char hash[PB_HASH_TEXT];
    pb_info facts;
    bool training;
    pb_context ctx; /* of the arena; nobody uses it once the graph is stored */
    pb_arena arena;
    /* The store's own. */
    unsigned held;
    uint64_t used_at;
    struct stored_graph *next;
} stored_graph;

typedef struct stored_plan {
    uint64_t number; /* 0: none, the strategy found no plan */
    pb_plan_result planned;
} stored_plan;

typedef struct job {
    uint64_t number;
    stored_graph *graph;
    struct job_spec *spec; /* in the arena */
    struct event_log *log;
    pb_context ctx; /* the worker's, while it runs */
    pb_arena arena;
    atomic_bool stop;
    bool ended;
    /* The store's own: plans under its lock, as they come. */
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
    uint64_t graph_numbers, job_numbers, plan_numbers; /* given so far */
    uint64_t clock;
    size_t most_bytes;
} store;

typedef enum lookup { FOUND_IT, FOUND_GONE, FOUND_NEVER } lookup;

void store_init(store *s, size_t most_bytes);
/* Forgets everything; whoever holds something still does. */
void store_release(store *s);

/* Takes a graph that is filled but for the number. If the same is there already it is returned instead, and this one
 * freed. The result is held for the caller. */
stored_graph *store_add_graph(store *s, stored_graph *graph);
lookup store_graph(store *s, uint64_t number, stored_graph **out);
void store_hold_graph(store *s, stored_graph *graph);
void store_release_graph(store *s, stored_graph *graph);

/* Takes a job: it is numbered, and held once for the caller (and by the store). */
void store_add_job(store *s, job *j);
lookup store_job(store *s, uint64_t number, job **out);
void store_hold_job(store *s, job *j);
void store_release_job(store *s, job *j);
/* Counts a job's memory, from when it has ended, and forgets others where that is too much. */
void store_end_job(store *s, job *j);
void store_forget_job(store *s, job *j);

/* Adds a plan; its number, or 0 when memory is out or there is no plan. */
uint64_t store_add_plan(store *s, job *j, const pb_plan_result *planned);
/* What was learned of a plan later: bounds, gap, outcome. */
void store_update_plan(store *s, job *j, uint64_t number, const pb_plan_result *planned);
/* A copy of the plan and its job, held. */
lookup store_plan(store *s, uint64_t number, job **of, pb_plan_result *out);

/* A graph to fill, with its context and arena set up; NULL when memory is out. */
stored_graph *graph_new(size_t most_bytes);
void graph_free(stored_graph *graph);

#endif
