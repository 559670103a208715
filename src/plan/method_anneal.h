/* method_anneal.h -- simulated annealing on a timeline: order and recomputation together. */
#ifndef PBI_METHOD_ANNEAL_H
#define PBI_METHOD_ANNEAL_H

#include "base/rng.h"
#include "plan/method_timeline.h"

typedef struct pbi_step_log {
    uint32_t slot;
    pb_node node;
    bool inserted;
} pbi_step_log;

typedef struct pbi_anneal {
    pb_context *ctx;
    pbi_timeline t;
    pbi_rng rng;
    double price;       /* of a unit of excess, in work */
    double temperature; /* in work */
    double unit;        /* average work of a node */
    double most;        /* work at which the proposal at hand has no chance any more */

    pbi_step_log *log; /* of the proposal at hand */
    size_t log_count, log_room;

    pb_node *best; /* the cheapest computations within the cap so far */
    uint32_t best_count, best_room;
    pb_node *order;     /* for spreading the computations anew */
    uint64_t best_work; /* UINT64_MAX: none */
    uint64_t proposals, accepted;
} pbi_anneal;

/* A start from these computations, under this cap. False when memory is exhausted. */
bool pbi_anneal_init(pbi_anneal *a, pb_context *ctx, const pb_game *game, uint64_t seed, pb_arena *arena);
bool pbi_anneal_start(pbi_anneal *a, const pb_node *events, uint32_t count, uint64_t cap);

/* So many proposals while the temperature falls from `hot` to `cold`, both in average works of a node. Stops early when
 * `enough` work is reached. */
pb_status pbi_anneal_run(pbi_anneal *a, uint64_t proposals, double hot, double cold, uint64_t enough);

#endif
