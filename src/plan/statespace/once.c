/* once.c -- see once.h.
 *
 * Suppose that a plan computes y twice. In the game where y costs nothing the same plan has less work, by at least
 * twice the cost of y. So its work is at least that much above a lower bound of the other game. If this is no less
 * than the work of the known plan, a better plan computes y once. Marking y as `once` raises the bounds for the
 * other nodes, so they are tried again until nothing changes.
 */
#include "plan/statespace/once.h"

#include "base/checked.h"
#include "base/context.h"
#include "pebble/bound.h"

#include <string.h>

enum {
    TURNS = 4,         /* rounds over the nodes */
    A_BOUND = 3000000, /* steps for each bound, */
    TICKS = 2000       /* and what it counts in ticks */
};

typedef struct narrower {
    pb_context *ctx;
    pb_graph *graph; /* of the narrowed game */
    uint64_t *cost;  /* of `graph`, writable */
    uint16_t *flags;
    uint64_t work; /* of the known plan */
    uint32_t max_nodes;
    pbi_once *out;
} narrower;

static pb_status copy_graph(narrower *f, const pb_game *game, pb_arena *arena)
{
    const pb_graph *g = game->graph;
    f->graph = pb_arena_alloc(arena, 1, sizeof *f->graph);
    f->cost = pb_arena_alloc(arena, g->node_count, sizeof *f->cost);
    f->flags = pb_arena_alloc(arena, g->node_count, sizeof *f->flags);
    if (!f->graph || !f->cost || !f->flags)
        return PB_ENOMEM;
    *f->graph = *g;
    memcpy(f->cost, g->cost, g->node_count * sizeof *f->cost);
    memcpy(f->flags, g->flags, g->node_count * sizeof *f->flags);
    f->graph->cost = f->cost;
    f->graph->flags = f->flags;
    f->out->game = *game;
    f->out->game.graph = f->graph;
    return PB_OK;
}

/* A lower bound on the work of every plan of the narrowed game, UINT64_MAX when there is none. */
static pb_status bound_of(const narrower *f, uint64_t *bound)
{
    pb_bounds b = {.makespan = 0};
    pb_status status = pbi_tick(f->ctx, TICKS);
    if (status == PB_OK)
        status = pb_bounds_make(f->ctx, &f->out->game, &b);
    if (status == PB_OK)
        status = pb_bounds_tighten(f->ctx, &f->out->game, A_BOUND, &b);
    *bound = b.over || b.impossible || b.least_cap > f->out->game.cap ? UINT64_MAX : b.makespan;
    return status;
}

/* Does every plan that computes y twice have at least the work of the known plan? */
static pb_status is_too_expensive(narrower *f, pb_node y, bool *too_expensive)
{
    uint64_t cost = f->cost[y], twice = pbi_add_saturated(cost, cost), bound;
    *too_expensive = pbi_add_saturated(f->graph->needed_cost, cost) >= f->work;
    if (*too_expensive)
        return PB_OK;
    f->cost[y] = 0;
    f->graph->needed_cost -= cost;
    pb_status status = bound_of(f, &bound);
    f->graph->needed_cost += cost;
    f->cost[y] = cost;
    *too_expensive = status == PB_OK && pbi_add_saturated(bound, twice) >= f->work;
    return status;
}

/* May it be recomputed, at a cost? */
static bool may_repeat(const narrower *f, pb_node y)
{
    const uint16_t without = PB_NODE_GIVEN | PB_NODE_BYPRODUCT | PB_NODE_ONCE;
    return (f->flags[y] & PB_NODE_NEEDED) && !(f->flags[y] & without) && f->cost[y];
}

static pb_status try_all_nodes(narrower *f, bool *changed)
{
    pb_status status = PB_OK;
    *changed = false;
    for (pb_node y = 0; y < f->graph->node_count && status == PB_OK && f->out->count < f->max_nodes; y++) {
        bool too_expensive;
        if (!may_repeat(f, y))
            continue;
        status = is_too_expensive(f, y, &too_expensive);
        if (status != PB_OK || !too_expensive)
            continue;
        f->flags[y] |= PB_NODE_ONCE;
        f->out->count++;
        *changed = true;
    }
    return status;
}

pb_status pbi_once_narrow(pb_context *ctx, const pb_game *game, uint64_t work, uint32_t max_nodes, pb_arena *arena,
                          pbi_once *out)
{
    narrower f = {.ctx = ctx, .work = work, .max_nodes = max_nodes, .out = out};
    bool changed = true;
    *out = (pbi_once){.bound = 0};
    pb_status status = copy_graph(&f, game, arena);
    if (status != PB_OK)
        return status;
    for (int turn = 0; turn < TURNS && changed && status == PB_OK; turn++)
        status = try_all_nodes(&f, &changed);
    if (status == PB_OK)
        status = bound_of(&f, &out->bound);
    for (pb_node y = 0; y < game->graph->node_count; y++)
        out->open += may_repeat(&f, y);
    out->none = out->bound >= work;
    out->bound = out->bound < work ? out->bound : work;
    return status;
}
