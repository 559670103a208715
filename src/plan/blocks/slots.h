/* slots.h -- a chain of blocks with memory in slots: a plan, a bound, and the table they came from. */
#ifndef PBI_PLAN_BLOCKS_SLOTS_H
#define PBI_PLAN_BLOCKS_SLOTS_H

#include "plan/blocks/need.h"
#include "plan/blocks/table.h"

typedef struct pbi_block_bounds {
    pb_context *ctx;
    const pbi_blocks *b;
    uint64_t memory; /* below UINT64_MAX */
    bool bound;      /* the table `down` is requested, for more than a trivial bound */
    uint32_t coarse; /* how many slots of the plan make one slot of `down`; 0 counts as 1 */
    /* Found: */
    uint64_t slot; /* size of a slot, with which the plan was found */
    pbi_block_needs needs;
    pbi_block_table down; /* sizes rounded down; filled if there is a plan */
    uint64_t *before;     /* exact work of blocks 1 .. k */
    pbi_blocks_plan plan; /* the best that was found */
    uint64_t min_work;    /* no plan has less work; UINT64_MAX: there is none */
} pbi_block_bounds;

/* wide: cells of 32 bits. The table is in `scratch`, the plan in `arena`. pbi_blocks_check has passed. */
pb_status pbi_block_bounds_find(pbi_block_bounds *s, uint32_t slots, bool wide, pb_arena *scratch, pb_arena *arena);

#endif
