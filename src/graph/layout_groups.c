/* layout_groups.c -- groups as single items: boxes in layers, with the members inside.
 *
 * In a training step the forward and the backward pass of a layer are in one group, so the graph of groups has cycles.
 * Groups are therefore sorted by the mean depth of their members in the forward pass, and only edges that go up in that
 * order determine layers. A node without a group is an item of its own.
 */
#include "graph/layout_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOX_EDGE 0.25f /* between a box and its members */
#define BOX_GAP 0.5f   /* between boxes */

typedef struct collapse {
    const pb_graph *g;
    const uint8_t *lane;
    uint32_t count;         /* items: groups first, then nodes without one */
    uint32_t *item;         /* of each node */
    uint32_t *member_start; /* nodes of each item, by lane and depth */
    pb_node *member;
    double *key;
    uint32_t *rank; /* items by key */
    uint32_t *in_start, *in, *out_start, *out, *layer;
    uint32_t layer_count;
    float *width, *height, *x, *y;
} collapse;

static bool is_grouped(const pb_graph *g, pb_node v) { return g->group && g->group[v] != UINT32_MAX; }

static bool make_items(collapse *c, pb_arena *scratch)
{
    const pb_graph *g = c->g;
    c->count = g->group_count;
    c->item = pb_arena_alloc(scratch, g->node_count, sizeof *c->item);
    c->member = pb_arena_alloc(scratch, g->node_count, sizeof *c->member);
    pb_node *by_depth = pbi_layout_by_depth(g, scratch);
    if (!c->item || !c->member || !by_depth)
        return false;
    for (pb_node v = 0; v < g->node_count; v++)
        c->item[v] = is_grouped(g, v) ? g->group[v] : c->count++;
    c->member_start = pb_arena_zero(scratch, (size_t)c->count + 2, sizeof *c->member_start);
    if (!c->member_start)
        return false;
    uint32_t *next = c->member_start + 1; /* becomes member_start[i] + members so far */
    for (pb_node v = 0; v < g->node_count; v++)
        next[c->item[v] + 1]++;
    for (uint32_t i = 0; i < c->count; i++)
        next[i + 1] += next[i];
    for (uint8_t lane = 0; lane < 2; lane++)
        for (uint32_t i = 0; i < g->node_count; i++)
            if (c->lane[by_depth[i]] == lane)
                c->member[next[c->item[by_depth[i]]]++] = by_depth[i];
    return true;
}

static int compare_keys(double a, double b) { return (a > b) - (a < b); }

/* Items by key: a merge sort from the bottom up, stable. */
static bool rank_items(collapse *c, pb_arena *scratch)
{
    uint32_t *from = pb_arena_alloc(scratch, c->count, sizeof *from);
    uint32_t *to = pb_arena_alloc(scratch, c->count, sizeof *to);
    if (!from || !to)
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        from[i] = i;
    for (size_t width = 1; width < c->count; width *= 2) {
        for (size_t low = 0; low < c->count; low += 2 * width) {
            size_t middle = low + width < c->count ? low + width : c->count, a = low, b = middle, k = low;
            size_t high = low + 2 * width < c->count ? low + 2 * width : c->count;
            while (a < middle && b < high)
                to[k++] = compare_keys(c->key[from[a]], c->key[from[b]]) <= 0 ? from[a++] : from[b++];
            while (a < middle)
                to[k++] = from[a++];
            while (b < high)
                to[k++] = from[b++];
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    c->rank = from;
    return true;
}

/* Mean depth of the members in the forward pass; of all members if none is in it. */
static bool make_keys(collapse *c, pb_arena *scratch)
{
    c->key = pb_arena_zero(scratch, c->count, sizeof *c->key);
    if (!c->key)
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        double sums[2] = {0, 0}, counts[2] = {0, 0};
        for (uint32_t k = c->member_start[i]; k < c->member_start[i + 1]; k++) {
            pb_node v = c->member[k];
            sums[c->lane[v]] += c->g->depth[v];
            counts[c->lane[v]]++;
        }
        int lane = counts[0] > 0 ? 0 : 1;
        c->key[i] = counts[lane] > 0 ? sums[lane] / counts[lane] : 0;
    }
    return rank_items(c, scratch);
}

/* Whether this edge counts: between two items, up in the order, in the forward pass if there are two passes. */
static bool counts(const collapse *c, pb_node from, pb_node to)
{
    uint32_t a = c->item[from], b = c->item[to];
    return a != b && c->key[a] < c->key[b] && c->lane[from] == c->lane[to];
}

static bool make_edges(collapse *c, pb_arena *scratch)
{
    const pb_graph *g = c->g;
    c->in_start = pb_arena_zero(scratch, (size_t)c->count + 2, sizeof *c->in_start);
    c->out_start = pb_arena_zero(scratch, (size_t)c->count + 2, sizeof *c->out_start);
    c->in = pb_arena_alloc(scratch, g->edge_count, sizeof *c->in);
    c->out = pb_arena_alloc(scratch, g->edge_count, sizeof *c->out);
    if (!c->in_start || !c->out_start || !c->in || !c->out)
        return false;
    for (int fill = 0; fill < 2; fill++) {
        for (pb_node v = 0; v < g->node_count; v++)
            for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
                if (!counts(c, g->in[k], v))
                    continue;
                uint32_t a = c->item[g->in[k]], b = c->item[v];
                if (fill) {
                    c->in[c->in_start[b + 1]++] = a;
                    c->out[c->out_start[a + 1]++] = b;
                } else {
                    c->in_start[b + 2]++;
                    c->out_start[a + 2]++;
                }
            }
        for (uint32_t i = 0; !fill && i < c->count; i++) {
            c->in_start[i + 2] += c->in_start[i + 1];
            c->out_start[i + 2] += c->out_start[i + 1];
        }
    }
    return true;
}

static bool make_layers(collapse *c, pb_arena *scratch)
{
    c->layer = pb_arena_zero(scratch, c->count, sizeof *c->layer);
    c->layer_count = 0;
    for (uint32_t r = 0; c->layer && r < c->count; r++) {
        uint32_t i = c->rank[r];
        for (uint32_t k = c->in_start[i]; k < c->in_start[i + 1]; k++)
            if (c->layer[c->in[k]] + 1 > c->layer[i])
                c->layer[i] = c->layer[c->in[k]] + 1;
        c->layer_count = c->layer[i] + 1 > c->layer_count ? c->layer[i] + 1 : c->layer_count;
    }
    return c->layer != NULL;
}

static uint32_t columns_of(uint32_t members) { return (uint32_t)ceil(sqrt((double)members)); }

static bool make_boxes(collapse *c, pb_arena *scratch)
{
    c->width = pb_arena_zero(scratch, c->count, sizeof *c->width);
    c->height = pb_arena_zero(scratch, c->count, sizeof *c->height);
    c->x = pb_arena_zero(scratch, c->count, sizeof *c->x);
    c->y = pb_arena_zero(scratch, c->count, sizeof *c->y);
    if (!c->width || !c->height || !c->x || !c->y)
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t members = c->member_start[i + 1] - c->member_start[i], columns = columns_of(members);
        float edge = i < c->g->group_count && members ? 2 * BOX_EDGE + BOX_GAP : 0;
        c->width[i] = (float)columns + edge;
        c->height[i] = (float)(columns ? (members + columns - 1) / columns : 0) + edge;
    }
    return true;
}

/* Left edges of the columns, each as wide as its widest item; *whole is the total width. */
static bool place_columns(collapse *c, pb_arena *scratch, float *whole)
{
    double *left = pb_arena_zero(scratch, (size_t)c->layer_count + 1, sizeof *left);
    if (!left)
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->width[i] > left[c->layer[i] + 1])
            left[c->layer[i] + 1] = c->width[i];
    for (uint32_t k = 0; k < c->layer_count; k++)
        left[k + 1] += left[k];
    for (uint32_t i = 0; i < c->count; i++)
        c->x[i] = (float)((left[c->layer[i]] + left[c->layer[i] + 1]) / 2);
    *whole = (float)left[c->layer_count];
    return true;
}

static void place_members(const collapse *c, uint32_t i, pb_layout *out)
{
    uint32_t begin = c->member_start[i], members = c->member_start[i + 1] - begin, columns = columns_of(members);
    uint32_t rows = columns ? (members + columns - 1) / columns : 0;
    for (uint32_t k = 0; k < members; k++) {
        pb_node v = c->member[begin + k];
        out->x[v] = c->x[i] + (float)(k % columns) - (float)(columns - 1) / 2;
        out->y[v] = c->y[i] + (float)(k / columns) - (float)(rows - 1) / 2;
    }
    if (i < c->g->group_count && members)
        out->boxes[i] = (pb_layout_box){.x = c->x[i] - (float)columns / 2 - BOX_EDGE,
                                        .y = c->y[i] - (float)rows / 2 - BOX_EDGE,
                                        .width = (float)columns + 2 * BOX_EDGE,
                                        .height = (float)rows + 2 * BOX_EDGE,
                                        .first = c->member[begin]};
}

pb_status pbi_layout_groups(pb_context *ctx, const pb_graph *g, pb_arena *scratch, pb_layout *out)
{
    collapse c = {.g = g, .lane = out->lane};
    if (!make_items(&c, scratch) || !make_keys(&c, scratch) || !make_edges(&c, scratch) || !make_layers(&c, scratch) ||
        !make_boxes(&c, scratch) || !place_columns(&c, scratch, &out->width))
        return PB_ENOMEM;
    pbi_layers layers = {.count = c.count, .layer_count = c.layer_count, .layer = c.layer, .in_start = c.in_start};
    layers.out_start = c.out_start;
    layers.in = c.in;
    layers.out = c.out;
    layers.height = c.height;
    layers.y = c.y;
    pb_status status = pbi_layers_place(ctx, &layers, scratch);
    if (status != PB_OK)
        return status;
    float top = 0, bottom = 0;
    for (uint32_t i = 0; i < c.count; i++) {
        top = c.y[i] - c.height[i] / 2 < top ? c.y[i] - c.height[i] / 2 : top;
        bottom = c.y[i] + c.height[i] / 2 > bottom ? c.y[i] + c.height[i] / 2 : bottom;
    }
    out->height = bottom - top;
    for (uint32_t i = 0; i < c.count; i++) {
        c.y[i] -= top;
        place_members(&c, i, out);
    }
    return PB_OK;
}
