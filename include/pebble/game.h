/* game.h -- a graph with a rule set, a cap and prices. Data only: the rules are in verify/. */
#ifndef PEBBLE_GAME_H
#define PEBBLE_GAME_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_game_kind {
    PB_GAME_REMAT = 1,
    PB_GAME_REVERSIBLE = 2,
    PB_GAME_TIERED = 4,
    PB_GAME_TIMED = 8 /* moves have start times, and several lanes of a machine work at once */
} pb_game_kind;
/* The games in which one move follows the other. */
#define PB_GAME_ALL (PB_GAME_REMAT | PB_GAME_REVERSIBLE | PB_GAME_TIERED)

const char *pb_game_kind_name(pb_game_kind kind);
/* False if the name is not one of remat, reversible, tiered, timed. */
bool pb_game_kind_parse(const char *name, pb_game_kind *out);

/* Reads `4096`, `8GiB`, `1.5GB`, `500MB`, `12.5%`, `none`.
 *   in   size_unit    of the graph; if it is a byte unit itself (KiB, MB...), byte sizes are converted, rounding down
 *        whole        100 %
 *   out  *out         PB_UNLIMITED for none
 * Percentages are rounded up, exactly. False with a sentence in `why`. */
bool pb_size_parse(const char *text, const char *size_unit, uint64_t whole, uint64_t *out, char *why, size_t room);
/* Whether the text is a percentage, so that `whole` is needed. */
bool pb_size_is_share(const char *text);
/* Reads `5s`, `500ms`, `2m`, `1h`, `1.5` (seconds). */
bool pb_time_parse(const char *text, double *seconds);

#define PB_MAX_TIERS 8

typedef struct pb_tier {
    uint64_t store_cost, load_cost;         /* per move, in 10^-digits */
    uint64_t store_per_unit, load_per_unit; /* per size unit, in 10^-digits */
    uint64_t cap;                           /* PB_UNLIMITED: none */
    uint32_t digits;                        /* of all four prices; at most PB_PRICE_DIGITS */
    /* A tier of a machine is priced as copies over these links: the fixed parts are their latencies. */
    const char *store_link, *load_link;       /* NULL: not of a machine */
    uint64_t store_bandwidth, load_bandwidth; /* size units per second, 0: not limited */
    uint64_t per_second;                      /* cost units per second; above 0 if there is a bandwidth */
} pb_tier;
#define PB_PRICE_DIGITS 9

/* The prices of a tier, in the order of its fields. */
typedef enum pb_price { PB_STORE_COST, PB_LOAD_COST, PB_STORE_PER_UNIT, PB_LOAD_PER_UNIT, PB_PRICE_COUNT } pb_price;
/* store_cost, load_cost, store_per_unit, load_per_unit */
const char *pb_price_name(pb_price which);

/* Prices from decimals such as 2, 0.04 or 4e-2; NULL means 0. A transfer costs ceil(fixed + per_unit * size).
 *   in      g         if its file has costs with decimals, prices are in the unit of that file too; NULL: unit of costs
 *   returns PB_EINVAL not a decimal; PB_ERANGE too many digits; *tier is unchanged then */
pb_status pb_tier_prices_parse(pb_context *ctx, const pb_graph *g, const char *const texts[PB_PRICE_COUNT],
                               pb_tier *tier);
/* Whether `text` is a valid price; if not, ctx->error has a sentence. */
pb_status pb_price_check(pb_context *ctx, const char *text);
/* One of the prices as a decimal, shortest form, with NUL. */
void pb_tier_price_text(const pb_tier *tier, pb_price which, char text[32]);
/* The cost of storing or loading a value of this size; UINT64_MAX if it passes 64 bits. */
uint64_t pb_tier_store_price(const pb_tier *tier, uint64_t size);
uint64_t pb_tier_load_price(const pb_tier *tier, uint64_t size);

/* The graph with the times that its nodes take on the machine's first processor as costs, and if it has `fixed`, with
 * its entry for the machine's first memory as fixed_size. It borrows from `g` and `m`, which must outlive it; hashes
 * still refer to `g`.
 *   returns PB_EINVAL the processor has no rate for a node, or `fixed` names a memory that the machine does not have;
 *           PB_ERANGE the times together pass 2^64 */
pb_status pb_graph_price(pb_context *ctx, const pb_graph *g, const pb_machine *m, pb_arena *result,
                         const pb_graph **out);
/* What pb_graph_time did for one operation and type. */
typedef struct pb_time_row {
    const char *op, *dtype; /* NULL: not stated */
    uint32_t nodes;
    bool modelled;    /* by a model of the machine; else by its rates and bandwidths */
    uint32_t outside; /* nodes larger, smaller, more or less intense than what was measured */
    double beyond;    /* by which factor at most; 1: none is outside */
    pb_node node;     /* that one, or the first */
    uint64_t time;    /* of all its nodes, each computed once */
} pb_time_row;
typedef struct pb_time_report {
    const pb_time_row *rows; /* the longest time first */
    uint32_t row_count;
    uint32_t kept;    /* nodes that had a time for the first processor, which is unchanged */
    uint32_t unknown; /* nodes that keep their cost: they state neither flops nor bytes, or the clock is abstract */
    uint32_t outside; /* of all rows */
} pb_time_report;
/* The graph with `times` for every processor of the machine: by its models, else by its rates and bandwidths. It is a
 * graph of its own, with another hash; it borrows from `g`, not from `m`. The report is about the first processor.
 *   returns PB_EINVAL a processor has no rate for a node; PB_ERANGE a time passes 2^63 */
pb_status pb_graph_time(pb_context *ctx, const pb_graph *g, const pb_machine *m, pb_arena *result, const pb_graph **out,
                        pb_time_report *report);
/* The machine's slow memories as tiers: those that have links from and to its first memory, in the order of the
 * machine, at most PB_MAX_TIERS. Names are borrowed. Returns how many of them the machine has. */
uint32_t pb_machine_tiers(const pb_machine *m, pb_tier tiers[PB_MAX_TIERS], uint32_t *count);
/* The same of the machine that prices a graph, each without what the graph's `fixed` always holds there. */
uint32_t pb_graph_tiers(const pb_graph *g, pb_tier tiers[PB_MAX_TIERS], uint32_t *count);

/* The price of a tier's stores or loads as a link of pebble-machine/1 in ns: latency + per_unit * size + ceil(size *
 * 10^9 / bandwidth); the last part is absent if the bandwidth is 0. */
typedef struct pb_price_link {
    uint64_t latency, per_unit, bandwidth;
} pb_price_link;

/* cost = alpha * peak + beta * flux + gamma * (recompute + uncompute + io). Exact decimals: the field alpha means
 * alpha / 10^digits, and so on. */
typedef struct pb_weights {
    uint64_t alpha, beta, gamma;
    uint32_t digits; /* at most 18 */
} pb_weights;
#define PB_WEIGHTS_DEFAULT ((pb_weights){0, 0, 1, 0})

/* Reads "a,b,c" or "peak=a,flux=b,time=c" (work and recompute also mean time; what is left out is 0, 0, 1):
 * non-negative decimals such as 0.25 or 1e-11, with at most 18 digits after the point. With a graph, the weight of peak
 * may have units of cost and size, as in 0.5s/GiB, and that of flux a unit of size, as in 0.01/GiB. They are converted
 * to the graph's units and rounded to at most 18 digits after the point; fewer if a weight would pass 2^64.
 *   in      g         whose units count; NULL: only decimals
 *   returns PB_EINVAL not three weights, or a unit that cannot be converted; PB_ERANGE too many digits in total */
pb_status pb_weights_parse(pb_context *ctx, const pb_graph *g, const char *text, pb_weights *out);
/* Writes one weight (0 alpha, 1 beta, 2 gamma) as a decimal, shortest form, with NUL. */
void pb_weight_text(const pb_weights *weights, int which, char text[32]);

/* What a timed plan minimizes: the last end of a computation or copy, or the longest time between the first start and
 * the last end of one processor. */
typedef enum pb_objective { PB_OBJECTIVE_MAKESPAN, PB_OBJECTIVE_SPAN } pb_objective;
const char *pb_objective_name(pb_objective objective); /* makespan, span */
bool pb_objective_parse(const char *name, pb_objective *out);

/* The times of the timed game: what each computation takes on each processor of a machine, and where values start. */
typedef struct pb_timing {
    const pb_graph *graph; /* as in its file */
    const pb_machine *machine;
    const uint64_t *duration; /* [processor * node_count + node]; PB_NO_TIME: it cannot run there */
    const uint64_t *recipe;   /* [processor * recipe_count + recipe]; NULL: the graph has no recipes */
    uint32_t recipe_count;
    const uint32_t *start; /* by node: the memory that a given value starts in; UINT32_MAX for others */
    const uint32_t *keep;  /* by node: the memory it must be in at the end; UINT32_MAX: any, or none */
    const uint64_t *fixed; /* by memory: always in use, reserve included */
    const uint32_t *lane;  /* by link: its lane, an index from 0 */
    uint32_t lane_count;   /* of links */
} pb_timing;
#define PB_NO_TIME UINT64_MAX

/* Checks that the graph's names are those of the machine, and computes the times.
 *   in       g    priced or not; its own costs count
 *   returns  PB_EINVAL a given or kept value, or `fixed`, names a memory that the machine does not have, or a node a
 *            processor; no processor can compute a node
 *            PB_ERANGE what is always in use passes 2^64 */
pb_status pb_timing_make(pb_context *ctx, const pb_graph *g, const pb_machine *m, pb_arena *result,
                         const pb_timing **out);
/* The graph with the least time that each node takes on a processor that may compute it as its cost: `recompute` and
 * `overhead` refer to it. It borrows from the timing. PB_ERANGE: the times together pass 2^64. */
pb_status pb_timing_graph(pb_context *ctx, const pb_timing *t, pb_arena *result, const pb_graph **out);

struct pb_game;
/* Sets the cap of a timed game, and with it that of its machine's first memory.
 *   in/out  *game    its machine, timing and graph are copies in `arena` that borrow from what was there */
pb_status pb_game_with_cap(pb_arena *arena, struct pb_game *game, uint64_t cap);

typedef struct pb_game {
    const pb_graph *graph;
    pb_game_kind kind;
    uint64_t cap;    /* PB_UNLIMITED: none; in the timed game of the machine's first memory */
    uint64_t borrow; /* memory in addition to the cap that is in use by others: values in it must be uncomputed */
    pb_weights weights;
    uint32_t tier_count;
    pb_tier tiers[PB_MAX_TIERS]; /* slow tier t is tiers[t-1] */
    const pb_timing *timing;     /* of the timed game; else NULL */
    pb_objective objective;      /* of the timed game */
} pb_game;

/* Can values of this game come back by recipe? The reversible game ignores them. */
static inline bool pb_game_recipes(const pb_game *game)
{
    return game->graph->recipe_start && game->kind != PB_GAME_REVERSIBLE;
}

#ifdef __cplusplus
}
#endif
#endif
