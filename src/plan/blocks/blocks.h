/* blocks.h -- a computation that runs forward and then backward through blocks, and its cheapest plan.
 *
 * Block b of 1..count takes value b-1 to value b. Its backward part takes gradient b to gradient b-1, and may read
 * value b-1, value b and values that the forward part left. A block can be one step of an adjoint chain, or a whole
 * layer of a network: here it is numbers only. Memory is in the graph's unit.
 *
 * The forward part can be run plainly, leaving value b alone, or in one of several *ways* that also leave what the
 * backward part will read. A plan is a list of actions. The solvers minimize the work among the plans that reverse
 * the chain part by part ("persistent": a held value is held until everything behind it has been reversed):
 *
 *   reverse(i, j, memory): value i and gradient j are resident; afterwards gradient i is resident.
 *     run to value m, holding value i; reverse(m, j) next to it; then reverse(i, m);
 *     or run block i+1 in way w, holding what w keeps (and value i, if w reads it); reverse(i+1, j) next to that;
 *       then the backward part of block i+1.
 *
 * Either end has two states. The left value is needed afterwards, or may be freed after its last read; the right
 * value is resident at the start (the part behind needed it) or not.
 */
#ifndef PBI_PLAN_BLOCKS_BLOCKS_H
#define PBI_PLAN_BLOCKS_BLOCKS_H

#include "pebble/base.h"

/* One way to provide what the backward part of a block reads. */
typedef struct pbi_block_way {
    uint64_t kept;    /* memory held from the forward part to the backward part, in addition to values b-1 and b */
    uint64_t forward; /* max memory during the forward part, in addition to value b-1: with value b and what is kept */
    /* Max memory during the backward part, in addition to value b-1, whether that is read or not: with both
     * gradients, what was kept, and value b if it is read. */
    uint64_t backward;
    uint64_t extra_work;          /* work of the backward part beyond its needed work */
    bool reads_left, reads_right; /* the backward part reads value b-1, value b */
    bool reads_run;               /* it reads other values of the forward part: that must be run in this way */
} pbi_block_way;

typedef struct pbi_block {
    uint64_t cost;           /* of the forward part */
    uint64_t run_keeping;    /* max memory during the plain forward part, in addition to value b-1, which is kept */
    uint64_t through;        /* the same if value b-1 is freed as soon as possible, that value included */
    uint32_t way, way_count; /* its ways are blocks->way[way ..]; at least one */
} pbi_block;

typedef struct pbi_blocks {
    uint32_t count;
    const pbi_block *block; /* [1 .. count]; [0] is unused */
    const pbi_block_way *way;
    const uint64_t *value;    /* sizes of value 0 .. count */
    const uint64_t *gradient; /* sizes of gradient 0 .. count; 0 at `count` when the last block reads none */
} pbi_blocks;

typedef enum pbi_block_do { PBI_BLOCK_RUN, PBI_BLOCK_WAY, PBI_BLOCK_BACK } pbi_block_do;

typedef struct pbi_block_action {
    uint32_t block;
    uint16_t way;  /* of PBI_BLOCK_WAY and PBI_BLOCK_BACK: counted from the block's first */
    uint16_t what; /* pbi_block_do */
} pbi_block_action;

typedef struct pbi_blocks_plan {
    bool fits;
    uint64_t work; /* forward parts, and recomputation in backward parts; the needed backward work is not counted */
    const pbi_block_action *action;
    size_t count;
} pbi_blocks_plan;

typedef struct pbi_block_budget {
    uint64_t memory;
    uint64_t slots; /* pbi_blocks_slots: memory is counted in at most so many equal parts */
    uint64_t limit; /* pbi_blocks_exact: PB_ELIMIT after more steps of functions */
} pbi_block_budget;

/* The least work exactly. PB_ERANGE when the work of some plan could exceed 62 bits. The actions live in `arena`. */
pb_status pbi_blocks_exact(pb_context *ctx, const pbi_blocks *b, const pbi_block_budget *budget, pb_arena *arena,
                           pbi_blocks_plan *out);

/* A plan by tables with memory counted in slots. It fits, and there is one whenever any plan
 * of this kind fits; it need not be the cheapest. *least gets a bound: no plan of this kind has less work;
 * UINT64_MAX when none fits. The bound takes most of the time: with least NULL the plan is the same. Chains below
 * 250 blocks get the exact plan and bound when all that can be held is a multiple of memory / slots and the work is
 * small; longer ones have their work counted in some ten thousand quanta, and not all splits are tried for the plan.
 * Errors as above. */
pb_status pbi_blocks_slots(pb_context *ctx, const pbi_blocks *b, const pbi_block_budget *budget, pb_arena *arena,
                           pbi_blocks_plan *out, uint64_t *min_work);

#endif
