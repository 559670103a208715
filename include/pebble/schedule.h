/* schedule.h -- a list of moves, and the records that belong to it. */
#ifndef PEBBLE_SCHEDULE_H
#define PEBBLE_SCHEDULE_H

#include "game.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t pb_step; /* 0-based position of a move */

typedef enum pb_op { PB_COMPUTE, PB_UNCOMPUTE, PB_FREE, PB_STORE, PB_LOAD, PB_DROP, PB_COPY, PB_OP_COUNT } pb_op;
const char *pb_op_name(pb_op op);
bool pb_op_parse(const char *name, size_t length, pb_op *out);

enum {
    PB_MOVE_OVER = 1,   /* arg is the input whose memory is reused */
    PB_MOVE_ALSO = 2,   /* arg indexes pb_moves.extra: over or PB_NO_NODE, count, by-products */
    PB_MOVE_BORROW = 4, /* the value is computed in borrowed memory; excludes the other flags */
};

typedef struct pb_move {
    pb_node node;
    uint32_t arg;
    uint8_t op;   /* pb_op */
    uint8_t tier; /* 1.. for store, load, drop; else 0 */
    uint8_t flags;
    uint8_t by; /* of a computation: the recipe, counted from 1; 0: by the node's own inputs */
} pb_move;

/* When and where a move of the timed game happens. */
typedef struct pb_when {
    uint64_t at;
    uint32_t place; /* computation: processor; copy: link; free: memory. An index into the machine's list */
} pb_when;

/* A growing list of moves in an arena. Only the calls below may fill it: they keep `extra` and `when` consistent. */
typedef struct pb_moves {
    pb_arena *arena;
    pb_move *move;
    pb_step count, room;
    pb_when *when; /* one per move in the timed game; else NULL */
    pb_step when_count, when_room;
    uint32_t *extra;
    size_t extra_count, extra_room;
} pb_moves;

void pb_moves_init(pb_moves *moves, pb_arena *arena);
/* A plain move; tier 0 except for store, load and drop. */
pb_status pb_moves_add(pb_moves *moves, pb_op op, pb_node node, uint8_t tier);
/* A computation; `over` may be PB_NO_NODE, `also` has also_count by-products. */
pb_status pb_moves_add_compute(pb_moves *moves, pb_node node, pb_node over, const pb_node *also, uint32_t also_count);
/* A computation by recipe `by`, counted from 1; by-products are not made by recipes. */
pb_status pb_moves_add_recipe(pb_moves *moves, pb_node node, uint32_t by, pb_node over);
/* Move k of another list. */
pb_status pb_moves_add_copy(pb_moves *moves, const pb_moves *from, pb_step k);
/* A computation whose value is made in borrowed memory. */
pb_status pb_moves_add_borrowed(pb_moves *moves, pb_node node);
/* The move that was added last happens here and then; for each move of the timed game. */
pb_status pb_moves_set_when(pb_moves *moves, uint32_t place, uint64_t at);
/* Whether every move has a time. */
bool pb_moves_timed(const pb_moves *moves);
/* The input whose memory move k reuses, or PB_NO_NODE. */
pb_node pb_moves_over(const pb_moves *moves, pb_step k);
/* How move k, a computation, computes its node. */
static inline pb_way pb_moves_way(const pb_moves *moves, const pb_graph *g, pb_step k)
{
    return pb_graph_way(g, moves->move[k].node, moves->move[k].by);
}
/* The by-products that move k makes; *count may be 0. */
const pb_node *pb_moves_also(const pb_moves *moves, pb_step k, uint32_t *count);

typedef enum pb_outcome { PB_GAVE_UP, PB_FOUND, PB_OPTIMAL, PB_INFEASIBLE } pb_outcome;
const char *pb_outcome_name(pb_outcome outcome); /* gave_up, found, optimal, infeasible */
bool pb_outcome_parse(const char *name, pb_outcome *out);

typedef enum pb_bound_kind { PB_BOUND_NONE, PB_BOUND_FREE_ORDER, PB_BOUND_FIXED_ORDER } pb_bound_kind;
const char *pb_bound_kind_name(pb_bound_kind kind); /* free-order, fixed-order; NULL for none */

typedef struct pb_metrics {
    uint64_t peak, work, io, makespan;
    uint64_t recompute, recompute_count, uncompute;
    pb_u128 flux;
    uint64_t moves, depth;
    pb_u128 cost;         /* in units of 10^-digits of the weights */
    double overhead, gap; /* gap is negative when there is no bound */
    uint64_t borrowed;    /* max borrowed memory in use */
    /* Of the timed game, in which overhead is negative with several processors, and `depth` is 0. */
    uint64_t span;         /* the longest time between a processor's first start and last end */
    const uint64_t *peaks; /* by memory of the machine; NULL in other games. Lives as long as the certificate */
} pb_metrics;

/* The metrics that a file states, as bits in the order of pb_metrics. */
enum {
    PB_STATED_PEAK = 1 << 0,
    PB_STATED_WORK = 1 << 1,
    PB_STATED_IO = 1 << 2,
    PB_STATED_MAKESPAN = 1 << 3,
    PB_STATED_RECOMPUTE = 1 << 4,
    PB_STATED_RECOMPUTE_COUNT = 1 << 5,
    PB_STATED_UNCOMPUTE = 1 << 6,
    PB_STATED_FLUX = 1 << 7,
    PB_STATED_MOVES = 1 << 8,
    PB_STATED_DEPTH = 1 << 9,
    PB_STATED_COST = 1 << 10,
    PB_STATED_OVERHEAD = 1 << 11,
    PB_STATED_GAP = 1 << 12,
    PB_STATED_BORROWED = 1 << 13,
    PB_STATED_SPAN = 1 << 14,
    PB_STATED_PEAKS = 1 << 15,
};

/* Addresses of the values of a plan, in the order of its lifetimes (pack.h). */
typedef struct pb_addresses {
    uint64_t align; /* 0: there are no addresses */
    uint64_t size;  /* of the block */
    bool minimal;   /* proved: no other addresses need a smaller block */
    const uint64_t *offset;
    uint32_t count;
} pb_addresses;

/* Everything in a schedule file. Texts live in the arena of the code that filled it. */
typedef struct pb_schedule {
    const char *graph_name;
    char graph_hash[PB_HASH_TEXT]; /* "" when unknown */
    const char *read_with;         /* as the graph's; NULL for none */
    pb_game_kind game;
    uint64_t cap, borrow; /* borrow 0: none */
    uint32_t tier_count;
    pb_tier tiers[PB_MAX_TIERS];
    /* NULL, or its first processor prices the graph, and its links the tiers that name some; in the timed game it has
     * the lanes and memories, and `cap` is that of its first memory. */
    const pb_machine *machine;
    /* Prices are decimals, and `links` (store and load of each tier) cost the same for every value of the graph. */
    bool linked;
    pb_price_link links[PB_MAX_TIERS][2];
    pb_weights weights;
    pb_objective objective; /* of the timed game */

    const char *strategy;     /* "" when unknown */
    const char *policy;       /* the policy that its strategy used; NULL: the strategy takes none */
    uint32_t priorities;      /* nodes whose priority the policy has followed */
    const char *policy_asked; /* of a portfolio's request; written in files if `policy` is NULL: it was not used */
    uint64_t seed, ticks;     /* ticks: the limit, 0 for none */
    uint32_t threads;
    const pb_option *options; /* of the strategy */
    uint32_t option_count;
    const char *version;

    pb_outcome outcome;
    const char *reason;                 /* NULL for none */
    bool has_least;                     /* if there is no plan: the two figures below are set */
    uint64_t least_proved, least_known; /* the proven minimum cap; the smallest cap with a plan, PB_UNLIMITED: none */
    const char *note; /* property of the graph that the strategy relies on: "the graph is a chain"; NULL for none */
    pb_bound_kind bound_kind;
    uint64_t lower_bound; /* of the makespan; with bound_kind */
    bool has_cost_bound;
    pb_u128 cost_bound; /* in the units of metrics.cost */
    bool has_metrics;
    uint32_t metrics_stated; /* PB_STATED_* of a file that was read; 0 with has_metrics: all */
    pb_metrics metrics;
    pb_addresses addresses;
    pb_moves moves;
} pb_schedule;

/* Decimal text of a cost under these weights: exact, no trailing zeros, with NUL. */
#define PB_COST_TEXT 56
void pb_cost_text(pb_u128 cost, const pb_weights *weights, char text[PB_COST_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
