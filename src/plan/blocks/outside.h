/* outside.h -- a lower bound on what a plan costs outside a segment.
 *
 * From a table with sizes rounded down: for every segment and number of slots that it is given, the least extra work
 * of the whole rest of a plan. Segments that are in no plan of at most `limit` quanta are left out.
 */
#ifndef PBI_PLAN_BLOCKS_OUTSIDE_H
#define PBI_PLAN_BLOCKS_OUTSIDE_H

#include "plan/blocks/table.h"

/* cell[s]: with s slots or more for the segment; it rises. The segment is useful only if from <= s < to. */
typedef struct pbi_block_outside {
    uint32_t *cell;
    uint32_t from, to;
} pbi_block_outside;

typedef struct pbi_block_outsides {
    const pbi_block_table *table; /* wide, rounded down */
    uint32_t limit;
    pbi_block_outside *rest[2][2]; /* as the table's cells */
} pbi_block_outsides;

pb_status pbi_block_outsides_fill(pbi_block_outsides *r, pb_arena *arena);

static inline const pbi_block_outside *pbi_block_outside_of(const pbi_block_outsides *r, unsigned left, unsigned right,
                                                            uint32_t i, uint32_t j)
{
    left = r->table->states.lefts == 2 ? left : PBI_FREE;
    right = r->table->states.rights == 2 ? right : PBI_BARE;
    return &r->rest[left][right][(size_t)j * (r->table->b->count + 1) + i];
}

#endif
