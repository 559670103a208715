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
    PB_TRAIT_LINEAR = 1,      /* nearly linear time: it has a plan of a large graph soon */
    PB_TRAIT_EXHAUSTIVE = 2,  /* looks at every way to play, whatever the shape of the graph: for small graphs */
    PB_TRAIT_QUICK = 4,       /* cheap enough to be tried at many caps on large graphs */
    PB_TRAIT_SOLVER = 8,      /* needs Cbc or CaDiCaL, which may not be built in */
    PB_TRAIT_ANY_CAP = 16,    /* makes the same plan at every cap that this plan fits */
    PB_TRAIT_CHAINS = 32,     /* made for chains: it gives up on other graphs */
    PB_TRAIT_TREES = 64,      /* made for trees, likewise */
    PB_TRAIT_USUAL = 128,     /* a usual choice of its field: shown first, and next to others */
    PB_TRAIT_RECURSION = 256, /* the field's textbook recursion, shown on exact fronts */
} pb_trait;

/* One row of strategies.def. `options` lists the strategy's own keys, one per line:
 * "key=default|what it does". */
typedef struct pb_strategy {
    const char *name;
    unsigned games; /* pb_game_kind bits */
    pb_strength strength;
    const char *summary, *options;
    bool takes_policy;
    unsigned traits; /* pb_trait bits */
} pb_strategy;

const pb_strategy *pb_strategies(uint32_t *count);
const pb_strategy *pb_strategy_find(const char *name);

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
