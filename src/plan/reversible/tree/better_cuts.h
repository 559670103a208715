/* better_cuts.h -- a search for cuts of a small tree that cost fewer moves. */
#ifndef PBI_PLAN_REVERSIBLE_TREE_BETTER_CUTS_H
#define PBI_PLAN_REVERSIBLE_TREE_BETTER_CUTS_H

#include "plan/reversible/tree/trees.h"

/* One tree, all sizes equal, as many values at a time as trees->budget holds. rank[] is a ranking, or any feasible
 * order of cuts: the highest is cut first. Becomes the order of cuts with the least work that was found, *work its
 * work, UINT64_MAX if none is feasible.
 *   effort  entries of tables to fill in; nothing is tried if that is too little to try each cut */
pb_status pbi_better_cuts(pb_context *ctx, const pbi_trees *trees, uint64_t effort, uint64_t seed, uint32_t *rank,
                          uint64_t *work);

#endif
