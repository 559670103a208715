/* trees.c -- which graphs are trees in the reversible game, and their places in postorder. */
#include "plan/reversible/tree/trees.h"

#include "base/arena.h"
#include "base/checked.h"

/* Is it a value that plans compute and remove: needed, and not given? */
static bool is_place(const pb_graph *g, pb_node v)
{
    return (g->flags[v] & PB_NODE_NEEDED) && pb_graph_is_computed(g, v);
}

/* The one reader of v, which is not kept to the end; PB_NO_NODE and *single false if there are several. */
static pb_node reader_of(const pb_graph *g, pb_node v, bool *single)
{
    pb_node reader = PB_NO_NODE;
    *single = true;
    for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++) {
        if (!(g->flags[g->out[k]] & PB_NODE_NEEDED))
            continue;
        *single = *single && reader == PB_NO_NODE;
        reader = g->out[k];
    }
    return reader;
}

static pb_status check(const pb_graph *g, pbi_plan *plan, bool *are_trees)
{
    *are_trees = false;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool single = true;
        if ((g->flags[v] & (PB_NODE_NEEDED | PB_NODE_BYPRODUCT)) == (PB_NODE_NEEDED | PB_NODE_BYPRODUCT))
            return pbi_plan_give_up(plan, "does not apply: the graph is not a tree: %.60s is a by-product",
                                    pb_graph_name(g, v));
        if (is_place(g, v) && !pbi_is_final(g, v))
            reader_of(g, v, &single);
        if (!single)
            return pbi_plan_give_up(plan, "does not apply: the graph is not a tree: %.60s is read more than once",
                                    pb_graph_name(g, v));
    }
    *are_trees = true;
    return PB_OK;
}

/* Places of the tree under `root`, from the root on: reversed they are a postorder. */
static void list_tree(pbi_trees *t, pb_node root, pb_node *stack)
{
    const pb_graph *g = t->g;
    uint32_t depth = 0, from = t->count;
    stack[depth++] = root;
    while (depth) {
        pb_node v = stack[--depth];
        t->node[t->count++] = v;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            if (is_place(g, g->in[k]) && !pbi_is_final(g, g->in[k]))
                stack[depth++] = g->in[k];
    }
    for (uint32_t i = from, k = t->count - 1; i < k; i++, k--) {
        pb_node swapped = t->node[i];
        t->node[i] = t->node[k];
        t->node[k] = swapped;
    }
    t->root[t->root_count++] = t->count - 1;
}

static void measure(const pb_game *game, pbi_trees *t)
{
    const pb_graph *g = t->g;
    uint64_t held = g->fixed_size;
    t->equal = true;
    for (uint32_t i = 0; i < t->count; i++) {
        pb_node v = t->node[i];
        t->equal = t->equal && g->size[v] == g->size[t->node[0]] && !g->workspace[v];
        t->overwrites = t->overwrites || (g->inplace_start && g->inplace_start[v] < g->inplace_start[v + 1]);
    }
    for (pb_node v = 0; v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_GIVEN) && !pbi_add(held, g->size[v], &held))
            held = UINT64_MAX;
    t->budget = game->cap > held ? game->cap - held : 0;
}

pb_status pbi_trees_read(const pb_game *game, pb_arena *scratch, pbi_plan *plan, pbi_trees *out, bool *are_trees)
{
    const pb_graph *g = game->graph;
    pb_status status = check(g, plan, are_trees);
    if (status != PB_OK || !*are_trees)
        return status;
    *out = (pbi_trees){.g = g};
    out->node = pb_arena_alloc(scratch, g->order_count, sizeof *out->node);
    out->parent = pb_arena_alloc(scratch, g->order_count, sizeof *out->parent);
    out->root = pb_arena_alloc(scratch, g->order_count, sizeof *out->root);
    pb_node *stack = pb_arena_alloc(scratch, g->order_count, sizeof *stack);
    uint32_t *place = pb_arena_alloc(scratch, g->node_count, sizeof *place);
    if (!out->node || !out->parent || !out->root || !stack || !place)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (is_place(g, g->order[i]) && pbi_is_final(g, g->order[i]))
            list_tree(out, g->order[i], stack);
    for (uint32_t i = 0; i < out->count; i++)
        place[out->node[i]] = i;
    for (uint32_t i = 0; i < out->count; i++) {
        bool single;
        pb_node v = out->node[i], reader = pbi_is_final(g, v) ? PB_NO_NODE : reader_of(g, v, &single);
        out->parent[i] = reader == PB_NO_NODE ? PBI_NO_PLACE : place[reader];
    }
    measure(game, out);
    return PB_OK;
}
