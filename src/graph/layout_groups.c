/* layout_groups.c -- groups as single nodes: the graph that is drawn for an overview.
 *
 * A closed group is one node in each pass of a training step, so that its forward and its backward part face each
 * other. Groups can still be on a cycle: nodes are sorted by pass and by the mean depth of what they stand for, and
 * edges that would go back in that order are turned around.
 */
#include "graph/layout_parts.h"

#include <string.h>

typedef struct closing {
    const pb_graph *g;
    uint32_t count; /* items */
    uint32_t *of, *item;
    uint8_t *lane; /* by node, then by item */
    double *key;   /* mean depth */
    pb_builder *b;
} closing;

/* The items: a closed group with two members or more in a pass is one. */
static bool make_items(closing *c, const bool *open, pb_arena *result, pb_arena *scratch)
{
    const pb_graph *g = c->g;
    size_t slots = 2 * (size_t)g->group_count;
    uint32_t *members = pb_arena_zero(scratch, slots, sizeof *members);
    uint32_t *at = pb_arena_alloc(scratch, slots, sizeof *at);
    c->of = pb_arena_alloc(result, g->node_count, sizeof *c->of);
    c->item = pb_arena_alloc(result, g->node_count, sizeof *c->item);
    uint8_t *lane = pb_arena_alloc(result, g->node_count, 1);
    if (!members || !at || !c->of || !c->item || !lane)
        return false;
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->group && g->group[v] != UINT32_MAX && !(open && open[g->group[v]]))
            members[2 * g->group[v] + c->lane[v]]++;
    memset(at, 0xff, slots * sizeof *at);
    for (pb_node v = 0; v < g->node_count; v++) {
        uint32_t group = g->group ? g->group[v] : UINT32_MAX;
        uint32_t slot = group == UINT32_MAX ? 0 : 2 * group + c->lane[v];
        bool closed = group != UINT32_MAX && members[slot] > 1;
        if (!closed || at[slot] == UINT32_MAX) {
            if (closed)
                at[slot] = c->count;
            c->of[c->count] = closed ? g->node_count + group : v;
            lane[c->count++] = c->lane[v];
        }
        c->item[v] = closed ? at[slot] : c->count - 1;
    }
    c->lane = lane;
    return true;
}

static bool make_keys(closing *c, pb_arena *scratch)
{
    uint32_t *members = pb_arena_zero(scratch, c->count, sizeof *members);
    c->key = pb_arena_zero(scratch, c->count, sizeof *c->key);
    if (!members || !c->key)
        return false;
    for (pb_node v = 0; v < c->g->node_count; v++) {
        c->key[c->item[v]] += c->g->depth[v];
        members[c->item[v]]++;
    }
    for (uint32_t i = 0; i < c->count; i++)
        c->key[i] /= members[i];
    return true;
}

/* Whether item a comes before item b. */
static bool before(const closing *c, uint32_t a, uint32_t b)
{
    if (c->lane[a] != c->lane[b])
        return c->lane[a] < c->lane[b];
    return c->key[a] != c->key[b] ? c->key[a] < c->key[b] : a < b;
}

static uint64_t size_sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static pb_status add_items(closing *c, pb_arena *scratch)
{
    const pb_graph *g = c->g;
    pb_status status = PB_OK;
    uint64_t *size = pb_arena_zero(scratch, c->count, sizeof *size);
    if (!size)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++)
        size[c->item[v]] = size_sum(size[c->item[v]], g->size[v]);
    for (uint32_t i = 0; i < c->count && status == PB_OK; i++) {
        pb_node v = c->of[i], made;
        pb_node_spec spec = {.size = size[i]};
        if (v < g->node_count && g->group && g->group[v] != UINT32_MAX)
            spec.group = g->group_names[g->group[v]];
        status = pb_builder_add_node(c->b, &spec, &made);
    }
    return status;
}

static pb_status add_edges(closing *c)
{
    const pb_graph *g = c->g;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count; v++) {
        pb_node owner = pb_graph_maker(g, v);
        uint32_t to = c->item[v];
        if (owner != v && c->of[to] == v && c->of[c->item[owner]] == owner && status == PB_OK)
            status = pb_builder_set_byproduct(c->b, to, c->item[owner]);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1] && status == PB_OK; k++) {
            uint32_t from = c->item[g->in[k]];
            if (from != to)
                status =
                    before(c, from, to) ? pb_builder_add_edge(c->b, from, to) : pb_builder_add_edge(c->b, to, from);
        }
    }
    return status;
}

pb_status pb_layout_close(pb_context *ctx, const pb_graph *g, pb_lanes lanes, const bool *open, pb_arena *result,
                          pb_layout_groups *out)
{
    closing c = {.g = g};
    pb_arena scratch;
    bool turns = false;
    pb_layout_groups made = {0};
    pb_arena_init(&scratch, ctx);
    c.lane = pb_arena_zero(&scratch, g->node_count, 1);
    pb_status status = c.lane ? PB_OK : PB_ENOMEM;
    if (status == PB_OK && lanes != PB_LANES_NEVER)
        status = pb_layout_backward(ctx, g, c.lane, &turns);
    if (status == PB_OK && (!make_items(&c, open, result, &scratch) || !make_keys(&c, &scratch)))
        status = PB_ENOMEM;
    if (status == PB_OK)
        status = pb_builder_new(ctx, &c.b);
    if (status == PB_OK) {
        status = add_items(&c, &scratch);
        if (status == PB_OK)
            status = add_edges(&c);
        if (status == PB_OK)
            status = pb_builder_freeze(c.b, result, &made.graph);
        pb_builder_free(c.b);
    }
    pb_arena_release(&scratch);
    if (status != PB_OK)
        return status;
    made.item = c.item;
    made.of = c.of;
    made.lane = turns ? c.lane : NULL;
    *out = made;
    return PB_OK;
}
