/* need.c -- see need.h. The recursion of blocks.h with need instead of work. */
#include "plan/blocks/need.h"

#include "base/context.h"

static uint64_t higher(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t lower(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* An entry of the tables: the blocks i+1 .. j, and the states of their ends. */
typedef struct entry {
    uint32_t i, j;
    unsigned left, right;
} entry;

static uint64_t by_ways(const pbi_block_needs *n, entry e)
{
    const pbi_blocks *b = n->b;
    uint32_t i = e.i, j = e.j;
    unsigned left = e.left, right = e.right;
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

/* A lower bound for all states: whatever of block i+1 is held, plus the largest backward part behind it. */
static uint64_t min_held(const pbi_blocks *b, uint32_t i)
{
    uint64_t min = b->value[i];
    for (uint32_t k = 0; k < b->block[i + 1].way_count; k++)
        min = lower(min, pbi_block_held(b, i, pbi_block_way_of(b, i + 1, k), PBI_FREE));
    return min;
}

/* The least memory for reversing block k, if no gradient behind it is smaller than this. */
static uint64_t min_back(const pbi_blocks *b, uint32_t k, uint64_t gradient)
{
    uint64_t min = UINT64_MAX;
    for (uint32_t n = 0; n < b->block[k].way_count; n++) {
        const pbi_block_way *w = pbi_block_way_of(b, k, n);
        uint64_t need = pbi_block_back_need(b, k - 1, w, PBI_FREE);
        if (w->reads_run)
            need = higher(need, pbi_add_saturated(pbi_add_saturated(b->value[k - 1], w->forward), gradient));
        min = lower(min, need);
    }
    return min;
}

/* `best` or less; `enough` is a lower bound: the search stops there. */
static uint64_t by_splits(const pbi_block_needs *n, entry e, uint64_t best, uint64_t enough)
{
    const pbi_blocks *b = n->b;
    uint32_t i = e.i, j = e.j;
    size_t row = (size_t)b->count + 1;
    for (unsigned k = 0; k < n->states.rights; k++) {
        const uint64_t *before = n->row[e.left][k] + i * row;
        const uint64_t *behind = n->column[k < n->states.lefts ? k : 0][e.right] + j * row;
        uint64_t run = pbi_block_run_need(b, i, i + 1, j, e.right), held = b->value[i];
        uint64_t ends = pbi_add_saturated(held, pbi_block_right(b, j, e.right));
        /* The last split first: its right part is smallest, which is often optimal. */
        uint64_t last = higher(pbi_add_saturated(n->run[i], ends), pbi_add_saturated(behind[j - 1], held));
        best = lower(best, higher(last, before[j - 1]));
        for (uint32_t m = i + 1; m < j && run < best && best > enough; m++) {
            if (m > i + 1)
                run = higher(run, pbi_add_saturated(ends, b->block[m].through));
            best = lower(best, higher(higher(run, before[m]), pbi_add_saturated(behind[m], held)));
        }
    }
    return best;
}

static void fill_entry(pbi_block_needs *n, uint32_t i, uint32_t j, uint64_t enough)
{
    size_t row = (size_t)n->b->count + 1;
    for (unsigned left = 0; left < n->states.lefts; left++)
        for (unsigned right = 0; right < n->states.rights; right++) {
            entry e = {i, j, left, right};
            uint64_t best = by_ways(n, e);
            if (right == PBI_HELD) /* the right value freed */
                best = lower(best, pbi_block_need_of(n, left, PBI_BARE, i, j));
            if (j > i + 1)
                best = by_splits(n, e, best, enough);
            n->row[left][right][i * row + j] = n->column[left][right][j * row + i] = best;
        }
}

static void fill_column(pbi_block_needs *n, uint32_t j)
{
    const pbi_blocks *b = n->b;
    uint64_t largest = 0, gradient = UINT64_MAX; /* backward part of blocks i+2 .. j; smallest of gradients i+1 .. j */
    for (uint32_t i = j; i-- > 0;) {
        if (j == i + 2)
            n->run[i] = b->block[i + 1].run_keeping;
        else if (j > i + 2)
            n->run[i] = higher(n->run[i], b->block[j - 1].through);
        fill_entry(n, i, j, pbi_add_saturated(largest, min_held(b, i)));
        gradient = lower(gradient, b->gradient[i + 1]);
        largest = higher(largest, min_back(b, i + 1, gradient));
    }
}

pb_status pbi_block_needs_fill(pb_context *ctx, const pbi_blocks *b, pb_arena *arena, pbi_block_needs *out)
{
    size_t row = (size_t)b->count + 1;
    pbi_block_needs n = {.b = b, .states = pbi_blocks_states(b)};
    n.run = pb_arena_alloc(arena, row, sizeof *n.run);
    if (!n.run)
        return PB_ENOMEM;
    for (unsigned left = 0; left < n.states.lefts; left++)
        for (unsigned right = 0; right < n.states.rights; right++) {
            n.row[left][right] = pb_arena_alloc(arena, row * row, sizeof(uint64_t));
            n.column[left][right] = pb_arena_alloc(arena, row * row, sizeof(uint64_t));
            if (!n.row[left][right] || !n.column[left][right])
                return PB_ENOMEM;
        }
    for (uint32_t j = 1; j <= b->count; j++) {
        fill_column(&n, j);
        pb_status status = pbi_tick(ctx, j);
        if (status != PB_OK)
            return status;
    }
    *out = n;
    return PB_OK;
}
