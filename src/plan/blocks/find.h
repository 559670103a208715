/* find.h -- finds a chain of blocks in a graph.
 *
 * A graph that runs forward and then backward, such as a training step or an adjoint, is cut where a single value
 * crosses from the nodes before to the nodes behind. The nodes between two cuts are a block; the nodes behind the
 * turn belong to the block whose values they read. If a node reads from several blocks, these become one.
 */
#ifndef PBI_PLAN_BLOCKS_FIND_H
#define PBI_PLAN_BLOCKS_FIND_H

#include "pebble/game.h"

typedef enum pbi_role {
    PBI_UNUSED, /* not needed */
    PBI_FORWARD,
    PBI_BACKWARD,
    PBI_STAYS /* always resident: given (except the chain's start), or computed only once; counts in `always` */
} pbi_role;

typedef struct pbi_block_chain {
    uint32_t count;           /* blocks 1 .. count */
    pb_node *cut;             /* [0 .. count]: the value between blocks, PB_NO_NODE for none */
    uint32_t *forward_start;  /* block b has forward[forward_start[b] .. forward_start[b + 1]] */
    uint32_t *backward_start; /* and backward[...] in the order they are computed */
    const pb_node *forward;
    pb_node *backward;
    uint32_t *block;  /* per node; by-products have the block of their producer */
    uint8_t *role;    /* per node: pbi_role */
    uint64_t always;  /* memory that is always in use */
    uint32_t largest; /* max nodes in one block */
    const char *why;  /* why the graph is not a chain, if it is not: a constant text */
} pbi_block_chain;

/* out->count is 0 when the graph has no chain of at least two blocks. `group` above 0 makes larger blocks: single nodes
 * join the block behind them, and that many larger blocks become one. More than `max_blocks` blocks are joined with
 * their neighbours. */
pb_status pbi_block_chain_find(pb_context *ctx, const pb_graph *g, uint32_t group, uint32_t max_blocks, pb_arena *arena,
                               pbi_block_chain *out);

#endif
