/* need.h -- the least memory that suffices for each segment of a chain of blocks, exactly. */
#ifndef PBI_PLAN_BLOCKS_NEED_H
#define PBI_PLAN_BLOCKS_NEED_H

#include "plan/blocks/parts.h"

typedef struct pbi_block_needs {
    const pbi_blocks *b;
    pbi_block_states states;
    /* [left][right]; one copy by i and then j, one by j and then i. UINT64_MAX: more than 64 bits */
    uint64_t *row[2][2], *column[2][2];
    uint64_t *run; /* [i]: max memory of the blocks of a plain run from i to the end but one, in addition to value i */
} pbi_block_needs;

pb_status pbi_block_needs_fill(pb_context *ctx, const pbi_blocks *b, pb_arena *arena, pbi_block_needs *out);

static inline uint64_t pbi_block_need_of(const pbi_block_needs *n, unsigned left, unsigned right, uint32_t i,
                                         uint32_t j)
{
    left = n->states.lefts == 2 ? left : PBI_FREE;
    right = n->states.rights == 2 ? right : PBI_BARE;
    return n->row[left][right][(size_t)i * (n->b->count + 1) + j];
}

#endif
