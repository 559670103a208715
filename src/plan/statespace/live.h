/* live.h -- the least work of a small remat game, by search over what is in memory.
 *
 *     pbi_live *live;
 *     pbi_live_new(ctx, game, &scratch, &live);     NULL: too large
 *     pbi_live_solve(live, bytes, 0, &answer);
 *     if (answer.own) pbi_live_emit(ctx, game, live, &scratch, plan);
 *
 * A state is what is resident, and which targets and once-only nodes were ever computed. docs/strategies/exact.md
 * explains why the rules that leave states out lose no best plan.
 */
#ifndef PBI_PLAN_STATESPACE_LIVE_H
#define PBI_PLAN_STATESPACE_LIVE_H

#include "pebble/game.h"
#include "plan/sequence/sequence.h"
#include "plan/statespace/set.h"

#define PBI_LIVE_NEVER UINT64_MAX

/* The game in bits. The readers of a value have lower bits than the value, and a node's by-products come right
 * before the node; behind the values come the marks of what must be known to have been computed. */
typedef struct pbi_live_model {
    uint32_t count; /* values */
    uint32_t bits;  /* with the marks */
    pb_node node[PBI_LIVE_BITS];
    uint8_t maker[PBI_LIVE_BITS]; /* per value: the bit of the node that computes it */
    uint64_t size[PBI_LIVE_BITS];
    pbi_set values, makers; /* all of them; those that can be computed */
    pbi_set given, once, keep, once_marks, target_marks;
    pbi_set start;
    pbi_set lasting, costless; /* values that cannot be recomputed, or at no cost */
    uint64_t room;             /* the cap minus what is always in use */

    /* Per node that is computed. */
    uint64_t cost[PBI_LIVE_BITS], workspace[PBI_LIVE_BITS];
    uint64_t min_memory[PBI_LIVE_BITS]; /* a lower bound on the memory of any computation of it */
    uint64_t weight[PBI_LIVE_BITS];     /* size of all its results */
    pbi_set in[PBI_LIVE_BITS], inplace[PBI_LIVE_BITS];
    pbi_set outs[PBI_LIVE_BITS];  /* itself and its by-products */
    pbi_set marks[PBI_LIVE_BITS]; /* per value: the marks that its computation sets */
    uint8_t cheap[PBI_LIVE_BITS]; /* nodes by rising cost per size */
    uint32_t cheap_count;

    pbi_set readers[PBI_LIVE_BITS];         /* per value: the nodes that read it */
    uint8_t marked[PBI_LIVE_BITS];          /* per mark: its value */
    uint8_t large_first[PBI_LIVE_BITS];     /* values by falling size */
    uint64_t eight[PBI_LIVE_BITS / 8][256]; /* size of each subset of eight neighbours */
} pbi_live_model;

/* Size of all values in a set. */
static inline uint64_t pbi_live_size(const pbi_live_model *m, pbi_set set)
{
    uint64_t sum = 0;
    for (unsigned k = 0; k < PBI_LIVE_BITS / 8; k++)
        sum += m->eight[k][set.w[k >> 3] >> (k & 7) * 8 & 255];
    return sum;
}

/* False when the game has too many values for the bits. */
bool pbi_live_model_make(const pb_game *game, pbi_live_model *m);

/* What is known of a state. */
typedef struct pbi_live_view {
    pbi_set missing;             /* nodes that every continuation computes */
    uint8_t list[PBI_LIVE_BITS]; /* the same, readers first */
    uint32_t listed;
    uint64_t work; /* of those, once each */
    /* per value: a continuation that reads it does at least this much additional work */
    uint64_t useful[PBI_LIVE_BITS];
} pbi_live_view;

/* Buffers for the sums of pbi_live_extra, all zero between calls except for the hint. */
typedef struct pbi_live_sums {
    pbi_set made[PBI_LIVE_BITS], read[PBI_LIVE_BITS], before[PBI_LIVE_BITS];
    unsigned hint; /* the node that cost most recently; any value gives correct results */
} pbi_live_sums;

/* Finds what is missing. False: no continuation reaches the end. */
bool pbi_live_find_missing(const pbi_live_model *m, pbi_set state, pbi_live_view *view);
/* After pbi_live_find_missing: work beyond view->work that the cap costs every continuation, PBI_LIVE_NEVER if none
 * reaches the end. Stops once it exceeds `enough`. */
uint64_t pbi_live_extra(const pbi_live_model *m, pbi_set state, const pbi_live_view *view, uint64_t enough,
                        pbi_live_sums *sums);
/* After pbi_live_find_missing: fills view->useful. */
void pbi_live_find_useful(const pbi_live_model *m, pbi_set state, pbi_live_view *view);
/* Nodes that can no longer be computed, or never could. */
pbi_set pbi_live_spent(const pbi_live_model *m, pbi_set state);

typedef struct pbi_live pbi_live;

typedef enum pbi_live_end {
    PBI_LIVE_PROVED,     /* the plan is optimal */
    PBI_LIVE_INFEASIBLE, /* proved: there is no plan */
    PBI_LIVE_STOPPED,    /* ticks, the clock, or the limit: the plan, if any, is the best known */
} pbi_live_end;

typedef struct pbi_live_answer {
    pbi_live_end end;
    pb_status status; /* with STOPPED: PB_ELIMIT, PB_ECANCELLED; PB_OK for the limit in bytes */
    uint64_t work;    /* of the plan; PBI_LIVE_NEVER: there is none */
    bool own;         /* false: the plan is the one of pbi_live_set_known */
    uint64_t bound;   /* no plan has less work */
    uint64_t states;  /* number of states expanded */
    bool overflow;    /* plans whose work exceeds 2^64 were left out */
} pbi_live_answer;

/* *out is NULL when the game has too many values. `bound`: a lower bound on the work of every plan. */
pb_status pbi_live_new(pb_context *ctx, const pb_game *game, uint64_t bound, pb_arena *arena, pbi_live **out);
/* Starts with these nodes of the game in memory, instead of the given ones. Before the first search. */
void pbi_live_set_start(pbi_live *live, const bool *resident);
/* A plan with this work is known: only cheaper ones are searched for. */
void pbi_live_set_known(pbi_live *live, uint64_t work);
/* The work of the best plan known, PBI_LIVE_NEVER for none; *own: found here, not by pbi_live_set_known. */
uint64_t pbi_live_known(const pbi_live *live, bool *own);
/* Searches with at most about this many bytes for states, and about this many states (0: all). May be called again,
 * to continue with what is known by then. PB_ENOMEM or PB_OK. */
pb_status pbi_live_solve(pbi_live *live, uint64_t bytes, uint64_t expanded, pbi_live_answer *out);
/* Appends the moves of the plan; plan->outcome is PB_FOUND then. */
pb_status pbi_live_emit(pb_context *ctx, const pb_game *game, const pbi_live *live, pb_arena *scratch, pbi_plan *plan);

/* One computation of a plan, and the state after it. */
typedef struct pbi_live_step {
    uint8_t node;
    pbi_set set;
} pbi_live_step;
const pbi_live_step *pbi_live_plan(const pbi_live *live, size_t *count);
const pbi_live_model *pbi_live_model_of(const pbi_live *live);

#endif
