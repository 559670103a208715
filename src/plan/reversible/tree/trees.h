/* trees.h -- the graph of a reversible game as trees; their ranks are in bound/edge_rank.h. */
#ifndef PBI_PLAN_REVERSIBLE_TREE_TREES_H
#define PBI_PLAN_REVERSIBLE_TREE_TREES_H

#include "bound/edge_rank.h"
#include "plan/reversible/units.h"

/* Gives up, with *are_trees false, if a value that is not kept to the end is read twice. */
pb_status pbi_trees_read(const pb_game *game, pb_arena *scratch, pbi_plan *plan, pbi_trees *out, bool *are_trees);

#endif
