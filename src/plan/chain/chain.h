/* chain.h -- an adjoint chain as numbers: what its exact methods need from the graph.
 *
 * Forward values x_0 .. x_n, gradients g_{n-1} .. g_0 in the order they are computed. Gradient i reads gradient i+1
 * and x_i, or x_i and x_{i+1}.
 */
#ifndef PBI_PLAN_CHAIN_CHAIN_H
#define PBI_PLAN_CHAIN_CHAIN_H

#include "plan/strategy.h"

typedef struct pbi_chain {
    pb_node *forward, *gradient;              /* gradient[0] is g_{n-1} */
    uint32_t steps;                           /* n */
    bool reads_output;                        /* gradient i reads x_{i+1} as well */
    bool step_inplace;                        /* every step but the first may overwrite its input */
    bool grad_inplace;                        /* every gradient but the first may overwrite the one before */
    uint64_t step_cost, step_size, grad_size; /* if they are all equal */
} pbi_chain;

/* True when the graph is an adjoint chain that starts from a given value in fast memory and whose only target is its
 * last gradient; else false and *why names the difference (a constant text), or *status is an error. The numbers are
 * not filled. */
bool pbi_chain_find(const pb_graph *g, pb_arena *arena, pbi_chain *out, const char **why, pb_status *status);

/* Are its steps all equal, of a size above 0 and without workspace? Fills the numbers. */
bool pbi_chain_equal(const pb_graph *g, pbi_chain *c);

/* Plans a chain of equal steps: the least work and io in the remat game and with slow tiers, exactly as far as
 * docs/proofs/chain.md goes. `limit` bounds the number of splits that are tried. */
pb_status pbi_chain_equal_plan(pb_context *ctx, const pb_game *game, const pbi_chain *c, uint64_t limit,
                               pbi_plan *plan);

#endif
