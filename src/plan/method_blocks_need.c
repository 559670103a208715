/* method_blocks_need.c -- see method_blocks_need.h. The recursion of method_blocks.h with need in place of work. */
#include "plan/method_blocks_need.h"

#include "base/context.h"

static uint64_t higher(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t lower(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t by_ways(const pbi_block_needs *n, uint32_t i, uint32_t j, unsigned left, unsigned right)
{
    const pbi_blocks *b = n->b;
    uint64_t best = UINT64_MAX;
    for (uint32_t k = 0; k < b->block[i + 1].way_count; k++) {
        const pbi_block_way *w = pbi_block_way_of(b, i + 1, k);
        uint64_t need;
        if (j == i + 1) {
            need = pbi_block_alone(b, i, w, left, right).need;
        } else {
            uint64_t inner = pbi_block_need_of(n, w->reads_right ? PBI_KEEP : PBI_FREE, right, i + 1, j);
            need = higher(pbi_block_way_need(b, i, w, j, left, right),
                          pbi_add_saturated(inner, pbi_block_held(b, i, w, left)));
        }
        best = lower(best, need);
    }
    return best;
}

static uint64_t by_splits(const pbi_block_needs *n, uint32_t i, uint32_t j, unsigned left, unsigned right,
                          uint64_t best)
{
    const pbi_blocks *b = n->b;
    size_t row = (size_t)b->count + 1;
    for (unsigned k = 0; k < n->states.rights; k++) {
        const uint64_t *before = n->row[left][k] + i * row;
        const uint64_t *behind = n->column[k < n->states.lefts ? k : 0][right] + j * row;
        uint64_t run = pbi_block_run_need(b, i, i + 1, j, right), held = b->value[i];
        uint64_t beside = pbi_add_saturated(held, pbi_block_right(b, j, right));
        for (uint32_t m = i + 1; m < j && run < best; m++) {
            if (m > i + 1)
                run = higher(run, pbi_add_saturated(beside, b->block[m].through));
            best = lower(best, higher(higher(run, before[m]), pbi_add_saturated(behind[m], held)));
        }
    }
    return best;
}

static void fill_entry(pbi_block_needs *n, uint32_t i, uint32_t j)
{
    size_t row = (size_t)n->b->count + 1;
    for (unsigned left = 0; left < n->states.lefts; left++)
        for (unsigned right = 0; right < n->states.rights; right++) {
            uint64_t best = by_ways(n, i, j, left, right);
            if (right == PBI_HELD) /* the right value let go */
                best = lower(best, pbi_block_need_of(n, left, PBI_BARE, i, j));
            best = by_splits(n, i, j, left, right, best);
            n->row[left][right][i * row + j] = n->column[left][right][j * row + i] = best;
        }
}

pb_status pbi_block_needs_fill(pb_context *ctx, const pbi_blocks *b, pb_arena *arena, pbi_block_needs *out)
{
    size_t row = (size_t)b->count + 1;
    pbi_block_needs n = {.b = b, .states = pbi_blocks_states(b)};
    for (unsigned left = 0; left < n.states.lefts; left++)
        for (unsigned right = 0; right < n.states.rights; right++) {
            n.row[left][right] = pb_arena_alloc(arena, row * row, sizeof(uint64_t));
            n.column[left][right] = pb_arena_alloc(arena, row * row, sizeof(uint64_t));
            if (!n.row[left][right] || !n.column[left][right])
                return PB_ENOMEM;
        }
    for (uint32_t j = 1; j <= b->count; j++) {
        for (uint32_t i = j; i-- > 0;)
            fill_entry(&n, i, j);
        pb_status status = pbi_tick(ctx, j);
        if (status != PB_OK)
            return status;
    }
    *out = n;
    return PB_OK;
}
