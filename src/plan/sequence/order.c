/* order.c -- see order.h.
 *
 * Program order, then greedy orders; then, on graphs that are small or narrow, a search over sets of computed nodes
 * that may prove the least peak; then local search from the best.
 */
#include "plan/sequence/order.h"

#include "base/arena.h"
#include "base/context.h"
#include "plan/sequence/order_parts.h"

enum { EXACT_NODES = 4096 };

static pb_status search_order(pbi_order_task *t, const pbi_order_options *options, pbi_order_found *found)
{
    uint32_t *left = pb_arena_alloc(t->arena, t->g->node_count, sizeof *left);
    if (!left)
        return PB_ENOMEM;
    pb_status status = t->peak > t->enough ? pbi_order_greedy(t) : PB_OK;
    if (status != PB_OK || t->peak <= t->enough || !options->effort)
        return status;
    if (t->count <= EXACT_NODES) {
        pbi_order_exact_answer exact;
        pbi_order_exact_limits limits = {.below = t->peak, .states = options->effort / 16};
        status = pbi_order_exact(t, t->best, &limits, &exact);
        if (status == PB_OK && exact.found)
            t->peak = pbi_order_measure(t, t->best, left);
        if (status == PB_OK && exact.proved) {
            found->min_peak = t->peak > t->enough ? t->peak : found->min_peak;
            return PB_OK;
        }
    }
    return status == PB_OK ? pbi_order_local(t, options->effort, options->seed) : status;
}

pb_status pbi_order_find(pb_context *ctx, const pb_game *game, const pbi_order_options *options, pb_node *order,
                         pbi_order_found *found)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_order_task t;
    pb_status status = pbi_order_task_init(&t, ctx, game, options->enough, order, &scratch);
    if (status == PB_OK) {
        found->min_peak = t.floor;
        status = search_order(&t, options, found);
        found->peak = t.peak;
    }
    pb_arena_release(&scratch);
    return status;
}

pb_status pbi_order_low_peak(pb_context *ctx, const pb_game *game, uint64_t effort, pb_node *order, uint64_t *peak)
{
    pbi_order_options options = {.enough = game->cap, .effort = effort, .seed = 1};
    pbi_order_found found = {0, 0};
    pb_status status = pbi_order_find(ctx, game, &options, order, &found);
    if (status != PB_ENOMEM)
        *peak = found.peak;
    return status;
}
