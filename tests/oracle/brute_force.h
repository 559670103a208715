/* brute_force.h -- exhaustive search over all three games, for graphs of a dozen nodes.
 *
 * Own code from the rules: it reads the arrays of a graph and shares nothing else with the library, so that its
 * answers can judge the planners, the bounds and the verifier.
 *
 *     bf_space *space = bf_space_new();
 *     bf_problem p;
 *     bf_answer a;
 *     if (bf_from_game(&game, &p) && bf_least_makespan(space, &p, &a)) ... a.feasible, a.value, a.moves ...
 *     bf_space_free(space);
 */
#ifndef BRUTE_FORCE_H
#define BRUTE_FORCE_H

#include "pebble/game.h"
#include "pebble/schedule.h"

enum { BF_MAX_NODES = 24, BF_MAX_RECIPES = 4, BF_MAX_TIERS = 2, BF_IN_BORROW = 254, BF_NO_NODE = 255 };

/* Node sets are bit masks. */
typedef struct bf_recipe {
    uint32_t in, inplace;
    uint64_t cost, workspace;
} bf_recipe;

typedef struct bf_problem {
    uint32_t node_count;
    uint32_t in[BF_MAX_NODES], inplace[BF_MAX_NODES], parts[BF_MAX_NODES];
    uint8_t owner[BF_MAX_NODES]; /* BF_NO_NODE: not a by-product */
    uint64_t cost[BF_MAX_NODES], size[BF_MAX_NODES], workspace[BF_MAX_NODES];
    uint32_t recipe_count[BF_MAX_NODES];
    bf_recipe recipe[BF_MAX_NODES][BF_MAX_RECIPES];
    uint32_t given, given_slow, once, keep, targets;
    uint64_t fixed_size, needed_cost;
    pb_game_kind kind;
    uint64_t cap, borrow;
    uint64_t alpha, beta, gamma; /* in units of 10^-digits */
    uint32_t tier_count;
    pb_tier tiers[BF_MAX_TIERS];
} bf_problem;

typedef struct bf_move {
    uint8_t op, node, tier, over; /* over: BF_NO_NODE for none, BF_IN_BORROW: made in borrowed memory */
    uint32_t also;
    uint32_t by; /* recipe from 1; 0: by the node's own inputs */
} bf_move;

typedef struct bf_answer {
    bool feasible;
    uint64_t value;
    uint64_t peak;        /* of `moves` */
    const bf_move *moves; /* an optimal schedule; valid until the next call on the space */
    uint32_t move_count;
} bf_answer;

typedef struct bf_space bf_space;
bf_space *bf_space_new(void);
void bf_space_free(bf_space *space);
/* Searches that meet more states than this give up; the default is 4 million. */
void bf_space_limit(bf_space *space, uint32_t states);

/* False when the graph or the number of tiers is beyond the search. */
bool bf_from_game(const pb_game *game, bf_problem *out);

/* Each returns false when the state limit was hit: no answer. Infeasible is an answer. */
/* Least work + io under the cap. */
bool bf_least_makespan(bf_space *space, const bf_problem *p, bf_answer *out);
/* Least peak of any schedule; the cap of the problem is not looked at. */
bool bf_least_peak(bf_space *space, const bf_problem *p, bf_answer *out);
/* Least alpha * peak + beta * flux + gamma * (recompute + uncompute + io) under the cap. */
bool bf_least_cost(bf_space *space, const bf_problem *p, bf_answer *out);

/* A random legal schedule: up to `wander` random moves under the cap, then the cheapest way to the end from there
 * (infeasible when the moves led into a dead end). */
bool bf_random_schedule(bf_space *space, const bf_problem *p, uint64_t seed, uint32_t wander, bf_answer *out);

/* Appends the moves to a list of the library's kind. */
pb_status bf_to_moves(const bf_answer *a, pb_moves *out);

#endif
