/* tree_carry.c -- what a schedule of the tree computes in the graph.
 *
 * Copies of a value share its memory: while one of them is in memory no other is computed, and what was computed only
 * for that one is then left out. So the graph needs no more memory than the tree, nor more work. A spanning tree has
 * one node for each value, but leaves reads out: each value is computed once, before its first reader, and stays as
 * long as it is read.
 */
#include "base/arena.h"
#include "base/context.h"
#include "coarse/tree_inputs.h"
#include "pebble/tree.h"

#include <string.h>

typedef struct carrier {
    const pb_graph *g;
    pbi_tree_inputs inputs;
    uint32_t *resident; /* by node of the graph: copies in memory */
    uint8_t *done;      /* by node: computed before */
    pb_node *list, *stack;
    uint64_t count;
    size_t room, stack_room, depth;
    pb_arena *scratch;
} carrier;

static pb_status append(carrier *c, pb_node v)
{
    void *items = c->list;
    if (!pbi_arena_reserve(c->scratch, &items, &c->room, c->count + 1, sizeof *c->list))
        return PB_ENOMEM;
    c->list = items;
    c->list[c->count++] = v;
    c->done[v] = 1;
    return PB_OK;
}

static pb_status push(carrier *c, pb_node v)
{
    void *items = c->stack;
    if (!pbi_arena_reserve(c->scratch, &items, &c->stack_room, c->depth + 1, sizeof *c->stack))
        return PB_ENOMEM;
    c->stack = items;
    c->stack[c->depth++] = v;
    return PB_OK;
}

/* v, after what it reads and what has never been computed. */
static pb_status compute_below(carrier *c, pb_node v)
{
    pb_status status = push(c, v);
    while (c->depth && status == PB_OK) {
        pb_node top = c->stack[c->depth - 1], missing = PB_NO_NODE;
        for (uint32_t k = c->inputs.start[top]; k < c->inputs.start[top + 1] && missing == PB_NO_NODE; k++) {
            pb_node u = c->inputs.node[k];
            if (!(c->g->flags[u] & PB_NODE_GIVEN) && !c->done[u])
                missing = u;
        }
        if (missing != PB_NO_NODE) {
            status = push(c, missing);
            continue;
        }
        c->depth--;
        status = append(c, top);
    }
    return status;
}

static pb_status carry(carrier *c, const pb_tree_form *t, const pb_moves *moves)
{
    pb_status status = PB_OK;
    bool copies = t->copies > 0;
    for (pb_step k = 0; k < moves->count && status == PB_OK; k++) {
        const pb_move *m = &moves->move[k];
        pb_node v = t->origin[m->node], over = m->op == PB_COMPUTE ? pb_moves_over(moves, k) : PB_NO_NODE;
        if (v != PB_NO_NODE && m->op == PB_COMPUTE) {
            bool computed = !(c->g->flags[v] & PB_NODE_GIVEN);
            if (computed && (copies ? !c->resident[v] : !c->done[v]))
                status = compute_below(c, v);
            c->resident[v]++;
        } else if (v != PB_NO_NODE && m->op == PB_FREE) {
            c->resident[v]--;
        }
        if (over != PB_NO_NODE && t->origin[over] != PB_NO_NODE)
            c->resident[t->origin[over]]--;
    }
    return status;
}

/* From the end: a computation stays if something reads it before it is repeated, or if it is a goal's last one. */
static pb_status drop_useless(carrier *c, pb_arena *result, const pb_node **out, uint64_t *count)
{
    uint8_t *read = pb_arena_zero(c->scratch, (size_t)c->g->node_count + 1, 1);
    uint8_t *keep = pb_arena_zero(c->scratch, (size_t)c->count + 1, 1);
    pb_node *kept = pb_arena_alloc(result, (size_t)c->count + 1, sizeof *kept);
    if (!read || !keep || !kept)
        return PB_ENOMEM;
    for (pb_node v = 0; v < c->g->node_count; v++)
        read[v] = pb_graph_is_computed(c->g, v) && pbi_tree_is_goal(c->g, v);
    for (uint64_t i = c->count; i-- > 0;) {
        pb_node v = c->list[i];
        keep[i] = read[v];
        read[v] = 0;
        for (uint32_t k = c->inputs.start[v]; keep[i] && k < c->inputs.start[v + 1]; k++)
            read[c->inputs.node[k]] = 1;
    }
    *count = 0;
    for (uint64_t i = 0; i < c->count; i++)
        if (keep[i])
            kept[(*count)++] = c->list[i];
    *out = kept;
    return PB_OK;
}

pb_status pb_tree_computations(pb_context *ctx, const pb_tree_form *t, const pb_moves *moves, pb_arena *result,
                               const pb_node **out, uint64_t *count)
{
    pb_arena scratch;
    size_t n = (size_t)t->graph->node_count + 1;
    pb_arena_init(&scratch, ctx);
    carrier c = {.g = t->graph,
                 .resident = pb_arena_zero(&scratch, n, sizeof *c.resident),
                 .done = pb_arena_zero(&scratch, n, 1),
                 .scratch = &scratch};
    pb_status status = c.resident && c.done ? pbi_tree_inputs_find(ctx, t->graph, &scratch, &c.inputs) : PB_ENOMEM;
    if (status == PB_OK)
        status = carry(&c, t, moves);
    if (status == PB_OK)
        status = drop_useless(&c, result, out, count);
    pb_arena_release(&scratch);
    return status;
}
