/* remainder.c -- the game of the remaining moves, from the state in the middle of a run: resident values are given.
 *
 * The game has the nodes of the whole graph under the same numbers, so that moves and kernels fit. Nodes that are no
 * longer needed have no edges. A resident node is given and has no inputs. Its by-products could then not be
 * computed, so if some of them are missing and needed, the node is not kept but recomputed.
 */
#include "engine/engine_parts.h"

#include "base/context.h"

#include <stdlib.h>
#include <string.h>

enum { NEEDED = 1, COMPUTED = 2 }; /* computed: in the remaining moves */

typedef struct maker {
    pb_context *ctx;
    const pbi_state *s;
    const pb_graph *g;
    pb_arena *scratch;
    uint8_t *kept, *slow, *mark;
    pb_node *stack;
    size_t depth;
} maker;

/* Whether it can be recomputed. */
static bool is_repeatable(const maker *m, pb_node v)
{
    pb_node maker_of = pb_graph_maker(m->g, v);
    if (m->g->flags[v] & PB_NODE_GIVEN)
        return false;
    return !((m->g->flags[maker_of] & PB_NODE_ONCE) && m->s->done[maker_of]);
}

static void need(maker *m, pb_node v)
{
    if (m->mark[v] & NEEDED)
        return;
    m->mark[v] |= NEEDED;
    m->stack[m->depth++] = v;
}

static pb_status lost(const maker *m, pb_node v)
{
    return pbi_fail(m->ctx, PB_ELIMIT, "%.80s is needed again, but cannot be recomputed; raise the cap",
                    pb_graph_name(m->g, v));
}

/* The remaining moves compute v: all its inputs are needed. */
static pb_status compute(maker *m, pb_node v)
{
    if (m->mark[v] & COMPUTED)
        return PB_OK;
    if (!is_repeatable(m, v))
        return lost(m, v);
    m->kept[v] = m->slow[v] = 0;
    m->mark[v] |= NEEDED | COMPUTED;
    for (uint32_t i = m->g->in_start[v]; i < m->g->in_start[v + 1]; i++)
        need(m, m->g->in[i]);
    return PB_OK;
}

static pb_status close_needs(maker *m)
{
    const pb_graph *g = m->g;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool goal = (g->flags[v] & PB_NODE_TARGET) && !m->s->done[v];
        if (goal || (g->flags[v] & PB_NODE_KEEP))
            need(m, v);
    }
    while (m->depth && status == PB_OK) {
        pb_node v = m->stack[--m->depth];
        if (m->kept[v] || m->slow[v])
            continue;
        if (!is_repeatable(m, v))
            return lost(m, v);
        status = compute(m, pb_graph_maker(g, v));
    }
    return status;
}

static int deepest_first(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b; /* depth, node */
    if (x[0] != y[0])
        return x[0] > y[0] ? -1 : 1;
    return x[1] > y[1] ? -1 : x[1] < y[1];
}

/* Of the values that can be recomputed, keeps only the deepest, up to half of the cap. */
static pb_status keep_near(maker *m)
{
    const pb_graph *g = m->g;
    uint32_t(*list)[2] = pb_arena_alloc(m->scratch, (size_t)g->node_count + 1, sizeof *list), count = 0;
    if (!list)
        return PB_ENOMEM;
    uint64_t used = g->fixed_size;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!m->kept[v])
            continue;
        if (is_repeatable(m, v)) {
            list[count][0] = g->depth[v];
            list[count++][1] = v;
        } else {
            used += g->size[v];
        }
    }
    qsort(list, count, sizeof *list, deepest_first);
    for (uint32_t i = 0; i < count; i++) {
        pb_node v = list[i][1];
        used += g->size[v];
        m->kept[v] = used <= m->s->cap / 2;
    }
    return PB_OK;
}

/* Chooses the values that are given. Values in slow tiers other than the first cannot be given. */
static pb_status choose(maker *m, pbi_remainder_use use)
{
    const pb_graph *g = m->g;
    for (pb_node v = 0; v < g->node_count; v++) {
        m->kept[v] = m->s->resident[v] && (use != PBI_REMAINDER_MIN || !is_repeatable(m, v));
        m->slow[v] = !m->kept[v] && m->s->stored && (m->s->stored[v] & 1);
    }
    return use == PBI_REMAINDER_NEAR ? keep_near(m) : PB_OK;
}

/* ---- the graph ---- */

static pb_status add_nodes(maker *m, pb_builder *b)
{
    const pb_graph *g = m->g;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++) {
        pb_node got;
        pb_node_spec spec = {.name = pb_graph_name(g, v), .size = g->size[v], .flags = g->flags[v] & PB_NODE_KEEP};
        if (m->kept[v] || m->slow[v]) {
            spec.flags |= m->kept[v] ? PB_NODE_GIVEN : PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
        } else if (m->mark[v] & COMPUTED) {
            spec.flags |= g->flags[v] & PB_NODE_ONCE;
            spec.cost = g->cost[v];
            spec.workspace = m->s->workspace[v];
        } else if (!(m->mark[v] & NEEDED)) {
            spec.flags = 0;
        }
        status = pb_builder_add_node(b, &spec, &got);
    }
    return status;
}

static pb_status add_links(maker *m, pb_builder *b, pb_node v)
{
    const pb_graph *g = m->g;
    pb_status status = PB_OK;
    for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1] && status == PB_OK; i++)
        status = pb_builder_add_edge(b, g->in[i], v);
    for (uint32_t i = g->inplace_start ? g->inplace_start[v] : 0;
         g->inplace_start && i < g->inplace_start[v + 1] && status == PB_OK; i++)
        status = pb_builder_add_inplace(b, v, g->inplace[i]);
    for (uint32_t i = g->part_start ? g->part_start[v] : 0;
         g->part_start && i < g->part_start[v + 1] && status == PB_OK; i++)
        if (!m->kept[g->part[i]] && !m->slow[g->part[i]])
            status = pb_builder_set_byproduct(b, g->part[i], v);
    return status;
}

/* Program order first, then the nodes that are given or not needed. */
static pb_status add_order(maker *m, pb_builder *b)
{
    const pb_graph *g = m->g;
    pb_status status = PB_OK;
    for (uint32_t k = 0; k < g->order_count && status == PB_OK; k++)
        if (m->mark[g->order[k]] & COMPUTED)
            status = pb_builder_add_order(b, g->order[k]);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++) {
        bool part = (g->flags[v] & PB_NODE_BYPRODUCT) && (m->mark[g->owner[v]] & COMPUTED);
        if (!(m->mark[v] & COMPUTED) && !m->kept[v] && !m->slow[v] && !part)
            status = pb_builder_add_order(b, v);
    }
    return status;
}

static pb_status build(maker *m, pb_arena *arena, const pb_graph **out)
{
    const pb_graph *g = m->g;
    pb_builder *b;
    pb_status status = pb_builder_new(m->ctx, &b);
    if (status != PB_OK)
        return status;
    status = add_nodes(m, b);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        if (m->mark[v] & COMPUTED)
            status = add_links(m, b, v);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        if ((m->mark[v] & NEEDED) && !m->kept[v] && (!m->s->done[v] || (g->flags[v] & PB_NODE_KEEP)) &&
            (g->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP)))
            status = pb_builder_add_target(b, v);
    if (status == PB_OK)
        status = add_order(m, b);
    if (status == PB_OK)
        status = pb_builder_set_texts(b, g->name, g->cost_unit, g->size_unit);
    pb_builder_set_fixed_size(b, g->fixed_size);
    if (status == PB_OK)
        status = pb_builder_freeze(b, arena, out);
    pb_builder_free(b);
    return status;
}

static pb_status make(maker *m, pbi_remainder_use use, pb_arena *arena, pbi_remainder *out)
{
    const pb_graph *g = m->g, *left = NULL;
    pb_status status = choose(m, use);
    if (status == PB_OK)
        status = close_needs(m);
    if (status != PB_OK)
        return status;
    out->done = true;
    for (pb_node v = 0; v < g->node_count; v++) {
        m->kept[v] &= (m->mark[v] & NEEDED) != 0;
        m->slow[v] &= (m->mark[v] & NEEDED) != 0;
        if ((m->mark[v] & COMPUTED) || (m->slow[v] && (g->flags[v] & PB_NODE_KEEP)))
            out->done = false;
    }
    if (!out->done)
        status = build(m, arena, &left);
    out->game = *m->s->game;
    out->game.graph = left;
    out->game.cap = m->s->cap;
    out->game.borrow = 0;
    return status;
}

pb_status pbi_remainder_make(pb_context *ctx, const pbi_state *state, pbi_remainder_use use, pb_arena *arena,
                             pbi_remainder *out)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    size_t nodes = (size_t)state->game->graph->node_count + 1;
    pbi_remainder remainder = {0};
    maker m = {.ctx = ctx, .s = state, .g = state->game->graph, .scratch = &scratch};
    remainder.kept = m.kept = pb_arena_zero(arena, nodes, 1);
    remainder.slow = m.slow = pb_arena_zero(arena, nodes, 1);
    m.mark = pb_arena_zero(&scratch, nodes, 1);
    m.stack = pb_arena_alloc(&scratch, nodes, sizeof *m.stack);
    pb_status status = m.kept && m.slow && m.mark && m.stack ? make(&m, use, arena, &remainder) : PB_ENOMEM;
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = remainder;
    return status;
}
