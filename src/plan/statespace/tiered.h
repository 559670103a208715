/* tiered.h -- the tiered game of a small graph as bits of words: model, steps, bound, search. It also plays the remat
 * game, without tiers, if the graph has recipes.
 *
 * A state is what is in fast memory, what is in each slow tier, and which targets and `once` nodes were ever
 * computed. Values leave fast memory only when room is needed, and are stored only then (docs/strategies/exact.md
 * has the proof); so a step is a computation or a load together with what is evicted for it, or a drop.
 */
#ifndef PBI_PLAN_STATESPACE_TIERED_H
#define PBI_PLAN_STATESPACE_TIERED_H

#include "plan/statespace/limits.h"
#include "plan/strategy.h"

enum { PBI_TIER_BITS = 64, PBI_TIER_PARTS = 12, PBI_TIER_NONE = 255 };
#define PBI_TIER_NEVER UINT64_MAX

/* The table keeps the words of the existing tiers only. */
typedef struct pbi_tier_state {
    uint64_t fast, ever, slow[PB_MAX_TIERS];
} pbi_tier_state;

/* One way to compute a value: by its inputs, or by a recipe. */
typedef struct pbi_tier_way {
    uint64_t in, inplace, cost, workspace;
    uint32_t by; /* 0: by its inputs */
} pbi_tier_way;

typedef struct pbi_tier_model {
    const pb_game *game;
    unsigned bits, tiers;
    pb_node node[PBI_TIER_BITS];
    uint8_t maker[PBI_TIER_BITS]; /* the node whose computation produces it: its owner, or itself */
    uint64_t in[PBI_TIER_BITS], parts[PBI_TIER_BITS], inplace[PBI_TIER_BITS];
    uint64_t cost[PBI_TIER_BITS], size[PBI_TIER_BITS], workspace[PBI_TIER_BITS];
    uint64_t store[PB_MAX_TIERS][PBI_TIER_BITS], load[PB_MAX_TIERS][PBI_TIER_BITS];
    uint64_t tier_cap[PB_MAX_TIERS];             /* PB_UNLIMITED also if all values together fit */
    uint64_t given, once, keep, targets, makers; /* makers: what is computed; targets: must be computed */
    uint64_t recovered;                          /* values with recipes */
    uint64_t min_recipe[PBI_TIER_BITS];          /* the cost of the cheapest */
    uint64_t base, cap;
    pbi_tier_state start;
} pbi_tier_model;

/* How v is computed by recipe `by`, or by its inputs (0). */
pbi_tier_way pbi_tier_way_of(const pbi_tier_model *m, unsigned v, uint32_t by);
/* False: more values than bits, or more by-products of a node than can be enumerated. */
bool pbi_tier_model_init(pbi_tier_model *m, const pb_game *game);
uint64_t pbi_tier_sizes(const pbi_tier_model *m, uint64_t set);

static inline bool pbi_tier_is_end(const pbi_tier_model *m, const pbi_tier_state *s)
{
    return !(m->targets & ~s->ever) && !(m->keep & ~s->fast);
}

/* A lower bound on the cost from a state to the end, PBI_TIER_NEVER: the end cannot be reached. *missing: the number
 * of computations and loads that it counts. */
uint64_t pbi_tier_rest(const pbi_tier_model *m, const pbi_tier_state *s, uint32_t *missing);

/* First what is evicted: stored in some tiers, then freed. Then the computation, or the load from `tier`, or only a
 * drop. */
typedef struct pbi_tier_step {
    pb_op op;
    unsigned node, tier; /* node: its bit; tier: from 0 */
    unsigned over;       /* PBI_TIER_NONE: none */
    uint32_t by;         /* recipe of a computation */
    uint64_t also, gone;
    uint64_t stored[PB_MAX_TIERS];
    uint64_t cost; /* saturated */
    pbi_tier_state next;
} pbi_tier_step;

typedef struct pbi_tier_taker {
    bool (*take)(void *state, const pbi_tier_step *step); /* every step; false: stop */
    bool (*poll)(void *state);                            /* a poll now and then; false: stop */
    void *state;
} pbi_tier_taker;
/* Every step from a state. */
void pbi_tier_steps(const pbi_tier_model *m, const pbi_tier_state *from, const pbi_tier_taker *to);

typedef enum pbi_tier_end { PBI_TIER_PROVED, PBI_TIER_INFEASIBLE, PBI_TIER_STOPPED } pbi_tier_end;
typedef struct pbi_tier_answer {
    pbi_tier_end end;
    pb_status status; /* why it was stopped; PB_OK: too many states */
    bool own;         /* a plan was written */
    bool overflow;    /* the cost of some path exceeded 2^64 */
    uint64_t cost;    /* work and io of the best plan, PBI_TIER_NEVER: none */
    uint64_t bound, states;
} pbi_tier_answer;

/* The least work and io. Without a known plan, any plan is searched for first. A plan that is better than the known one
 * is added to `moves`. PB_OK, or PB_ENOMEM. */
pb_status pbi_tier_solve(pb_context *ctx, const pbi_tier_model *m, const pbi_search_limits *limits, pb_moves *moves,
                         pbi_tier_answer *out);

/* The strategy `exact` in the tiered game. */
pb_status pbi_plan_exact_tiered(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, uint64_t limit,
                                pbi_plan *plan);

#endif
