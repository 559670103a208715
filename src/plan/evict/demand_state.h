/* demand_state.h -- the state of demand-driven planning for the remat and tiered games, shared by its three files: what
 * demand_prepare.c sets up, demand_estimate.c reads, and demand_forward.c changes. */
#ifndef PBI_PLAN_EVICT_DEMAND_STATE_H
#define PBI_PLAN_EVICT_DEMAND_STATE_H

#include "plan/evict/comebacks.h"
#include "plan/evict/demand.h"

#define PBI_DEMAND_REMOVED 0x80000000u

/* A computation that waits for its inputs. Inputs are numbered: those of the graph as in its rows, and behind them
 * those of all recipes. */
typedef struct pbi_demand_frame {
    pb_node node;
    uint32_t by;        /* recipe; 0: by its own inputs */
    uint32_t next, end; /* next input to fetch */
    uint32_t kept;      /* values pinned for frames above it, from here on in `kept` */
} pbi_demand_frame;

typedef struct pbi_demand {
    pb_context *ctx;
    const pb_game *game;
    const pb_graph *g;
    const pbi_demand_options *options;
    pbi_plan *plan;
    pb_arena scratch;
    pbi_sequence s;
    pbi_evict e;

    pbi_comebacks back; /* how values that have no computation of their own come back */
    uint8_t *existed;
    uint8_t *resident;
    uint32_t *pins;  /* frames that hold the value */
    uint8_t *held;   /* per input: its reader holds it */
    uint32_t *uses;  /* reads in the order that are not reached yet */
    uint32_t *open;  /* needed readers that may still be recomputed */
    uint32_t *alive; /* per unit: members that may still be read */
    uint8_t *placed; /* per unit: its last place in the order has been passed */
    uint8_t *parked; /* the plan that is followed has removed the value */
    uint32_t *left;  /* per unit: places in the order that are not reached yet */
    uint32_t *order; /* nodes to compute, or with REMOVED, values that the plan removes */
    size_t order_count;
    uint8_t *requested; /* by-products that a frame waits for */
    uint8_t *tier;      /* slow tier that holds the value, 0 none; NULL without tiers */
    uint64_t slow_used[PB_MAX_TIERS];
    pbi_demand_frame *stack;
    uint8_t *waiting; /* per unit: a frame computes one of its members */
    uint32_t *seen;   /* per node or unit: the last estimate that counted it */
    uint32_t stamp;
    bool rough;    /* an estimate that goes too far counts what it has seen, twice */
    pb_node *kept; /* values that missing inputs of recipes are recomputed from, pinned until the recipe is done */
    size_t kept_count, kept_room;
    uint32_t depth;
    pb_node *to_retire;
    uint64_t memory;
    pb_step step;      /* moves so far, by this planner's count */
    uint64_t examined; /* candidates that evictions have examined since the last tick */
    bool stuck;
} pbi_demand;

static inline bool pbi_demand_reads(const pb_graph *g, pb_node reader) { return g->flags[reader] & PB_NODE_NEEDED; }

/* Members of a unit: the node and its needed by-products. Calls for each. */
static inline uint32_t pbi_demand_member_count(const pb_graph *g, pb_node v)
{
    return 1 + (g->flags[v] & PB_NODE_HAS_PARTS ? g->part_start[v + 1] - g->part_start[v] : 0);
}

static inline pb_node pbi_demand_member(const pb_graph *g, pb_node v, uint32_t i)
{
    return i ? g->part[g->part_start[v] + i - 1] : v;
}

/* The order, its counts, and what is in memory at the start. */
pb_status pbi_demand_prepare(pbi_demand *d);

/* demand_forward.c: a frame, or an estimate, holds v. */
void pbi_demand_pin(pbi_demand *d, pb_node v);
/* Does a recipe that reads v bring back a value that is gone and that the order will read? */
bool pbi_demand_brings_back(const pbi_demand *d, pb_node v);

/* Work of recomputing u by its own inputs, or of loading it. */
uint64_t pbi_demand_own_cost(pbi_demand *d, pb_node u);
/* Work of a recipe of u, with that of its missing inputs; with `keep`, what is resident and read is pinned. */
uint64_t pbi_demand_recipe_cost(pbi_demand *d, pb_node u, uint32_t by, bool keep);
/* The recipe of u that costs least, if it costs no more than `other`; 0 if there is none. */
uint32_t pbi_demand_best_recipe(pbi_demand *d, pb_node u, uint64_t other);
/* A scorer for the policy `priority`; *state is of no use to others. */
pbi_evict_scorer pbi_demand_scorer(pbi_demand *d);

#endif
