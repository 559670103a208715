/* write.c -- see write.h. */
#include "plan/reversible/anneal/write.h"

#include "base/arena.h"
#include "base/checked.h"

#include <math.h>
#include <string.h>

/* The values of a unit except the node itself. */
static uint32_t parts_of(const pb_graph *g, pb_node v, pb_node *part)
{
    uint32_t count = 0;
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            if (g->flags[g->part[k]] & PB_NODE_NEEDED)
                part[count++] = g->part[k];
    return count;
}

/* Values that are kept to the end may be removed and recomputed before, so this handles units as a whole. */
static pb_status write_move(const pb_graph *g, pb_node v, bool resident, pb_node *part, pb_moves *moves)
{
    uint32_t parts = parts_of(g, v, part);
    if (!resident)
        return pb_moves_add_compute(moves, v, PB_NO_NODE, part, parts);
    pb_status status = PB_OK;
    for (uint32_t k = 0; k < parts && status == PB_OK; k++)
        status = pb_moves_add(moves, PB_UNCOMPUTE, part[k], 0);
    return status == PB_OK ? pb_moves_add(moves, PB_UNCOMPUTE, v, 0) : status;
}

pb_status pbi_rev_write(const pbi_rev_model *m, const pbi_rev_list *list, pb_arena *arena, pbi_plan *plan)
{
    const pb_graph *g = m->game->graph;
    uint64_t work = 0;
    uint8_t *resident = pb_arena_zero(arena, m->count, sizeof *resident);
    pb_node *part = pb_arena_alloc(arena, (size_t)g->node_count + 1, sizeof *part);
    pb_status status = resident && part ? PB_OK : PB_ENOMEM;
    for (uint32_t i = 0; i < list->count && status == PB_OK; i++) {
        uint32_t u = list->unit[i];
        if (!pbi_add(work, g->cost[m->node[u]], &work))
            return pbi_plan_give_up(plan, "does not apply: its work exceeds 2^64; use a coarser cost unit");
        status = write_move(g, m->node[u], resident[u], part, &plan->moves);
        resident[u] = !resident[u];
    }
    if (status == PB_OK)
        plan->outcome = PB_FOUND;
    return status;
}

double pbi_rev_cost(const pbi_rev_model *m, const pbi_rev_list *list, uint8_t *resident)
{
    const pb_graph *g = m->game->graph;
    const pb_weights *w = &m->game->weights;
    uint64_t memory = m->base, peak = m->base;
    double work = 0, flux = 0;
    memset(resident, 0, m->count);
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t u = list->unit[i];
        pb_node v = m->node[u];
        uint64_t during = memory + (resident[u] ? 0 : g->size[v]) + g->workspace[v];
        peak = during > peak ? during : peak;
        work += (double)g->cost[v];
        flux += (double)g->cost[v] * (double)during;
        memory = resident[u] ? memory - g->size[v] : memory + g->size[v];
        resident[u] = !resident[u];
    }
    if (peak > m->game->cap)
        return INFINITY;
    return (double)w->alpha * (double)peak + (double)w->beta * flux + (double)w->gamma * work;
}
