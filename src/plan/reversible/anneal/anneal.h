/* anneal.h -- simulated annealing on a reversible pebbling. */
#ifndef PBI_PLAN_REVERSIBLE_ANNEAL_ANNEAL_H
#define PBI_PLAN_REVERSIBLE_ANNEAL_ANNEAL_H

#include "plan/reversible/anneal/propose.h"

/* A plan as the units that change, in their order; none: count 0. */
typedef struct pbi_rev_list {
    uint32_t *unit;
    uint32_t count;
} pbi_rev_list;

typedef struct pbi_rev_anneal {
    pb_context *ctx;
    const pbi_rev_model *m;
    pbi_rev_spans l;
    pbi_rng rng;
    pbi_rev_proposer p;
    double price, temperature; /* of a unit of excess; of work */
    double base_price;         /* an average cost for an average size */
    int32_t cap;               /* the target; the current cap is the profile's */
    int32_t limit;             /* the game's: plans within it count */

    pbi_rev_list best; /* the cheapest within the cap, or within the limit if the peak has a weight, since the start */
    double best_cost;  /* of work, flux and peak; INFINITY: none */
    int32_t best_peak;
    uint32_t *order; /* buffer for spreading the moves again */
    uint64_t accepted;

    /* Callback for these plans, unless NULL: their peak and makespan. */
    void (*better)(void *state, uint64_t peak, uint64_t makespan);
    void *better_state;
} pbi_rev_anneal;

typedef struct pbi_rev_course {
    uint64_t proposals;
    int32_t loosest;          /* cap to start with: while it falls to the target, the temperature stays; 0: none */
    double hot, cold;         /* in average costs of a move */
    double price_from, price; /* of a unit of excess, first and last, in average costs for an average size */
    double enough;            /* lower bound on the cost */
} pbi_rev_course;

/* Caps are in the model's units. */
bool pbi_rev_anneal_init(pbi_rev_anneal *a, const pbi_rev_model *m, uint64_t seed, uint32_t room, int32_t limit,
                         pb_arena *arena);
void pbi_rev_anneal_start(pbi_rev_anneal *a, const pbi_rev_list *from, int32_t cap);
pb_status pbi_rev_anneal_run(pbi_rev_anneal *a, const pbi_rev_course *course);

#endif
