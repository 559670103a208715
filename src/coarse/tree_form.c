/* tree_form.c -- see pebble/tree.h.
 *
 * Both trees are emitted in postorder. By duplicate, a value is entered again for each of its readers; by spanning,
 * only from its last reader in program order. Inputs of a node are entered in program order, so that the order of the
 * tree is close to that of the graph.
 */
#include "pebble/tree.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"
#include "coarse/tree_inputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 64, POLL = 4096 };

typedef struct frame {
    pb_node origin;
    uint32_t next;  /* of its inputs */
    uint32_t first; /* where its inputs begin on `made` */
} frame;

typedef struct maker {
    pb_context *ctx;
    const pb_graph *g;
    bool spanning;
    pb_arena *scratch, *result;
    pbi_tree_inputs inputs;
    pb_node *parent;  /* spanning: the reader that a value is a child of; PB_NO_NODE: a root */
    uint32_t *copies; /* by node: made so far */
    frame *stack;
    pb_node *made; /* nodes of the tree that wait for their reader */
    size_t depth, stack_room, waiting, made_room;
    pb_node *origin;
    size_t count, origin_room;
    char separator[NAME_ROOM];
    pb_builder *b;
} maker;

/* "#", or as many as no name has in a row. */
static void choose_separator(maker *m)
{
    const pb_graph *g = m->g;
    size_t longest = 0, run = 0;
    for (uint64_t i = 0; i < g->name_start[g->node_count]; i++) {
        run = g->name_text[i] == '#' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    size_t length = longest + 1 < NAME_ROOM ? longest + 1 : NAME_ROOM - 1;
    memset(m->separator, '#', length);
    m->separator[length] = 0;
}

static pb_status add_origin(maker *m, pb_node origin)
{
    void *items = m->origin;
    if (!pbi_arena_reserve(m->result, &items, &m->origin_room, m->count + 1, sizeof *m->origin))
        return PB_ENOMEM;
    m->origin = items;
    m->origin[m->count++] = origin;
    return PB_OK;
}

/* The value and the by-products that are computed with it. */
static bool whole_size(const pb_graph *g, pb_node v, uint64_t *size)
{
    *size = g->size[v];
    bool fits = true;
    for (uint32_t k = g->part_start ? g->part_start[v] : 0; g->part_start && k < g->part_start[v + 1]; k++)
        if (g->flags[g->part[k]] & PB_NODE_NEEDED)
            fits = fits && pbi_add(*size, g->size[g->part[k]], size);
    return fits;
}

static pb_status add_copy(maker *m, pb_node v, pb_node *out)
{
    const pb_graph *g = m->g;
    bool given = g->flags[v] & PB_NODE_GIVEN;
    pb_arena names;
    pb_arena_init(&names, m->ctx);
    size_t room = strlen(pb_graph_name(g, v)) + NAME_ROOM + 24;
    char *name = pb_arena_alloc(&names, room, 1);
    pb_node_spec spec = {.name = name, .cost = given ? 0 : g->cost[v], .workspace = given ? 0 : g->workspace[v]};
    pb_status status = name ? PB_OK : PB_ENOMEM;
    if (status == PB_OK && m->copies[v])
        snprintf(name, room, "%s%s%" PRIu32, pb_graph_name(g, v), m->separator, m->copies[v] + 1);
    else if (status == PB_OK)
        snprintf(name, room, "%s", pb_graph_name(g, v));
    m->copies[v]++;
    if ((g->flags[v] & PB_NODE_KEEP) && !given && (m->spanning || m->depth == 0))
        spec.flags = PB_NODE_KEEP;
    if (g->group && g->group[v] != UINT32_MAX)
        spec.group = g->group_names[g->group[v]];
    if (status == PB_OK && !whole_size(g, v, &spec.size))
        status = pbi_fail(m->ctx, PB_ERANGE, "\"%.60s\" and its by-products pass 2^64; use a coarser size unit", name);
    if (status == PB_OK)
        status = pb_builder_add_node(m->b, &spec, out);
    if (status == PB_OK)
        status = pb_builder_add_order(m->b, *out);
    pb_arena_release(&names);
    return status == PB_OK ? add_origin(m, v) : status;
}

static pb_status push(maker *m, pb_node v)
{
    void *items = m->stack;
    if (!pbi_arena_reserve(m->scratch, &items, &m->stack_room, m->depth + 1, sizeof *m->stack))
        return PB_ENOMEM;
    m->stack = items;
    m->stack[m->depth++] = (frame){.origin = v, .first = (uint32_t)m->waiting};
    return PB_OK;
}

/* A copy may take over the memory of an input if neither has by-products. */
static pb_status link_inputs(maker *m, const frame *f, pb_node v)
{
    const pb_graph *g = m->g;
    pb_status status = PB_OK;
    for (size_t i = f->first; i < m->waiting && status == PB_OK; i++) {
        pb_node u = m->made[i], origin = m->origin[u];
        status = pb_builder_add_edge(m->b, u, v);
        if (!g->inplace_start || ((g->flags[origin] | g->flags[f->origin]) & PB_NODE_HAS_PARTS))
            continue;
        for (uint32_t k = g->inplace_start[f->origin]; k < g->inplace_start[f->origin + 1] && status == PB_OK; k++)
            if (g->inplace[k] == origin)
                status = pb_builder_add_inplace(m->b, v, u);
    }
    m->waiting = f->first;
    return status;
}

/* All inputs of the frame on top are made: the node itself. */
static pb_status finish(maker *m)
{
    frame f = m->stack[--m->depth];
    pb_node v;
    void *items = m->made;
    pb_status status = add_copy(m, f.origin, &v);
    if (status == PB_OK)
        status = link_inputs(m, &f, v);
    if (status != PB_OK)
        return status;
    if (!pbi_arena_reserve(m->scratch, &items, &m->made_room, m->waiting + 1, sizeof *m->made))
        return PB_ENOMEM;
    m->made = items;
    m->made[m->waiting++] = v;
    return m->count % POLL ? PB_OK : pbi_poll(m->ctx);
}

static pb_status make_from(maker *m, pb_node root)
{
    pb_status status = push(m, root);
    while (m->depth && status == PB_OK) {
        frame *top = &m->stack[m->depth - 1];
        uint32_t first = m->inputs.start[top->origin], count = m->inputs.start[top->origin + 1] - first;
        pb_node u = top->next < count ? m->inputs.node[first + top->next] : PB_NO_NODE;
        if (u == PB_NO_NODE) {
            status = finish(m);
            continue;
        }
        top->next++;
        if (!m->spanning || m->parent[u] == top->origin)
            status = push(m, u);
    }
    return status;
}

/* The last reader in program order becomes the parent. */
static pb_status find_parents(maker *m, uint32_t *dropped)
{
    const pb_graph *g = m->g;
    uint64_t reads = 0, kept = 0;
    m->parent = pb_arena_alloc(m->scratch, (size_t)g->node_count + 1, sizeof *m->parent);
    if (!m->parent)
        return PB_ENOMEM;
    memset(m->parent, 0xff, ((size_t)g->node_count + 1) * sizeof *m->parent);
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        if (!(g->flags[v] & PB_NODE_NEEDED) && !pbi_tree_needed(g, v))
            continue;
        for (uint32_t k = m->inputs.start[v]; k < m->inputs.start[v + 1]; k++) {
            reads++;
            kept += m->parent[m->inputs.node[k]] == PB_NO_NODE;
            m->parent[m->inputs.node[k]] = v;
        }
    }
    *dropped = (uint32_t)(reads - kept);
    return PB_OK;
}

static bool is_root(const maker *m, pb_node v)
{
    if (!pbi_tree_is_goal(m->g, v))
        return false;
    return !m->spanning || m->parent[v] == PB_NO_NODE;
}

/* Roots in program order; from the second one on, a node without size joins it to those before. */
static pb_status make_roots(maker *m)
{
    pb_node joined = PB_NO_NODE;
    pb_status status = PB_OK;
    uint32_t joins = 0;
    for (uint32_t i = 0; i < m->g->order_count && status == PB_OK; i++) {
        char name[NAME_ROOM + 24];
        pb_node v = m->g->order[i], join;
        if (!is_root(m, v))
            continue;
        m->waiting = 0;
        status = make_from(m, v);
        if (status != PB_OK || joined == PB_NO_NODE) {
            joined = status == PB_OK ? m->made[0] : joined;
            continue;
        }
        snprintf(name, sizeof name, "join%s%" PRIu32, m->separator, ++joins);
        status = pb_builder_add_node(m->b, &(pb_node_spec){.name = name}, &join);
        if (status == PB_OK)
            status = pb_builder_add_order(m->b, join);
        if (status == PB_OK)
            status = pb_builder_add_edge(m->b, joined, join);
        if (status == PB_OK)
            status = pb_builder_add_edge(m->b, m->made[0], join);
        if (status == PB_OK)
            status = add_origin(m, PB_NO_NODE);
        joined = join;
    }
    return status == PB_OK && joined != PB_NO_NODE ? pb_builder_add_target(m->b, joined) : status;
}

static pb_status set_texts(maker *m)
{
    char name[400];
    snprintf(name, sizeof name, "%.300s as a tree", m->g->name);
    pb_builder_set_fixed_size(m->b, m->g->fixed_size);
    return pb_builder_set_texts(m->b, name, m->g->cost_unit, m->g->size_unit);
}

/* Before anything is made: the size of the tree, and values that may not be copied. */
static pb_status check_size(pb_context *ctx, const pb_graph *g, const pb_tree_options *options)
{
    uint64_t most = options->nodes ? options->nodes : PB_TREE_NODES;
    pb_tree_size size;
    if (options->by == PB_TREE_SPANNING)
        return PB_OK;
    pb_status status = pb_tree_measure(ctx, g, &size);
    if (status != PB_OK || size.nodes <= most)
        return status;
    char text[40];
    if (size.nodes == UINT64_MAX)
        snprintf(text, sizeof text, "about 10^%.0f", size.digits);
    else
        snprintf(text, sizeof text, "%" PRIu64, size.nodes);
    return pbi_fail(ctx, PB_ELIMIT,
                    "with a copy for each read the tree has %s nodes, more than %" PRIu64
                    "; use --by spanning, or a larger limit with --nodes",
                    text, most);
}

static pb_status check_once(pb_context *ctx, const maker *m)
{
    for (pb_node v = 0; v < m->g->node_count; v++)
        if (m->copies[v] > 1 && (m->g->flags[v] & PB_NODE_ONCE))
            return pbi_fail(ctx, PB_EINVAL,
                            "\"%.60s\" may be computed only once, but the tree has %" PRIu32
                            " copies of it; use --by spanning",
                            pb_graph_name(m->g, v), m->copies[v]);
    return PB_OK;
}

static pb_status make(maker *m, pb_tree_form *out)
{
    pb_status status = pbi_tree_inputs_find(m->ctx, m->g, m->scratch, &m->inputs);
    m->copies = pb_arena_zero(m->scratch, (size_t)m->g->node_count + 1, sizeof *m->copies);
    if (!m->copies)
        return PB_ENOMEM;
    choose_separator(m);
    if (status == PB_OK && m->spanning)
        status = find_parents(m, &out->dropped);
    if (status == PB_OK)
        status = set_texts(m);
    if (status == PB_OK)
        status = make_roots(m);
    if (status == PB_OK)
        status = check_once(m->ctx, m);
    for (pb_node v = 0; v < m->g->node_count; v++)
        out->copies += m->copies[v] ? m->copies[v] - 1 : 0;
    return status == PB_OK ? pb_builder_freeze(m->b, m->result, &out->tree) : status;
}

pb_status pb_tree_make(pb_context *ctx, const pb_graph *g, const pb_tree_options *options, pb_arena *result,
                       const pb_tree_form **out)
{
    pb_arena scratch;
    maker m = {.ctx = ctx, .g = g, .spanning = options->by == PB_TREE_SPANNING, .scratch = &scratch, .result = result};
    pb_tree_form *form = pb_arena_zero(result, 1, sizeof *form);
    pb_status status = form ? check_size(ctx, g, options) : PB_ENOMEM;
    if (status != PB_OK)
        return status;
    pb_arena_init(&scratch, ctx);
    status = pb_builder_new(ctx, &m.b);
    if (status == PB_OK) {
        status = make(&m, form);
        pb_builder_free(m.b);
    }
    pb_arena_release(&scratch);
    form->graph = g;
    form->origin = m.origin;
    if (status == PB_OK)
        *out = form;
    return status;
}
