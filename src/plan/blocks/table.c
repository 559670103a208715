/* table.c -- see table.h: the parts that do not depend on the width of a cell. */
#include "plan/blocks/table.h"

#define MAX_WORK (UINT32_C(1) << 31)

uint32_t pbi_block_table_never(bool wide) { return wide ? UINT32_MAX / 3 : UINT16_MAX / 3; }

static bool set_up(pbi_block_table *t, pb_arena *arena)
{
    const pbi_blocks *b = t->b;
    size_t row = (size_t)b->count + 1;
    t->held = pb_arena_alloc(arena, row, sizeof *t->held);
    t->before = pb_arena_alloc(arena, row, sizeof *t->before);
    t->run = pb_arena_alloc(arena, row * row, sizeof *t->run);
    bool ok = t->held && t->before && t->run;
    for (unsigned left = 0; left < t->states.lefts && ok; left++)
        for (unsigned right = 0; right < t->states.rights && ok; right++)
            ok = (t->cells[left][right] = pb_arena_zero(arena, row * row, sizeof(pbi_block_cells))) != NULL;
    return ok;
}

static void fill_runs(pbi_block_table *t, uint32_t i)
{
    uint64_t max = 0, *run = t->run + (size_t)i * (t->b->count + 1);
    for (uint32_t k = i + 1; k <= t->b->count; k++) {
        uint64_t own = k == i + 1 ? t->b->block[k].run_keeping : t->b->block[k].through;
        max = own > max ? own : max;
        run[k] = max;
    }
}

pb_status pbi_block_table_fill(pbi_block_table *t, pb_arena *arena)
{
    const pbi_blocks *b = t->b;
    t->states = pbi_blocks_states(b);
    t->never = pbi_block_table_never(t->wide);
    if (!set_up(t, arena))
        return PB_ENOMEM;
    t->before[0] = 0;
    for (uint32_t k = 0; k <= b->count; k++) {
        t->held[k] = pbi_block_slots(t, b->value[k]);
        fill_runs(t, k);
        if (k > 0) {
            uint64_t all = b->block[k].cost / t->quantum + t->before[k - 1];
            t->before[k] = all < MAX_WORK ? (uint32_t)all : MAX_WORK;
        }
    }
    return t->wide ? pbi_block_table_fill32(t, arena) : pbi_block_table_fill16(t, arena);
}
