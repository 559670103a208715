/* line.c -- see line.h. */
#include "plan/reversible/line/line.h"

#include "base/arena.h"
#include "base/checked.h"

static void measure(pbi_line *line)
{
    const pb_graph *g = line->g;
    line->equal_sizes = line->equal_costs = true;
    for (uint32_t i = 0; i < line->count; i++) {
        pb_node v = line->node[i], first = line->node[0];
        line->size = g->size[v] > line->size ? g->size[v] : line->size;
        line->cost = g->cost[v] > line->cost ? g->cost[v] : line->cost;
        line->workspace = g->workspace[v] > line->workspace ? g->workspace[v] : line->workspace;
        line->equal_sizes = line->equal_sizes && g->size[v] == g->size[first];
        line->equal_costs = line->equal_costs && g->cost[v] == g->cost[first];
        line->overwrites =
            line->overwrites || (g->inplace_start && g->inplace_start[v] < g->inplace_start[(size_t)v + 1]);
    }
}

pb_status pbi_line_read(const pb_game *game, pb_arena *scratch, pbi_plan *plan, pbi_line *line, bool *is_line)
{
    const pb_graph *g = game->graph;
    uint64_t held = g->fixed_size;
    *line = (pbi_line){.g = g};
    *is_line = g->shape == PB_SHAPE_CHAIN || g->shape == PB_SHAPE_EMPTY;
    if (!*is_line)
        return pbi_plan_give_up(plan, "does not apply: the graph is not a chain");
    line->node = pb_arena_alloc(scratch, g->order_count, sizeof *line->node);
    line->stop = pb_arena_alloc(scratch, g->order_count, sizeof *line->stop);
    if (!line->node || !line->stop)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++) { /* a chain has one order */
        pb_node v = g->order[i];
        if (!(g->flags[v] & PB_NODE_NEEDED))
            continue;
        line->node[line->count++] = v;
        if (pbi_is_final(g, v))
            line->stop[line->stop_count++] = line->count;
    }
    for (pb_node v = 0; v < g->node_count; v++)
        held += g->flags[v] & PB_NODE_GIVEN ? g->size[v] : 0;
    line->budget = game->cap > held ? game->cap - held : 0;
    measure(line);
    return PB_OK;
}

static pb_status push_task(pbi_line_player *p, uint32_t from, uint32_t to, uint64_t level, bool undo)
{
    void *items = p->task;
    if (!pbi_arena_reserve(p->arena, &items, &p->room, p->depth + 1, sizeof *p->task))
        return PB_ENOMEM;
    p->task = items;
    p->task[p->depth++] = (pbi_line_task){level, from, to, undo};
    return PB_OK;
}

/* The stack runs what was pushed last first. Undoing swaps the two visits to the cut and runs them backwards. */
static pb_status expand(pbi_line_player *p, const pbi_line_task *t)
{
    pbi_cut c = p->cut(p->state, t->from, t->to, t->level);
    pb_status status = push_task(p, t->from, c.at, t->undo ? c.make : c.back, true);
    if (status == PB_OK)
        status = push_task(p, c.at, t->to, c.reach, t->undo);
    if (status == PB_OK)
        status = push_task(p, t->from, c.at, t->undo ? c.back : c.make, false);
    return status;
}

pb_status pbi_line_play(pbi_line_player *p, uint32_t from, uint32_t to, uint64_t level)
{
    p->depth = 0;
    pb_status status = push_task(p, from, to, level, false);
    while (p->depth && status == PB_OK && !p->r->stuck) {
        pbi_line_task t = p->task[--p->depth];
        pb_node v = p->line->node[t.from];
        if (t.to - t.from > 1)
            status = expand(p, &t);
        else
            status = t.undo ? pbi_reversible_uncompute(p->r, v) : pbi_reversible_compute(p->r, v);
    }
    return status;
}
