/* anneal.h -- simulated annealing on a timeline: order and recomputation together. */
#ifndef PBI_PLAN_ANNEAL_ANNEAL_H
#define PBI_PLAN_ANNEAL_ANNEAL_H

#include "base/rng.h"
#include "plan/anneal/timeline.h"

typedef struct pbi_step_log {
    uint32_t slot, event;
    bool inserted;
} pbi_step_log;

typedef struct pbi_anneal {
    pb_context *ctx;
    pbi_timeline t;
    pbi_rng rng;
    bool loads, repeats; /* what may be proposed: loads, recomputation */
    uint32_t left;       /* computations that the current proposal may still add */
    uint32_t further;    /* one in this many missing inputs is recomputed with its reader */
    double gamma, beta;  /* cost of a unit of work, of a unit of flux in the timeline's terms */
    double price;        /* of a unit of excess, as cost */
    double temperature;
    double unit;     /* average cost of a node in program order */
    double max_cost; /* cost at which the current proposal can no longer be accepted */

    pbi_step_log *log; /* of the current proposal */
    size_t log_count, log_room;

    uint32_t *best; /* the cheapest events within the cap so far */
    uint32_t best_count, best_room;
    double best_cost; /* INFINITY: none */
    uint32_t *order;  /* buffer for spreading the events evenly again */
    uint64_t proposals, accepted;

    /* Callback for every plan that is kept as the best while the cap is `better_cap` or less: its peak and makespan.
     * May be NULL. */
    void (*better)(void *state, uint64_t peak, uint64_t makespan);
    void *better_state;
    uint64_t better_cap, cap;
} pbi_anneal;

/* A start from these events, under this cap. False when memory is exhausted. */
bool pbi_anneal_init(pbi_anneal *a, pb_context *ctx, const pb_game *game, uint64_t seed, pb_arena *arena);
bool pbi_anneal_start(pbi_anneal *a, const uint32_t *events, uint32_t count, uint64_t cap);
/* The objective: the game's weights on work and flux; the peak is limited by the cap. */
double pbi_anneal_cost(const pbi_anneal *a);

/* Makes this many proposals while the temperature falls from `hot` to `cold`, both in average costs of a node. Stops
 * early when `enough` is reached. */
pb_status pbi_anneal_run(pbi_anneal *a, uint64_t proposals, double hot, double cold, double enough);

#endif
