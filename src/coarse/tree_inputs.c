/* tree_inputs.c -- see tree_inputs.h; and the size of an unfolded graph. */
#include "coarse/tree_inputs.h"

#include "base/checked.h"
#include "base/context.h"
#include "pebble/tree.h"

#include <math.h>
#include <string.h>

static bool has_flag(const pb_graph *g, pb_node v, unsigned flags)
{
    bool any = g->flags[v] & flags;
    for (uint32_t k = g->part_start ? g->part_start[v] : 0; g->part_start && k < g->part_start[v + 1]; k++)
        any = any || (g->flags[g->part[k]] & flags);
    return any;
}

bool pbi_tree_needed(const pb_graph *g, pb_node v) { return has_flag(g, v, PB_NODE_NEEDED); }
bool pbi_tree_is_goal(const pb_graph *g, pb_node v) { return has_flag(g, v, PB_NODE_TARGET | PB_NODE_KEEP); }

pb_status pbi_tree_inputs_find(pb_context *ctx, const pb_graph *g, pb_arena *arena, pbi_tree_inputs *out)
{
    uint32_t n = g->node_count, count = 0;
    (void)ctx;
    uint32_t *place = pb_arena_alloc(arena, (size_t)n + 1, sizeof *place);
    out->start = pb_arena_alloc(arena, (size_t)n + 2, sizeof *out->start);
    out->node = pb_arena_alloc(arena, (size_t)g->edge_count + 1, sizeof *out->node);
    if (!place || !out->start || !out->node)
        return PB_ENOMEM;
    memset(place, 0xff, ((size_t)n + 1) * sizeof *place);
    for (uint32_t i = 0; i < g->order_count; i++)
        place[g->order[i]] = i;
    for (pb_node v = 0; v < n; v++) {
        out->start[v] = count;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = pb_graph_maker(g, g->in[k]);
            uint32_t at = count;
            while (at > out->start[v] && place[out->node[at - 1]] > place[u])
                at--;
            if (at > out->start[v] && out->node[at - 1] == u)
                continue;
            if (place[u] == UINT32_MAX) /* given values behind the others; in rows they are distinct */
                at = count;
            memmove(out->node + at + 1, out->node + at, (count - at) * sizeof *out->node);
            out->node[at] = u;
            count++;
        }
    }
    out->start[n] = count;
    return PB_OK;
}

typedef struct copies {
    uint64_t exact; /* UINT64_MAX: that many or more */
    double log;     /* natural logarithm, -INFINITY for none */
} copies;

static copies plus(copies a, copies b)
{
    copies sum;
    double high = a.log > b.log ? a.log : b.log, low = a.log > b.log ? b.log : a.log;
    if (!pbi_add(a.exact, b.exact, &sum.exact))
        sum.exact = UINT64_MAX;
    sum.log = isinf(low) ? high : high + log1p(exp(low - high));
    return sum;
}

/* From the targets down: a node has as many copies as all of its readers together, and one if it is a target. */
static void count_copies(const pb_graph *g, const pbi_tree_inputs *inputs, copies *of, pb_tree_size *out)
{
    copies all = {0, -INFINITY};
    const copies one = {1, 0};
    for (uint32_t i = g->order_count; i-- > 0;) {
        pb_node v = g->order[i];
        if (pbi_tree_is_goal(g, v))
            of[v] = plus(of[v], one);
        for (uint32_t k = inputs->start[v]; k < inputs->start[v + 1]; k++)
            of[inputs->node[k]] = plus(of[inputs->node[k]], of[v]);
    }
    for (pb_node v = 0; v < g->node_count; v++) {
        uint64_t cost;
        all = plus(all, of[v]);
        if (of[v].exact > out->most_copies) {
            out->most = v;
            out->most_copies = of[v].exact;
        }
        if (!pb_graph_is_computed(g, v))
            continue;
        bool fits = of[v].exact != UINT64_MAX && pbi_mul(of[v].exact, g->cost[v], &cost);
        if (!of[v].exact || (!g->cost[v] && of[v].exact == UINT64_MAX))
            continue;
        if (!fits || !pbi_add(out->cost, cost, &out->cost))
            out->cost = UINT64_MAX;
    }
    uint32_t goals = 0; /* nodes that join them */
    for (uint32_t i = 0; i < g->order_count; i++)
        goals += pbi_tree_is_goal(g, g->order[i]);
    out->nodes = goals > 1 && !pbi_add(all.exact, goals - 1, &all.exact) ? UINT64_MAX : all.exact;
    out->digits = isinf(all.log) ? 0 : all.log / log(10);
}

pb_status pb_tree_measure(pb_context *ctx, const pb_graph *g, pb_tree_size *out)
{
    pb_arena scratch;
    pbi_tree_inputs inputs;
    pb_arena_init(&scratch, ctx);
    copies *of = pb_arena_alloc(&scratch, (size_t)g->node_count + 1, sizeof *of);
    pb_status status = of ? pbi_tree_inputs_find(ctx, g, &scratch, &inputs) : PB_ENOMEM;
    for (pb_node v = 0; of && v < g->node_count; v++)
        of[v] = (copies){0, -INFINITY};
    *out = (pb_tree_size){.most = PB_NO_NODE};
    if (status == PB_OK)
        count_copies(g, &inputs, of, out);
    pb_arena_release(&scratch);
    return status;
}
