/* lanes.h -- plans of the timed game on one processor: what is computed in which order, and which values are copied
 * out and fetched back in between.
 *
 * A plan is a sequence of computations with repeats, each by a node's own inputs or by one of its recipes. Each use
 * of an input ends a gap in the life of the input's value, which begins at its previous use, or when it was made. For
 * each use a bit says whether the value is fetched: it is then out of memory during the gap. Everything else follows.
 * A computation makes the by-products that are used before the next computation of their node, and overwrites an
 * input where it may and the input is not needed after it. Values are freed after their last use, copied out once,
 * when they are made, and fetched in the order of their uses, as early as a distance in computations and the memory
 * allow. Start times come from a simulation (pbi_lanes_decode). */
#ifndef PBI_PLAN_LANES_LANES_H
#define PBI_PLAN_LANES_LANES_H

#include "base/rng.h"
#include "plan/strategy.h"

enum { PBI_LANES_MAX_FETCH = 64, PBI_LANES_MAX_DISTANCE = 1 << 16 };

/* How a value can be computed: node v's own inputs are number v, recipe r is number node_count + r. */
typedef struct pbi_lane_way {
    const pb_node *in;
    uint64_t duration, workspace;
    pb_node node;
    uint32_t in_count;
    uint32_t over_start, over_count; /* in-place inputs, in pbi_lanes.over */
    uint32_t part_count;             /* by-products, which are `part` of the graph; 0 of a recipe */
} pbi_lane_way;

/* An input that may be overwritten. */
typedef struct pbi_lane_over {
    uint32_t input; /* its number among the inputs */
    uint64_t saved; /* memory */
} pbi_lane_over;

/* One computation of the sequence. */
typedef struct pbi_lane_step {
    uint32_t way;
    uint32_t distance; /* its inputs are fetched at most this many computations ahead */
    uint64_t fetch;    /* bit k: its k-th input is fetched; later inputs never are */
} pbi_lane_step;

typedef struct pbi_lanes_plan {
    pbi_lane_step *step;
    uint32_t count;
} pbi_lanes_plan;

/* What happens to a value after a use, or after it was made. A by-product may be absent: it is not made. */
enum { PBI_LANES_FREE, PBI_LANES_KEEP, PBI_LANES_EVICT, PBI_LANES_ABSENT };
#define PBI_NEVER UINT32_MAX
#define PBI_AT_START (UINT32_MAX - 1)

/* What follows from a sequence, found by pbi_lanes_check. Uses are numbered: those of computation i begin at
 * use_start[i], in the order of the inputs. So are outputs: those of computation i begin at make_start[i], the value
 * of its node first, then its by-products. */
typedef struct pbi_lanes_facts {
    uint32_t *use_start, *make_start;
    uint32_t *from;                  /* by use: the computation after which its gap begins, or PBI_AT_START */
    uint8_t *after_use;              /* by use */
    uint8_t *after_make;             /* by output */
    uint8_t *after_start;            /* by node: of a given value */
    uint64_t *load;                  /* by computation: memory during it, if nothing is fetched early or leaves late */
    uint32_t *over;                  /* by computation: the number of the input that it overwrites, or PBI_NEVER */
    uint32_t *touched, *touched_use; /* by node, while checking: its last use, or PBI_NEVER since it was made */
    uint32_t *output;                /* by node, while checking: its last output */
    uint32_t worst;                  /* the computation with the largest load; the plan fits if that fits */
} pbi_lanes_facts;

struct pbi_lanes_run;

/* What does not change during planning, and scratch memory. */
typedef struct pbi_lanes {
    pb_context *ctx;
    const pb_game *game;
    const pb_graph *g;
    const uint64_t *duration; /* by node, on the processor */
    pbi_lane_way *way;
    pbi_lane_over *over;
    uint32_t way_count, most_parts;       /* most_parts: of one node */
    uint32_t memory;                      /* of the processor */
    uint64_t cap, fixed;                  /* of that memory */
    bool can_fetch;                       /* there is a memory with links from and to it */
    uint32_t out, in, host;               /* the links and that memory */
    bool one_lane;                        /* the links share a lane */
    uint64_t host_room;                   /* what copies may take there */
    uint64_t *out_time, *in_time;         /* by node */
    uint64_t total;                       /* durations of the needed nodes, once each */
    uint32_t most, most_uses, most_makes; /* computations, uses and outputs that a plan may have */
    pbi_lanes_facts facts;
    struct pbi_lanes_run *run;
} pbi_lanes;

/* Sets everything up. PB_OK with *applies false, and a reason in the plan, if this form has no plan for the game. */
pb_status pbi_lanes_init(pbi_lanes *l, const pb_game *game, pb_arena *arena, pbi_plan *plan, bool *applies);
/* An empty plan; false without memory. */
bool pbi_lanes_new(const pbi_lanes *l, pb_arena *arena, pbi_lanes_plan *p);
void pbi_lanes_copy(pbi_lanes_plan *to, const pbi_lanes_plan *from);
/* The computations of a plan in the remat or tiered game; what the latter loads is fetched. False if they are too
 * many. */
bool pbi_lanes_take(const pbi_lanes *l, const pb_moves *moves, pbi_lanes_plan *p);
/* Every needed node once, in program order, nothing fetched but what starts in the other memory. */
void pbi_lanes_program(const pbi_lanes *l, pbi_lanes_plan *p);

static inline const pbi_lane_way *pbi_lanes_way(const pbi_lanes *l, const pbi_lane_step *s) { return &l->way[s->way]; }
/* Output k of a way. */
static inline pb_node pbi_lanes_output(const pbi_lanes *l, const pbi_lane_way *w, uint32_t k)
{
    return k ? l->g->part[l->g->part_start[w->node] + k - 1] : w->node;
}

/* Finds the facts. False if a computation reads a value that does not exist then, or there are too many uses. */
bool pbi_lanes_check(const pbi_lanes *l, const pbi_lanes_plan *p);
static inline bool pbi_lanes_fits(const pbi_lanes *l, const pbi_lanes_plan *p)
{
    return p->count == 0 || l->facts.load[l->facts.worst] <= l->cap;
}
/* The number of the input of step i that is fetched or may be: whether bit k counts. */
static inline bool pbi_lanes_fetches(const pbi_lane_step *s, uint32_t k)
{
    return k < PBI_LANES_MAX_FETCH && s->fetch >> k & 1;
}

/* The makespan of a plan that fits, right after its check; UINT64_MAX if copies need more room than there is in the
 * other memory. `moves` NULL, or receives the moves; *status is then what went wrong with that. */
uint64_t pbi_lanes_decode(const pbi_lanes *l, const pbi_lanes_plan *p, pb_moves *moves, pb_status *status);
bool pbi_lanes_run_new(pbi_lanes *l, pb_arena *arena);

/* How memory is made where there is too little: by values that are fetched, the largest and longest gaps first; the
 * largest values; those whose next use is farthest away; those that cost least for each unit of memory, which may be
 * recomputed; or by random ones, fetched or recomputed. */
typedef enum pbi_lanes_relief {
    PBI_RELIEF_FETCH,
    PBI_RELIEF_LARGEST,
    PBI_RELIEF_FARTHEST,
    PBI_RELIEF_CHEAPEST,
    PBI_RELIEF_MIXED
} pbi_lanes_relief;
/* In a few passes over the plan, by a rule that is not MIXED; checked then. False if it does not fit. */
bool pbi_lanes_sweep(const pbi_lanes *l, pbi_lanes_plan *p, pbi_lanes_relief relief, pb_arena *arena);
/* Fetches (FETCH) or recomputes values (MIXED), one after the other, until the plan fits; checked then. False if it
 * does not work. */
bool pbi_lanes_repair(const pbi_lanes *l, pbi_lanes_plan *p, pbi_lanes_relief relief, uint32_t tries, pbi_rng *rng);
/* A random change, repaired and checked; false: nothing came of it. The plan was checked before. */
bool pbi_lanes_change(const pbi_lanes *l, pbi_lanes_plan *p, pbi_rng *rng);

/* Appends the moves of a plan that fits; the outcome is found. */
pb_status pbi_lanes_emit(const pbi_lanes *l, const pbi_lanes_plan *p, pbi_plan *plan);

#endif
