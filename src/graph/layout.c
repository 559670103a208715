/* layout.c -- see layout.h: chooses the kind, and combines the parts. */
#include "graph/layout_parts.h"

#include <math.h>

#define MIN_RADIUS 0.2f
#define MAX_RADIUS 0.46f /* neighbours do not touch */
#define LANE_GAP 1.5f    /* between the forward and the backward pass */

static void make_radii(const pb_graph *g, float *radius)
{
    uint64_t most = 1;
    for (pb_node v = 0; v < g->node_count; v++)
        most = g->size[v] > most ? g->size[v] : most;
    for (pb_node v = 0; v < g->node_count; v++)
        radius[v] = MIN_RADIUS + (MAX_RADIUS - MIN_RADIUS) * (float)sqrt((double)g->size[v] / (double)most);
}

/* The smallest and the largest y of a lane; 0 and 0 for an empty one. */
static void reach(const pb_graph *g, const pb_layout *l, uint8_t lane, float *least, float *most)
{
    bool any = false;
    *least = *most = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (l->lane[v] != lane)
            continue;
        *least = !any || l->y[v] < *least ? l->y[v] : *least;
        *most = !any || l->y[v] > *most ? l->y[v] : *most;
        any = true;
    }
}

/* The forward pass goes right, the backward pass left below it, both over the whole width. */
static void place_lanes(const pb_graph *g, const uint32_t *layer, const uint32_t count[2], pb_layout *l)
{
    uint32_t longest = count[0] > count[1] ? count[0] : count[1];
    double width = longest ? longest - 1 : 0, step[2];
    float least[2], most[2], below;
    for (uint8_t lane = 0; lane < 2; lane++) {
        step[lane] = count[lane] > 1 && count[1] ? width / (count[lane] - 1) : 1;
        reach(g, l, lane, &least[lane], &most[lane]);
    }
    below = count[1] ? most[0] - least[0] + 1 + LANE_GAP : 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        uint8_t lane = l->lane[v];
        double x = (layer[v] - (lane ? count[0] : 0)) * step[lane];
        l->x[v] = (float)(0.5 + (lane ? width - x : x));
        l->y[v] += 0.5f - least[lane] + (lane ? below : 0);
    }
    l->width = (float)(width + 1);
    l->height = count[1] ? below + most[1] - least[1] + 1 : most[0] - least[0] + 1;
}

static pb_status make_layered(pb_context *ctx, const pb_graph *g, pb_arena *scratch, pb_layout *l)
{
    uint32_t count[2], *layer = pb_arena_alloc(scratch, g->node_count, sizeof *layer);
    if (!layer)
        return PB_ENOMEM;
    pb_status status = pbi_layout_layers(g, l->lane, scratch, layer, count);
    if (status != PB_OK)
        return status;
    for (pb_node v = 0; v < g->node_count; v++)
        layer[v] += l->lane[v] ? count[0] : 0;
    pbi_layers layers = {.count = g->node_count, .layer_count = count[0] + count[1], .layer = layer, .y = l->y};
    layers.in_start = g->in_start;
    layers.out_start = g->out_start;
    layers.in = g->in;
    layers.out = g->out;
    layers.band = l->lane;
    status = pbi_layers_place(ctx, &layers, scratch);
    if (status == PB_OK)
        status = pbi_layout_skips(g, layer, count, scratch, l);
    if (status == PB_OK)
        place_lanes(g, layer, count, l);
    return status;
}

/* The area that the members of each group cover. */
static void make_boxes(const pb_graph *g, pb_layout *l)
{
    for (pb_node v = 0; g->group && v < g->node_count; v++) {
        if (g->group[v] == UINT32_MAX)
            continue;
        pb_layout_box *b = &l->boxes[g->group[v]];
        float left = l->x[v] - 0.5f, top = l->y[v] - 0.5f, right = left + 1, bottom = top + 1;
        if (b->first == PB_NO_NODE) {
            *b = (pb_layout_box){left, top, 1, 1, v};
            continue;
        }
        right = b->x + b->width > right ? b->x + b->width : right;
        bottom = b->y + b->height > bottom ? b->y + b->height : bottom;
        b->x = b->x < left ? b->x : left;
        b->y = b->y < top ? b->y : top;
        b->width = right - b->x;
        b->height = bottom - b->y;
    }
}

static bool take_memory(const pb_graph *g, pb_arena *result, pb_layout *l)
{
    l->box_count = g->group_count;
    l->x = pb_arena_zero(result, g->node_count, sizeof *l->x);
    l->y = pb_arena_zero(result, g->node_count, sizeof *l->y);
    l->radius = pb_arena_alloc(result, g->node_count, sizeof *l->radius);
    l->lane = pb_arena_zero(result, g->node_count, sizeof *l->lane);
    l->boxes = pb_arena_alloc(result, g->group_count, sizeof *l->boxes);
    if (!l->x || !l->y || !l->radius || !l->lane || !l->boxes)
        return false;
    for (uint32_t i = 0; i < l->box_count; i++)
        l->boxes[i] = (pb_layout_box){.first = PB_NO_NODE};
    return true;
}

pb_status pb_layout_make(pb_context *ctx, const pb_graph *g, const pb_layout_options *options, pb_arena *result,
                         pb_layout *out)
{
    pb_layout l = {.kind = PB_LAYOUT_LAYERED, .width = 1, .height = 1};
    pb_arena scratch;
    pb_status status = PB_OK;
    bool turns = false;
    if (!take_memory(g, result, &l))
        return PB_ENOMEM;
    make_radii(g, l.radius);
    pb_arena_init(&scratch, ctx);
    for (pb_node v = 0; options->lane && v < g->node_count; v++) {
        l.lane[v] = options->lane[v];
        turns |= l.lane[v] != 0;
    }
    if (g->node_count && !options->lane && options->lanes != PB_LANES_NEVER)
        status = pb_layout_backward(ctx, g, l.lane, &turns);
    if (status == PB_OK && g->node_count) {
        if (g->shape == PB_SHAPE_IN_TREE && !turns) {
            l.kind = PB_LAYOUT_TREE;
            status = pbi_layout_tree(g, &scratch, &l);
        } else {
            l.kind = turns ? PB_LAYOUT_LANES : PB_LAYOUT_LAYERED;
            status = make_layered(ctx, g, &scratch, &l);
        }
    }
    if (status == PB_OK && options->fold && l.kind != PB_LAYOUT_TREE)
        status = pbi_layout_fold(g, &scratch, &l);
    if (status == PB_OK)
        make_boxes(g, &l);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = l;
    return status;
}
