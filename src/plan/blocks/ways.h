/* ways.h -- the numbers of a chain of blocks, and what each action computes.
 *
 * A way of a block is a set of its values that are kept for its backward part; that part recomputes all else that it
 * reads. Needs come from a replay of exactly these computations, with values freed after their last use.
 */
#ifndef PBI_PLAN_BLOCKS_WAYS_H
#define PBI_PLAN_BLOCKS_WAYS_H

#include "plan/blocks/blocks.h"
#include "plan/blocks/find.h"

typedef struct pbi_block_nodes {
    uint32_t start, count; /* of pbi_block_ways.event */
} pbi_block_nodes;

typedef struct pbi_block_ways {
    pbi_blocks numbers;
    pb_node *event;                            /* nodes to compute, list after list */
    const pbi_block_nodes *plain;              /* per block */
    const pbi_block_nodes *forward, *backward; /* per way */
} pbi_block_ways;

pb_status pbi_block_ways_find(pb_context *ctx, const pb_graph *g, const pbi_block_chain *chain, pb_arena *arena,
                              pbi_block_ways *out);

#endif
