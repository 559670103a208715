/* rounds.h -- rounds of annealing in parallel, one per thread, and the best of them all. */
#ifndef PBI_PLAN_ANNEAL_ROUNDS_H
#define PBI_PLAN_ANNEAL_ROUNDS_H

#include "plan/anneal/anneal.h"

enum { PBI_MAX_THREADS = 64 };

/* A plan as its events; none: count 0. */
typedef struct pbi_events {
    uint32_t *event;
    uint32_t count;
} pbi_events;

bool pbi_events_init(pbi_events *events, pb_arena *arena, uint32_t room);

typedef enum pbi_use { PBI_USE_BOTH, PBI_USE_REPEATS, PBI_USE_LOADS } pbi_use;

typedef struct pbi_round {
    const pbi_events *from;
    uint64_t cap;
    double hot, cold; /* in average costs of a node */
    uint64_t proposals;
    bool lower; /* start far above the cap and lower it step by step, with `proposals` for each step */
    /* if lower: start not at `from`, but at the result that came closest to the cap without being a plan, if any */
    bool near;
    uint32_t further; /* of pbi_anneal; 0: default */
    pbi_use use;
} pbi_round;

/* What one thread works with; its context is its own. */
typedef struct pbi_worker {
    pb_context ctx;
    pb_arena arena;
    pbi_anneal a;
    pbi_events best, rest; /* best: of the round; rest: where lowering the cap starts */
    pbi_events near;       /* the result without a plan, of rounds at the game's cap, that exceeds it least */
    uint64_t near_excess;
    double best_cost; /* with the weight of peak */
    uint64_t best_peak;
    const struct pbi_rounds *all;
    const pbi_round *round; /* to be run; NULL when it has been run */
    pb_status status;
    bool ready;
} pbi_worker;

typedef struct pbi_rounds {
    pb_context *ctx;
    const pb_game *game;
    uint32_t threads, room; /* events that a plan may have */
    uint64_t proposals;     /* of a round */
    bool loads;             /* slow memory may be used */
    double enough;          /* lower bound: nothing costs less */
    pbi_events best;
    double best_cost;
    uint64_t best_peak;
    pbi_worker *worker;
} pbi_rounds;

/* PB_ENOMEM when memory is exhausted. Must be closed in any case. */
pb_status pbi_rounds_init(pbi_rounds *r, pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                          uint64_t proposals, pb_arena *arena);
void pbi_rounds_close(pbi_rounds *r);

/* Runs `count` rounds at once, at most one per thread. A stop or a limit in any of them ends them all; what was
 * found before counts. */
pb_status pbi_rounds_run(pbi_rounds *r, const pbi_round *rounds, uint32_t count);

bool pbi_rounds_enough(const pbi_rounds *r);
/* If the peak has a weight: a cap below the best plan's peak, or its peak itself, by turns. */
uint64_t pbi_rounds_other_cap(const pbi_rounds *r, uint32_t turn);

#endif
