/* work.h -- the threads of a worker, and what they share. */
#ifndef PBI_API_CAMPAIGN_WORK_H
#define PBI_API_CAMPAIGN_WORK_H

#include "api/campaign/campaign.h"
#include "store/worker.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PBI_MAX_LOADED = 64, PBI_ROW_SLOTS = 32 };

typedef struct pbi_loaded {
    pbi_campaign *campaign; /* NULL: free */
    pb_context ctx;
    pb_arena arena;
    uint64_t used;  /* when, by crew.uses */
    uint32_t users; /* threads that plan a cell of it */
} pbi_loaded;

/* A row on its way to the disk. */
typedef struct pbi_row_slot {
    bool used, ready; /* ready: to be written */
    pb_context ctx;
    pb_arena arena;
    pbi_cell lease;
    char outcome[PBI_OUTCOME_TEXT];
    pbi_bytes row;
} pbi_row_slot;

struct pbi_crew;
typedef struct pbi_hand {
    pb_context ctx;
    struct pbi_crew *c;
    bool refused;     /* the system had no memory for the cell */
    bool handed_over; /* the clerk writes its row */
    uint64_t begin_ns, spent_ns, planning_ns;
} pbi_hand;

typedef struct pbi_crew {
    pb_context *ctx;
    pb_store *store;
    const pb_work_options *options;
    uint32_t threads;
    pbi_hand *hands;
    uint64_t end_ns, timeout_ns;

    pthread_mutex_t taking; /* what follows, up to the next lock */
    pb_context list_ctx;
    pb_arena listing, watching;
    pbi_cell *list;
    uint32_t count, at, first, round; /* round: shards listed */
    uint32_t others, unknown;         /* in this round: cells of other workers; those of which nothing is known yet */
    uint64_t taken, pause_ns;
    bool over, late, enough;
    pbi_watch watch;

    pthread_mutex_t reading;
    pbi_loaded *loaded;
    uint64_t uses;
    char read_error[300], message[300];
    pb_status status;

    pthread_mutex_t beating;
    pbi_worker worker;
    uint64_t beat_ns;

    pthread_mutex_t writing;
    pbi_row_slot slots[PBI_ROW_SLOTS];

    atomic_int stopped, running;
    atomic_bool failed, clerk; /* clerk: the thread that writes rows has begun */
    atomic_uint_fast64_t done, returned, taken_over, given_up, longest_ns;
} pbi_crew;

#endif
