/* tree_starts.h -- plans of a tree in the reversible game, many different ones, to begin a search from. */
#ifndef PBI_PLAN_REVERSIBLE_ANNEAL_TREE_STARTS_H
#define PBI_PLAN_REVERSIBLE_ANNEAL_TREE_STARTS_H

#include "plan/strategy.h"

/* How to choose where the tree is cut: see method_better_cuts.h. */
typedef struct pbi_rev_tree {
    uint64_t effort, seed;
} pbi_rev_tree;

/* A plan within the cap. *moves is empty where the graph is not one tree of equal sizes, where all of it fits, or where no
 * such plan does. Memory from `arena`. */
pb_status pbi_rev_tree_plan(pb_context *ctx, const pb_game *game, const pbi_rev_tree *way, pb_arena *arena,
                            pb_moves *moves);

#endif
