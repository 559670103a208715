/* table.h -- the least work of every segment of a chain of blocks, with memory in slots and work in quanta.
 *
 * Sizes are rounded to slots, all up or all down, and costs down to quanta; rounded down, the table bounds every
 * plan from below. It stores the extra work: work of the segment (i, j) beyond running blocks i+1 .. j-1 once, which
 * every plan does. Extra work is a function of the slots: `never` below `lo`, one cell for each number of slots from
 * `lo` to `hi` - 1, and `tail` from `hi` on. Extra work that does not fit a cell counts as never.
 *
 *     t = (pbi_block_table){.ctx = ctx, .b = b, .slot = 4096, .slots = 500, .quantum = 10};
 *     status = pbi_block_table_fill(&t, &arena);
 *     extra = pbi_block_table_at(&t, PBI_FREE, PBI_BARE, 0, b->count, 500);
 */
#ifndef PBI_PLAN_BLOCKS_TABLE_H
#define PBI_PLAN_BLOCKS_TABLE_H

#include "plan/blocks/parts.h"

typedef struct pbi_block_cells {
    void *cell; /* of lo .. hi - 1 */
    uint32_t lo, hi, tail;
} pbi_block_cells;

typedef struct pbi_block_table {
    pb_context *ctx;
    const pbi_blocks *b;
    uint64_t slot;    /* memory of one slot, not 0 */
    uint32_t slots;   /* memory of the whole chain, in slots */
    bool up;          /* sizes are rounded up, not down */
    bool wide;        /* cells of 32 bits, not 16 */
    uint64_t quantum; /* work of one quantum, not 0 */
    /* To save time, not for bounds: if `stride` is above 1, segments longer than `near` are left out (never) unless
     * they end at the end of the chain or at a multiple of `stride`; the stride doubles with the length, up to four
     * times. */
    uint32_t stride, near;
    /* Filled in: */
    pbi_block_states states;
    uint32_t never;   /* cell value for "does not fit" */
    uint32_t *held;   /* values in slots */
    uint32_t *before; /* work of blocks 1 .. k in quanta, at most 2^31 */
    /* [i * (count + 1) + m]: max memory of the blocks of a plain run from i to m, in addition to value i */
    uint64_t *run;
    pbi_block_cells *cells[2][2]; /* [left][right]; [j * (count + 1) + i] */
} pbi_block_table;

/* The largest extra work that a cell can hold is below this many quanta. */
uint32_t pbi_block_table_never(bool wide);

pb_status pbi_block_table_fill(pbi_block_table *t, pb_arena *arena);

static inline const pbi_block_cells *pbi_block_table_cells(const pbi_block_table *t, unsigned left, unsigned right,
                                                           uint32_t i, uint32_t j)
{
    left = t->states.lefts == 2 ? left : PBI_FREE;
    right = t->states.rights == 2 ? right : PBI_BARE;
    return &t->cells[left][right][(size_t)j * (t->b->count + 1) + i];
}

/* The extra work in quanta; t->never for never. */
static inline uint32_t pbi_block_table_at(const pbi_block_table *t, unsigned left, unsigned right, uint32_t i,
                                          uint32_t j, uint32_t slots)
{
    const pbi_block_cells *f = pbi_block_table_cells(t, left, right, i, j);
    if (slots < f->lo)
        return t->never;
    if (slots >= f->hi)
        return f->tail;
    return t->wide ? ((const uint32_t *)f->cell)[slots - f->lo] : ((const uint16_t *)f->cell)[slots - f->lo];
}

/* A size in slots, UINT32_MAX if that is more than the table has. */
static inline uint32_t pbi_block_slots(const pbi_block_table *t, uint64_t size)
{
    uint64_t whole = size / t->slot + (t->up && size % t->slot != 0);
    return whole <= t->slots ? (uint32_t)whole : UINT32_MAX;
}

/* The two fill functions, by width of a cell. */
pb_status pbi_block_table_fill16(pbi_block_table *t, pb_arena *arena);
pb_status pbi_block_table_fill32(pbi_block_table *t, pb_arena *arena);

#endif
