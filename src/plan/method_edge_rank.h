/* method_edge_rank.h -- the graph of a reversible game as trees; their ranks are in bound/edge_rank.h. */
#ifndef PBI_METHOD_EDGE_RANK_H
#define PBI_METHOD_EDGE_RANK_H

#include "bound/edge_rank.h"
#include "plan/method_reversible.h"

/* Gives up, with *are_trees false, where a value that does not stay is read twice. */
pb_status pbi_trees_read(const pb_game *game, pb_arena *scratch, pbi_plan *plan, pbi_trees *out, bool *are_trees);

#endif
