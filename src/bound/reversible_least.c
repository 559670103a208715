/* reversible_least.c -- see reversible_least.h and docs/bounds.md, "Reversible memory".
 *
 * Remove edges until final values have no reader and every other value has one: the result is a set of trees whose
 * roots are the final values. A plan of the graph, without the moves outside one tree, is a plan of that tree, so at
 * some time it has as many values in memory as the tree needs pebbles: the ranks of its edges, plus one. Any choice of
 * edges is valid: the first and the last reader of each value are tried.
 */
#include "bound/reversible_least.h"

#include "base/checked.h"
#include "base/context.h"
#include "bound/edge_rank.h"

#include <stdlib.h>

typedef struct forest {
    const pb_graph *g;
    pb_node *reader; /* of each node; PB_NO_NODE: it is final, or is not computed */
    uint32_t *start; /* the children of node v are child[start[v]] .. */
    pb_node *child;
    pb_node *stack;
    uint32_t *place; /* of each node in the trees */
    uint32_t *rank;
    uint32_t *seen_at; /* place of each node in the order */
    pbi_trees trees;
} forest;

static bool is_place(const pb_graph *g, pb_node v)
{
    return (g->flags[v] & PB_NODE_NEEDED) && pb_graph_is_computed(g, v);
}

static bool stays(const pb_graph *g, pb_node v) { return g->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP); }

static bool make_room(forest *f, pb_arena *scratch)
{
    size_t nodes = (size_t)f->g->node_count + 1;
    f->reader = pb_arena_alloc(scratch, nodes, sizeof *f->reader);
    f->start = pb_arena_alloc(scratch, nodes + 1, sizeof *f->start);
    f->child = pb_arena_alloc(scratch, nodes, sizeof *f->child);
    f->stack = pb_arena_alloc(scratch, nodes, sizeof *f->stack);
    f->place = pb_arena_alloc(scratch, nodes, sizeof *f->place);
    f->rank = pb_arena_alloc(scratch, nodes, sizeof *f->rank);
    f->seen_at = pb_arena_zero(scratch, nodes, sizeof *f->seen_at);
    f->trees.node = pb_arena_alloc(scratch, nodes, sizeof *f->trees.node);
    f->trees.parent = pb_arena_alloc(scratch, nodes, sizeof *f->trees.parent);
    f->trees.root = pb_arena_alloc(scratch, nodes, sizeof *f->trees.root);
    return f->reader && f->start && f->child && f->stack && f->place && f->rank && f->seen_at && f->trees.node &&
           f->trees.parent && f->trees.root;
}

/* The first or the last reader of v in the order. *several: there is a choice. */
static pb_node reader_of(const forest *f, pb_node v, bool last, bool *several)
{
    const pb_graph *g = f->g;
    pb_node best = PB_NO_NODE;
    for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++) {
        pb_node y = g->out[k];
        if (!is_place(g, y))
            continue;
        *several = *several || best != PB_NO_NODE;
        if (best == PB_NO_NODE || (f->seen_at[y] > f->seen_at[best]) == last)
            best = y;
    }
    return best;
}

/* Chooses the readers, and lists the children of each node. */
static void choose_readers(forest *f, bool last, bool *several)
{
    const pb_graph *g = f->g;
    for (pb_node v = 0; v <= g->node_count; v++)
        f->start[v] = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        f->reader[v] = is_place(g, v) && !stays(g, v) ? reader_of(f, v, last, several) : PB_NO_NODE;
        if (f->reader[v] != PB_NO_NODE)
            f->start[f->reader[v]]++;
    }
    uint32_t sum = 0;
    for (pb_node v = 0; v <= g->node_count; v++) {
        sum += f->start[v];
        f->start[v] = sum; /* the end; filling moves it to the start */
    }
    for (pb_node v = 0; v < g->node_count; v++)
        if (f->reader[v] != PB_NO_NODE)
            f->child[--f->start[f->reader[v]]] = v;
}

/* The tree of a final value, in postorder. */
static void walk(forest *f, pb_node root)
{
    pbi_trees *t = &f->trees;
    uint32_t depth = 0, from = t->count;
    f->stack[depth++] = root;
    while (depth) {
        pb_node v = f->stack[--depth];
        t->node[t->count++] = v;
        for (uint32_t k = f->start[v]; k < f->start[v + 1]; k++)
            f->stack[depth++] = f->child[k];
    }
    for (uint32_t i = from, k = t->count - 1; i < k; i++, k--) {
        pb_node swapped = t->node[i];
        t->node[i] = t->node[k];
        t->node[k] = swapped;
    }
    t->root[t->root_count++] = t->count - 1;
}

/* The largest number of pebbles that any of the trees needs. */
static pb_status count_pebbles(pb_context *ctx, forest *f, bool last, bool *several, uint32_t *pebbles)
{
    const pb_graph *g = f->g;
    pbi_trees *t = &f->trees;
    uint32_t ranks;
    choose_readers(f, last, several);
    t->count = t->root_count = 0;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (is_place(g, g->order[i]) && stays(g, g->order[i]))
            walk(f, g->order[i]);
    for (uint32_t i = 0; i < t->count; i++)
        f->place[t->node[i]] = i;
    for (uint32_t i = 0; i < t->count; i++) {
        pb_node reader = f->reader[t->node[i]];
        t->parent[i] = reader == PB_NO_NODE ? PBI_NO_PLACE : f->place[reader];
    }
    *pebbles = 0;
    if (!t->count)
        return PB_OK;
    pb_status status = pbi_edge_rank(ctx, t, NULL, f->rank, &ranks);
    *pebbles = ranks + 1;
    return status;
}

static int rising(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The size of the smallest `values` values, with everything that is always resident. */
static pb_status size_of(const pb_graph *g, uint32_t values, pb_arena *scratch, uint64_t *size)
{
    uint64_t *sizes = pb_arena_alloc(scratch, (size_t)g->node_count + 1, sizeof *sizes);
    uint32_t count = 0;
    if (!sizes)
        return PB_ENOMEM;
    *size = g->fixed_size;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (g->flags[v] & PB_NODE_GIVEN)
            *size = pbi_add_saturated(*size, g->size[v]);
        else if (is_place(g, v))
            sizes[count++] = g->size[v];
    }
    qsort(sizes, count, sizeof *sizes, rising);
    for (uint32_t i = 0; i < values && i < count; i++)
        *size = pbi_add_saturated(*size, sizes[i]);
    return PB_OK;
}

static pb_status find(pb_context *ctx, const pb_graph *g, pb_arena *scratch, uint64_t *least)
{
    forest f = {.g = g, .trees = {.g = g}};
    bool several = false;
    uint32_t first, second = 0;
    if (!make_room(&f, scratch))
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++)
        f.seen_at[g->order[i]] = i;
    pb_status status = count_pebbles(ctx, &f, false, &several, &first);
    if (status == PB_OK && several)
        status = count_pebbles(ctx, &f, true, &several, &second);
    return status == PB_OK ? size_of(g, first > second ? first : second, scratch, least) : status;
}

pb_status pbi_reversible_least(pb_context *ctx, const pb_game *game, uint64_t *least)
{
    const pb_graph *g = game->graph;
    uint64_t ticks = ctx->ticks, limit = ctx->tick_limit;
    pb_arena scratch;
    *least = 0;
    if (game->kind != PB_GAME_REVERSIBLE || g->owner || g->inplace_start)
        return PB_OK; /* overwritten values and by-products can be removed in other ways */
    ctx->tick_limit = 0;
    pb_arena_init(&scratch, ctx);
    pb_status status = find(ctx, g, &scratch, least);
    pb_arena_release(&scratch);
    ctx->ticks = ticks;
    ctx->tick_limit = limit;
    return status;
}
