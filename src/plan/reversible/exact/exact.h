/* exact.h -- the reversible game of a small graph as bits of a word: model, bound, symmetries, search.
 *
 * A state is what is resident, and which `once` nodes are used up. Bits are numbered readers first, so that the
 * inputs of a node have higher numbers than the node. A game is *plain* when it has no in-place moves and no
 * by-products: then every move can be undone at the same price in the same memory.
 */
#ifndef PBI_PLAN_REVERSIBLE_EXACT_EXACT_H
#define PBI_PLAN_REVERSIBLE_EXACT_EXACT_H

#include "plan/statespace/limits.h"
#include "plan/strategy.h"

enum { PBI_REV_BITS = 64, PBI_REV_SWAPS = 64, PBI_REV_NONE = 255 };
#define PBI_REV_NEVER UINT64_MAX
#define PBI_REV_TOO_MUCH (UINT64_MAX - 1)

typedef struct pbi_rev_sets {
    const pb_game *game;
    unsigned bits;  /* nodes */
    unsigned total; /* and one more for each `once` node */
    pb_node node[PBI_REV_BITS];
    uint64_t in[PBI_REV_BITS];      /* what its moves read; of a by-product, what its owner reads */
    uint64_t parts[PBI_REV_BITS];   /* by-products */
    uint64_t inplace[PBI_REV_BITS]; /* whose memory it may overwrite */
    uint64_t cost[PBI_REV_BITS], size[PBI_REV_BITS], workspace[PBI_REV_BITS];
    uint8_t owner[PBI_REV_BITS]; /* PBI_REV_NONE: not a by-product */
    uint8_t used[PBI_REV_BITS];  /* of a `once` node: the bit that records that it was computed */
    uint64_t values, byproducts, overwritten, once, end;
    uint64_t base; /* memory that is always in use */
    uint64_t cap, max_workspace;
    uint8_t cheap[PBI_REV_BITS]; /* nodes with a size, the cheapest for their size first */
    unsigned cheap_count;
    uint64_t step; /* work of plain games is `rest` modulo this; 0: unknown */
    uint64_t rest; /* below step */
    bool plain;
    uint64_t sums[PBI_REV_BITS / 8][256]; /* sums of the sizes of eight bits */
} pbi_rev_sets;

/* False: more values and `once` nodes than bits. */
bool pbi_rev_sets_init(pbi_rev_sets *m, const pb_game *game);
/* Memory with these values resident; other bits of a state do not count. */
static inline uint64_t pbi_rev_memory(const pbi_rev_sets *m, uint64_t set)
{
    uint64_t sum = m->base;
    for (unsigned i = 0; set; i++, set >>= 8)
        sum += m->sums[i][set & 255];
    return sum;
}
/* The smallest number not below `work` that the work of a plan can be. */
uint64_t pbi_rev_round_up(const pbi_rev_sets *m, uint64_t work);

/* A lower bound on the work from a state to `end`; PBI_REV_NEVER: it cannot be reached; PBI_REV_TOO_MUCH: above
 * 2^64. */
typedef struct pbi_rev_aim {
    const pbi_rev_sets *m;
    uint64_t end;
    uint64_t later[PBI_REV_BITS]; /* what must be resident at a move of the node or later, except for extra moves */
} pbi_rev_aim;
void pbi_rev_aim_init(pbi_rev_aim *aim, const pbi_rev_sets *m, uint64_t end);
uint64_t pbi_rev_rest(const pbi_rev_aim *aim, uint64_t state);

/* Exchanges of equal parts of the graph. A state may be replaced by its image. */
typedef struct pbi_rev_symmetry {
    unsigned count;
    struct {
        uint64_t left, right;
        uint8_t pair[PBI_REV_BITS / 2][2];
        uint8_t pairs;
    } swap[PBI_REV_SWAPS];
} pbi_rev_symmetry;
void pbi_rev_symmetry_init(pbi_rev_symmetry *sym, const pbi_rev_sets *m);
/* `place`, unless NULL, is updated: place[b] is where bit b of the image was in the state that place described
 * before. */
uint64_t pbi_rev_canon(const pbi_rev_symmetry *sym, uint64_t state, uint8_t *place);

/* One move. */
typedef struct pbi_rev_move {
    uint64_t next, cost;
} pbi_rev_move;
enum { PBI_REV_MOVES = 4096 };
/* Every move from a state under the cap; of by-products every subset, unless that is more than fits: then
 * PBI_REV_MOVES + 1. */
unsigned pbi_rev_moves(const pbi_rev_sets *m, uint64_t state, pbi_rev_move *out);

typedef enum pbi_rev_end { PBI_REV_PROVED, PBI_REV_INFEASIBLE, PBI_REV_STOPPED } pbi_rev_end;
typedef struct pbi_rev_answer {
    pbi_rev_end end;
    pb_status status; /* why it was stopped; PB_OK: too many states */
    bool own;         /* the plan was written */
    bool overflow;    /* the work of some path exceeded 2^64 */
    uint64_t work;    /* of the best plan, PBI_REV_NEVER: none */
    uint64_t bound;
    uint64_t states;
} pbi_rev_answer;

/* The least work. A plan that is better than the known one is added to `moves`. PB_OK, or PB_ENOMEM. */
pb_status pbi_rev_solve(pb_context *ctx, const pbi_rev_sets *m, const pbi_search_limits *limits, pb_moves *moves,
                        pbi_rev_answer *out);

/* The work of a plan to start from, if that fits the cap; PBI_REV_NEVER for none. PB_OK, or PB_ENOMEM. */
pb_status pbi_rev_use_start(pb_context *ctx, const pb_game *game, const pb_moves *start, uint64_t *known);
/* Appends the moves of a reversible game. */
pb_status pbi_rev_copy(const pb_moves *from, pb_moves *to);

/* The strategy `exact` in the reversible game. */
pb_status pbi_plan_exact_reversible(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                                    uint64_t limit, pbi_plan *plan);

#endif
