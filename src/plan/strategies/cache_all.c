/* cache_all.c -- the baseline: compute everything once, free nothing.
 *
 * Problem     how much memory does the program need if every value is kept?
 * Idea        needed nodes in program order, with the by-products that are read.
 * Invariants  every input is resident because nothing is ever freed.
 * Cost        O(nodes).
 * Source      folklore; what frameworks do without a planner.
 * Limits      fails at any cap below the sum of all sizes; makes no in-place moves, because those free a value.
 */
#include "plan/strategy.h"

#include "base/context.h"

/* Must the value be in fast memory at some time? */
static bool is_used(const pb_graph *g, pb_node w)
{
    if (g->flags[w] & PB_NODE_KEEP)
        return true;
    for (uint32_t k = g->out_start[w]; k < g->out_start[w + 1]; k++)
        if (g->flags[g->out[k]] & PB_NODE_NEEDED)
            return true;
    return false;
}

/* Values given in slow memory are loaded first. */
static pb_status load_given(const pb_game *game, pbi_plan *plan, uint64_t *memory, bool *fits)
{
    const pb_graph *g = game->graph;
    *memory = g->fixed_size;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_GIVEN) && !(g->flags[v] & PB_NODE_GIVEN_SLOW))
            *memory += g->size[v];
    for (pb_node v = 0; v < g->node_count && status == PB_OK && *fits; v++)
        if ((g->flags[v] & PB_NODE_GIVEN_SLOW) && is_used(g, v)) {
            *memory += g->size[v];
            *fits = *memory <= game->cap;
            status = *fits ? pb_moves_add(&plan->moves, PB_LOAD, v, 1)
                           : pbi_plan_over_cap(plan, game, plan->moves.count, "load", v, *memory);
        }
    return status;
}

pb_status pbi_plan_cache_all(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    const pb_graph *g = game->graph;
    (void)options;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_node *also = pb_arena_alloc(&scratch, g->node_count, sizeof *also);
    uint64_t memory = 0;
    bool fits = true;
    pb_status status = also ? load_given(game, plan, &memory, &fits) : PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count && status == PB_OK && fits; i++) {
        pb_node v = g->order[i];
        uint32_t made = 0;
        if (!(g->flags[v] & PB_NODE_NEEDED))
            continue;
        memory += g->size[v];
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                if ((g->flags[g->part[k]] & PB_NODE_TARGET) || is_used(g, g->part[k])) {
                    also[made++] = g->part[k];
                    memory += g->size[g->part[k]];
                }
        fits = memory + g->workspace[v] <= game->cap;
        if (!fits)
            status = pbi_plan_over_cap(plan, game, plan->moves.count, "compute", v, memory + g->workspace[v]);
        else
            status = pb_moves_add_compute(&plan->moves, v, PB_NO_NODE, also, made);
        if (status == PB_OK && (i & 0xfff) == 0)
            status = pbi_tick(ctx, 0x1000);
    }
    pb_arena_release(&scratch);
    if (status == PB_OK && fits)
        plan->outcome = PB_FOUND;
    return status;
}
