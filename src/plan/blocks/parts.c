/* parts.c -- see parts.h. */
#include "plan/blocks/parts.h"

#include "base/arena.h"
#include "base/context.h"

pbi_block_states pbi_blocks_states(const pbi_blocks *b)
{
    pbi_block_states states = {1, 1};
    for (uint32_t k = 1; k <= b->count; k++)
        for (uint32_t n = 0; n < b->block[k].way_count; n++) {
            const pbi_block_way *w = pbi_block_way_of(b, k, n);
            if (!w->reads_left) /* else the left value is kept anyway */
                states.lefts = 2;
            if (w->reads_right && !w->reads_run) /* else the right value saves no run */
                states.rights = 2;
        }
    return states;
}

uint64_t pbi_blocks_max_work(const pbi_blocks *b)
{
    uint64_t sum = 0, max;
    for (uint32_t k = 1; k <= b->count; k++) {
        uint64_t extra_work = 0;
        for (uint32_t n = 0; n < b->block[k].way_count; n++)
            if (pbi_block_way_of(b, k, n)->extra_work > extra_work)
                extra_work = pbi_block_way_of(b, k, n)->extra_work;
        sum = pbi_add_saturated(sum, pbi_add_saturated(b->block[k].cost, extra_work));
    }
    /* Every part that reruns a block is inside another, so no block runs more often than there are blocks. */
    return pbi_mul(sum, (uint64_t)b->count + 1, &max) ? max : UINT64_MAX;
}

pb_status pbi_blocks_check(pb_context *ctx, const pbi_blocks *b)
{
    if (pbi_blocks_max_work(b) >> 62)
        return pbi_fail(ctx, PB_ERANGE, "the work of the blocks exceeds 2^62; use a coarser cost unit");
    return PB_OK;
}

pbi_block_single pbi_block_alone(const pbi_blocks *b, uint32_t i, const pbi_block_way *w, unsigned left, unsigned right)
{
    if (!pbi_block_runs(w, right))
        return (pbi_block_single){pbi_block_back_need(b, i, w, left), w->extra_work};
    /* A right value that does not save the run is freed before it. */
    return (pbi_block_single){pbi_block_way_need(b, i, w, i + 1, left, PBI_BARE), b->block[i + 1].cost + w->extra_work};
}

static pb_status add(pbi_block_list *list, uint32_t block, uint32_t way, pbi_block_do what)
{
    void *items = list->action;
    if (!pbi_arena_reserve(list->arena, &items, &list->room, list->count + 1, sizeof *list->action))
        return PB_ENOMEM;
    list->action = items;
    list->action[list->count++] = (pbi_block_action){block, (uint16_t)way, (uint16_t)what};
    return PB_OK;
}

pb_status pbi_block_list_run(pbi_block_list *list, uint32_t from, uint32_t to)
{
    pb_status status = PB_OK;
    for (uint32_t k = from + 1; k <= to && status == PB_OK; k++) {
        list->work += list->b->block[k].cost;
        status = add(list, k, 0, PBI_BLOCK_RUN);
    }
    return status;
}

pb_status pbi_block_list_way(pbi_block_list *list, uint32_t block, uint32_t way)
{
    list->work += list->b->block[block].cost;
    return add(list, block, way, PBI_BLOCK_WAY);
}

pb_status pbi_block_list_back(pbi_block_list *list, uint32_t block, uint32_t way)
{
    list->work += pbi_block_way_of(list->b, block, way)->extra_work;
    return add(list, block, way, PBI_BLOCK_BACK);
}
