/* units.c -- see units.h. */
#include "plan/reversible/units.h"

#include "base/checked.h"
#include "base/context.h"

#include <inttypes.h>

pb_status pbi_reversible_init(pbi_reversible *r, pb_context *ctx, const pb_game *game, pbi_plan *plan, uint64_t limit,
                              pb_arena *scratch)
{
    const pb_graph *g = game->graph;
    *r = (pbi_reversible){.ctx = ctx, .game = game, .g = g, .plan = plan, .limit = limit, .memory = g->fixed_size};
    r->resident = pb_arena_zero(scratch, g->node_count, sizeof *r->resident);
    r->computed = pb_arena_zero(scratch, g->node_count, sizeof *r->computed);
    r->also = pb_arena_alloc(scratch, g->node_count, sizeof *r->also);
    if (!r->resident || !r->computed || !r->also)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_GIVEN) {
            r->resident[v] = 1;
            r->memory += g->size[v];
        }
    r->f.peak = r->memory;
    r->f.fits = r->memory <= game->cap;
    return PB_OK;
}

bool pbi_reversible_ready(const pbi_reversible *r, pb_node v)
{
    for (uint32_t k = r->g->in_start[v]; k < r->g->in_start[v + 1]; k++)
        if (!r->resident[r->g->in[k]])
            return false;
    return true;
}

static bool needed_part(const pbi_reversible *r, pb_node w)
{
    return (r->g->flags[w] & PB_NODE_NEEDED) && !r->resident[w];
}

uint64_t pbi_reversible_need(const pbi_reversible *r, pb_node v)
{
    const pb_graph *g = r->g;
    uint64_t need = (r->resident[v] ? 0 : g->size[v]) + g->workspace[v];
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            need += needed_part(r, g->part[k]) ? g->size[g->part[k]] : 0;
    return need;
}

bool pbi_reversible_removable(const pbi_reversible *r, pb_node v)
{
    const pb_graph *g = r->g;
    if (r->resident[v] && !pbi_is_final(g, v))
        return true;
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            if (r->resident[g->part[k]] && !pbi_is_final(g, g->part[k]))
                return true;
    return false;
}

/* Accounts for one move; gives up when it exceeds the cap. */
static pb_status account(pbi_reversible *r, const char *word, pb_node v, uint64_t during)
{
    if (during > r->f.peak)
        r->f.peak = during;
    if (during > r->game->cap) {
        r->f.fits = false;
        r->stuck = true;
        return r->plan ? pbi_plan_over_cap(r->plan, r->game, r->step, word, v, during) : PB_OK;
    }
    uint64_t cost = r->g->cost[v];
    if (!pbi_add(r->f.time, cost, &r->f.time))
        r->f.overflow = true;
    pbi_u128_add(&r->f.flux, pbi_u128_product(cost, during));
    if (++r->step > r->limit)
        return pbi_fail(r->ctx, PB_ELIMIT, "limit hit: more than %" PRIu64 " moves; raise its option limit", r->limit);
    return (r->step & 0xff) == 0 ? pbi_tick(r->ctx, 0x100) : PB_OK;
}

pb_status pbi_reversible_compute(pbi_reversible *r, pb_node v)
{
    const pb_graph *g = r->g;
    uint32_t count = 0;
    uint64_t during = r->memory + pbi_reversible_need(r, v);
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            if (needed_part(r, g->part[k]))
                r->also[count++] = g->part[k];
    if (r->resident[v] && !count)
        return PB_OK;
    if ((g->flags[v] & PB_NODE_ONCE) && r->computed[v]) {
        r->stuck = true;
        return r->plan
                   ? pbi_plan_give_up(r->plan, "does not apply: %.60s may be computed only once", pb_graph_name(g, v))
                   : PB_OK;
    }
    pb_status status = account(r, "compute", v, during);
    if (status != PB_OK || r->stuck)
        return status;
    r->memory = during - g->workspace[v];
    r->resident[v] = r->computed[v] = 1;
    for (uint32_t i = 0; i < count; i++)
        r->resident[r->also[i]] = 1;
    return r->plan ? pb_moves_add_compute(&r->plan->moves, v, PB_NO_NODE, r->also, count) : PB_OK;
}

static pb_status remove_value(pbi_reversible *r, pb_node v)
{
    pb_status status = account(r, "uncompute", v, r->memory + r->g->workspace[v]);
    if (status != PB_OK || r->stuck)
        return status;
    r->resident[v] = 0;
    r->memory -= r->g->size[v];
    return r->plan ? pb_moves_add(&r->plan->moves, PB_UNCOMPUTE, v, 0) : PB_OK;
}

pb_status pbi_reversible_uncompute(pbi_reversible *r, pb_node v)
{
    const pb_graph *g = r->g;
    pb_status status = PB_OK;
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1] && status == PB_OK && !r->stuck; k++)
            if (r->resident[g->part[k]] && !pbi_is_final(g, g->part[k]))
                status = remove_value(r, g->part[k]);
    if (status == PB_OK && !r->stuck && r->resident[v] && !pbi_is_final(g, v))
        status = remove_value(r, v);
    return status;
}

void pbi_reversible_finish(pbi_reversible *r)
{
    if (r->plan && !r->stuck && r->f.fits && !r->f.overflow)
        r->plan->outcome = PB_FOUND;
}
