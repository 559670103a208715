/* timed_force.h -- the shortest makespan of tiny timed games by exhaustive search, with code of its own.
 *
 * One processor, and a second memory without a cap behind a link out and a link in. Any schedule can be made to start
 * each of its moves, in the same order, at its predecessor's start or at the end of a move, without ending later; so
 * a search over all states, tick by tick, finds the minimum. */
#ifndef TIMED_FORCE_H
#define TIMED_FORCE_H

#include <stdbool.h>
#include <stdint.h>

enum { TF_MAX = 5, TF_MAX_TIME = 15 };

typedef struct tf_problem {
    uint32_t node_count;
    uint32_t duration[TF_MAX], size[TF_MAX], workspace[TF_MAX], out[TF_MAX], in[TF_MAX]; /* times up to TF_MAX_TIME */
    uint32_t reads[TF_MAX], inplace[TF_MAX];                                             /* sets of nodes, as bits */
    uint32_t parts[TF_MAX]; /* by-products, as a set of nodes that have no other fields but a size */
    uint32_t recipes;       /* the nodes that have one recipe each: */
    uint32_t recipe_duration[TF_MAX], recipe_workspace[TF_MAX], recipe_reads[TF_MAX], recipe_inplace[TF_MAX];
    uint32_t given, outside, once, keep, targets; /* outside: of the given ones, those in the second memory */
    uint32_t fixed, cap;
    bool one_lane; /* the links share it */
} tf_problem;

/* False if there were too many states. *feasible false: there is no schedule. */
bool tf_solve(const tf_problem *p, bool *feasible, uint32_t *makespan);

#endif
