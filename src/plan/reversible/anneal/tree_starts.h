/* tree_starts.h -- many different plans of a tree in the reversible game, to start a search from. */
#ifndef PBI_PLAN_REVERSIBLE_ANNEAL_TREE_STARTS_H
#define PBI_PLAN_REVERSIBLE_ANNEAL_TREE_STARTS_H

#include "plan/strategy.h"

/* How to choose where the tree is cut: see tree/better_cuts.h. */
typedef struct pbi_rev_tree {
    uint64_t effort, seed;
} pbi_rev_tree;

/* A plan within the cap. *moves is empty if the graph is not one tree of equal sizes, if all of it fits, or if there
 * is no such plan. Memory from `arena`. */
pb_status pbi_rev_tree_plan(pb_context *ctx, const pb_game *game, const pbi_rev_tree *way, pb_arena *arena,
                            pb_moves *moves);

#endif
