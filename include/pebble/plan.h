/* plan.h -- the list of strategies. Plans are made through api.h, which verifies them. */
#ifndef PEBBLE_PLAN_H
#define PEBBLE_PLAN_H

#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A baseline is a reference that another strategy is never worse than: comparisons show it, portfolios skip it. An
 * anytime strategy improves the longer it runs: portfolios give it the remaining time. */
typedef enum pb_strength { PB_HEURISTIC, PB_EXACT, PB_PORTFOLIO, PB_BASELINE, PB_ANYTIME } pb_strength;

/* When it is worth asking a strategy. Portfolios, the search for the smallest cap and the page choose by these, never
 * by names. */
typedef enum pb_trait {
    PB_TRAIT_LINEAR = 1,         /* nearly linear time: it has a plan of a large graph soon */
    PB_TRAIT_EXHAUSTIVE = 2,     /* looks at every way to play, whatever the shape of the graph: for small graphs */
    PB_TRAIT_QUICK = 4,          /* cheap enough to be tried at many caps on large graphs */
    PB_TRAIT_SOLVER = 8,         /* needs Cbc or CaDiCaL, which may not be built in */
    PB_TRAIT_ANY_CAP = 16,       /* makes the same plan at every cap that this plan fits */
    PB_TRAIT_CHAINS = 32,        /* made for chains: it gives up on other graphs */
    PB_TRAIT_TREES = 64,         /* made for trees, likewise */
    PB_TRAIT_USUAL = 128,        /* a usual choice of its field: shown first, and next to others */
    PB_TRAIT_RECURSION = 256,    /* the field's textbook recursion, shown on exact fronts */
    PB_TRAIT_RECIPES = 512,      /* uses recipes; others ignore them, and prove nothing about graphs with some */
    PB_TRAIT_COMPARED = 1024,    /* a row of every comparison */
    PB_TRAIT_INTERVALS = 2048,   /* keeps values at fixed intervals or depths of the order */
    PB_TRAIT_CHECKPOINTS = 4096, /* keeps checkpoints of the forward pass and recomputes what is between them */
    PB_TRAIT_FILE = 8192,        /* plans what a file says, its option `file`: only runs where it is named */
    PB_TRAIT_MOVES = 16384,      /* that file is a schedule or a list of computations */
} pb_trait;

/* One row of strategies.def. `options` lists the strategy's own keys, one per line:
 * "key=default|what it does". */
typedef struct pb_strategy {
    const char *name;
    unsigned games; /* pb_game_kind bits */
    pb_strength strength;
    const char *summary, *options;
    bool takes_policy; /* evicts by the policy itself; the others only evict when their plan does not fit the cap */
    unsigned traits;   /* pb_trait bits */
} pb_strategy;

const pb_strategy *pb_strategies(uint32_t *count);
/* By its name or its title; NULL if there is none. */
const pb_strategy *pb_strategy_find(const char *name);
/* The name that the literature on pebbling gives it, which pb_strategy_find accepts as well: "baseline" for cache-all,
 * "program-order" for last-use, "reversible" for bennett; NULL: it has no other name. */
const char *pb_strategy_title(const pb_strategy *row);

/* Groups of strategies that a comparison can be reduced to: "paper", "partial", "checkpoint", "reversible", ... A
 * strategy may be in several. */
typedef struct pb_group {
    const char *name, *summary;
} pb_group;
const pb_group *pb_groups(uint32_t *count);
/* Is the strategy in the group with this name? False for unknown names. */
bool pb_group_has(const char *group, const pb_strategy *row);

typedef struct pb_policy {
    const char *name, *summary;
} pb_policy;
/* abort, oldest, least-recent, random, largest, priority. */
const pb_policy *pb_policies(uint32_t *count);

/* The version of Cbc that milp and lp-rounding use, "2.10.8"; NULL if the library was built without it. */
const char *pb_solver_version(void);
/* The version of CaDiCaL that sat uses, by its own name: "sc2021"; NULL likewise. */
const char *pb_sat_version(void);

#ifdef __cplusplus
}
#endif
#endif
