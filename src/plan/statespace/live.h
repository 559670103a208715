/* live.h -- the least work of a small remat game, by search over what is in memory.
 *
 *     pbi_live *live;
 *     pbi_live_new(ctx, game, &scratch, &live);     NULL: too large
 *     pbi_live_solve(live, bytes, 0, &answer);
 *     if (answer.own) pbi_live_emit(ctx, game, live, &scratch, plan);
 *
 * A state is what is resident, and which targets and once-only nodes were ever computed. docs/strategies/exact.md says
 * why the rules that leave states out lose no best plan.
 */
#ifndef PBI_PLAN_STATESPACE_LIVE_H
#define PBI_PLAN_STATESPACE_LIVE_H

#include "pebble/game.h"
#include "plan/sequence/sequence.h"
#include "plan/statespace/set.h"

#define PBI_LIVE_NEVER UINT64_MAX

/* The game in bits. Values have places so that what reads a value comes before it, and a node's by-products stand right
 * before the node; behind the values come the marks of what must be known to have been computed. */
typedef struct pbi_live_model {
    uint32_t count; /* values */
    uint32_t bits;  /* with the marks */
    pb_node node[PBI_LIVE_BITS];
    uint8_t maker[PBI_LIVE_BITS]; /* per value: the place of the node that makes it */
    uint64_t size[PBI_LIVE_BITS];
    pbi_set values, makers; /* all of them; those that can be computed */
    pbi_set given, once, keep, once_marks, target_marks;
    pbi_set start;
    pbi_set lasting, costless; /* values that cannot be made again, or at no cost */
    uint64_t room;             /* the cap without what is always in use */

    /* Per node that is computed. */
    uint64_t cost[PBI_LIVE_BITS], workspace[PBI_LIVE_BITS];
    uint64_t least[PBI_LIVE_BITS];  /* no computation of it takes less memory */
    uint64_t weight[PBI_LIVE_BITS]; /* size of all that it makes */
    pbi_set in[PBI_LIVE_BITS], inplace[PBI_LIVE_BITS];
    pbi_set outs[PBI_LIVE_BITS];  /* itself and its by-products */
    pbi_set marks[PBI_LIVE_BITS]; /* per value: what its computation marks */
    uint8_t cheap[PBI_LIVE_BITS]; /* nodes by rising cost per size */
    uint32_t cheap_count;

    pbi_set readers[PBI_LIVE_BITS];         /* per value: the nodes that read it */
    uint8_t marked[PBI_LIVE_BITS];          /* per mark: its value */
    uint8_t large_first[PBI_LIVE_BITS];     /* values by falling size */
    uint64_t eight[PBI_LIVE_BITS / 8][256]; /* size of each choice of eight neighbours */
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
    uint64_t work;                  /* of those, once each */
    uint64_t useful[PBI_LIVE_BITS]; /* per value: a continuation that reads it does at least this much more */
} pbi_live_view;

/* Room for the sums of pbi_live_extra, all zero between calls but for the hint. */
typedef struct pbi_live_sums {
    pbi_set made[PBI_LIVE_BITS], read[PBI_LIVE_BITS], before[PBI_LIVE_BITS];
    unsigned hint; /* the node that cost most of late; whatever it is, the answers are right */
} pbi_live_sums;

/* What is missing. False: no continuation ends. */
bool pbi_live_look(const pbi_live_model *m, pbi_set state, pbi_live_view *view);
/* After pbi_live_look: work beyond view->work that the cap costs every continuation, PBI_LIVE_NEVER when none ends.
 * It looks no further once it is more than `enough`. */
uint64_t pbi_live_extra(const pbi_live_model *m, pbi_set state, const pbi_live_view *view, uint64_t enough,
                        pbi_live_sums *sums);
/* After pbi_live_look: fills view->useful. */
void pbi_live_use(const pbi_live_model *m, pbi_set state, pbi_live_view *view);
/* Nodes that cannot be computed any more, or never could. */
pbi_set pbi_live_spent(const pbi_live_model *m, pbi_set state);

typedef struct pbi_live pbi_live;

typedef enum pbi_live_end {
    PBI_LIVE_PROVED,     /* the plan is the best */
    PBI_LIVE_INFEASIBLE, /* proved: there is none */
    PBI_LIVE_STOPPED,    /* ticks, the clock, or the limit: the plan, if any, is the best known */
} pbi_live_end;

typedef struct pbi_live_answer {
    pbi_live_end end;
    pb_status status; /* with STOPPED: PB_ELIMIT, PB_ECANCELLED; PB_OK for the limit in bytes */
    uint64_t work;    /* of the plan; PBI_LIVE_NEVER: there is none */
    bool own;         /* false: the plan is the one that was told of */
    uint64_t bound;   /* no plan has less work */
    uint64_t states;  /* looked at */
    bool overflow;    /* plans whose work passes 2^64 were left out */
} pbi_live_answer;

/* *out is NULL when the game has too many values. `bound`: work that no plan is below. */
pb_status pbi_live_new(pb_context *ctx, const pb_game *game, uint64_t bound, pb_arena *arena, pbi_live **out);
/* Begins with these nodes of the game in memory, instead of the given ones. Before the first search. */
void pbi_live_set_start(pbi_live *live, const bool *there);
/* Tells of a plan with this work that is at hand: only cheaper ones are looked for. */
void pbi_live_set_known(pbi_live *live, uint64_t work);
/* The work of the best plan known, PBI_LIVE_NEVER for none; *own: found here, not told of. */
uint64_t pbi_live_known(const pbi_live *live, bool *own);
/* Searches with at most about this many bytes for states, and at about this many states (0: all). May be called again, to
 * go on with what is known by then. PB_ENOMEM or PB_OK. */
pb_status pbi_live_solve(pbi_live *live, uint64_t bytes, uint64_t looks, pbi_live_answer *out);
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
