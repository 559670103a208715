/* coarse_expand.c -- what a schedule of the coarse graph computes in the fine one.
 *
 * A move of the coarse graph makes some values of a cluster. Inside, only the computations are repeated that these
 * values need and whose own values are not in memory; the first time, targets inside of the cluster are computed too.
 */
#include "base/arena.h"
#include "base/context.h"
#include "pebble/coarse.h"

#include <string.h>

typedef struct expansion {
    const pb_coarse *c;
    uint8_t *resident; /* by coarse node */
    uint8_t *made;     /* by cluster */
    uint64_t *wanted;  /* by coarse node: the move that makes it, counted from 1 */
    uint64_t *needed;  /* by fine node: the move that needs its computation */
    pb_node *computed;
    size_t count, room;
    pb_arena *arena;
} expansion;

/* Does this move make the value, or must it, because it is a target inside of the cluster? */
static bool makes(const expansion *x, pb_node fine, uint64_t now, bool first)
{
    pb_node value = x->c->value[fine];
    return value != PB_NO_NODE ? x->wanted[value] == now : first && (x->c->fine->flags[fine] & PB_NODE_TARGET);
}

static bool makes_any(const expansion *x, pb_node unit, uint64_t now, bool first)
{
    const pb_graph *g = x->c->fine;
    bool any = makes(x, unit, now, first);
    if (g->flags[unit] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[unit]; k < g->part_start[unit + 1] && !any; k++)
            any = makes(x, g->part[k], now, first);
    return any;
}

/* Marks what the computation of `unit` reads from its own cluster. */
static void need_inputs(expansion *x, pb_node unit, uint64_t now)
{
    const pb_graph *g = x->c->fine;
    for (uint32_t e = g->in_start[unit]; e < g->in_start[unit + 1]; e++) {
        pb_node u = g->in[e], value = x->c->value[u];
        bool there = value != PB_NO_NODE && x->resident[value];
        if (x->c->cluster[u] == x->c->cluster[unit] && !there)
            x->needed[pb_graph_maker(g, u)] = now;
    }
}

static pb_status run_cluster(expansion *x, uint32_t cluster, uint64_t now)
{
    const pb_coarse *c = x->c;
    bool first = !x->made[cluster];
    void *items = x->computed;
    uint32_t begin = c->member_start[cluster], end = c->member_start[cluster + 1];
    x->made[cluster] = 1;
    if (!pbi_arena_reserve(x->arena, &items, &x->room, x->count + (end - begin), sizeof *x->computed))
        return PB_ENOMEM;
    x->computed = items;
    for (uint32_t at = end; at-- > begin;) {
        pb_node v = c->member[at];
        if (makes_any(x, v, now, first))
            x->needed[v] = now;
        if (x->needed[v] == now)
            need_inputs(x, v, now);
    }
    for (uint32_t at = begin; at < end; at++)
        if (x->needed[c->member[at]] == now)
            x->computed[x->count++] = c->member[at];
    return PB_OK;
}

static pb_status expand_compute(expansion *x, const pb_moves *moves, pb_step k)
{
    uint32_t count;
    const pb_node *also = pb_moves_also(moves, k, &count);
    pb_node v = moves->move[k].node, over = pb_moves_over(moves, k);
    uint64_t now = k + 1;
    if (!x->resident[v])
        x->wanted[v] = now;
    for (uint32_t i = 0; i < count; i++)
        x->wanted[also[i]] = now;
    pb_status status = run_cluster(x, x->c->cluster_of[v], now);
    x->resident[v] = 1;
    for (uint32_t i = 0; i < count; i++)
        x->resident[also[i]] = 1;
    if (over != PB_NO_NODE)
        x->resident[over] = 0;
    return status;
}

pb_status pb_coarse_computations(pb_context *ctx, const pb_coarse *c, const pb_moves *moves, pb_arena *result,
                                 const pb_node **out, uint64_t *count)
{
    pb_arena scratch;
    size_t n = (size_t)c->graph->node_count + 1;
    pb_status status = PB_OK;
    pb_arena_init(&scratch, ctx);
    expansion x = {.c = c,
                   .resident = pb_arena_zero(&scratch, n, 1),
                   .made = pb_arena_zero(&scratch, (size_t)c->cluster_count + 1, 1),
                   .wanted = pb_arena_zero(&scratch, n, sizeof *x.wanted),
                   .needed = pb_arena_zero(&scratch, (size_t)c->fine->node_count + 1, sizeof *x.needed),
                   .arena = result};
    if (!x.resident || !x.made || !x.wanted || !x.needed)
        status = PB_ENOMEM;
    for (pb_step k = 0; k < moves->count && status == PB_OK; k++) {
        const pb_move *m = &moves->move[k];
        if (m->op == PB_COMPUTE && m->by == 0 && c->cluster_of[m->node] != UINT32_MAX)
            status = expand_compute(&x, moves, k);
        else if (m->op == PB_FREE)
            x.resident[m->node] = 0;
        else
            status = pbi_fail(ctx, PB_EINVAL,
                              "only schedules of the remat game can be expanded; plan the coarse "
                              "graph with --game remat");
    }
    pb_arena_release(&scratch);
    if (status != PB_OK)
        return status;
    *out = x.computed;
    *count = x.count;
    return PB_OK;
}
