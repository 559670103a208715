/* family_pipeline.c -- an image that passes through stages of filters, tile by tile.
 *
 * A tile of stage s reads the tiles of stage s-1 that its pixels and their halo touch. Stage 0 is the input image.
 */
#include "generate/families.h"
#include "graph/emit.h"

typedef struct filter {
    const char *name;
    uint32_t radius; /* of the stencil; UINT32_MAX: the parameter `halo` */
    uint32_t ops;    /* per pixel of the stencil */
} filter;

#define HALO UINT32_MAX

static const filter filters[] = {
    {"blur", HALO, 2},    /* multiply, add */
    {"transform", 0, 15}, /* three by three colour matrix and offset */
    {"edges", 1, 4},      /* two gradients: multiply, add each */
    {"detect", HALO, 1},  /* compare with every pixel around */
};
#define FILTER_COUNT (sizeof filters / sizeof *filters)

/* Columns or rows of tiles, both ends included. */
typedef struct span {
    uint64_t first, last;
} span;

typedef struct pipeline {
    pbi_emit e;
    uint64_t width, height, tile, stages, halo, pixel_size;
    uint64_t columns, rows, tiles;
    const filter *only; /* NULL: in turn */
    uint16_t input_flags, result_flags;
} pipeline;

static const filter *filter_of(const pipeline *p, uint64_t stage)
{
    return p->only ? p->only : &filters[(stage - 1) % FILTER_COUNT];
}

static uint64_t radius_of(const pipeline *p, const filter *f) { return f->radius == HALO ? p->halo : f->radius; }

static uint64_t side_of(uint64_t index, uint64_t tile, uint64_t total)
{
    uint64_t left = total - index * tile;
    return left < tile ? left : tile;
}

/* Tiles along one side that tile `index`, `radius` pixels wider at both ends, touches. */
static span touched(uint64_t index, uint64_t tile, uint64_t total, uint64_t radius)
{
    uint64_t from = index * tile, to = from + side_of(index, tile, total) - 1 + radius;
    from = from > radius ? from - radius : 0;
    to = to < total ? to : total - 1;
    return (span){from / tile, to / tile};
}

/* Pixels along one side of that. */
static uint64_t reached(uint64_t index, uint64_t tile, uint64_t total, uint64_t radius)
{
    uint64_t from = index * tile, to = from + side_of(index, tile, total) + radius;
    from = from > radius ? from - radius : 0;
    return (to < total ? to : total) - from;
}

static pb_work work_of(const char *op, uint64_t flops, uint64_t bytes)
{
    return (pb_work){.op = op, .has_flops = true, .has_bytes = true, .flops = flops, .bytes = bytes};
}

static pb_node tile_node(const pipeline *p, uint64_t stage, uint64_t row, uint64_t column)
{
    return (pb_node)(stage * p->tiles + row * p->columns + column);
}

static void emit_tile(pipeline *p, uint64_t stage, uint64_t row, uint64_t column)
{
    uint64_t pixels = side_of(column, p->tile, p->width) * side_of(row, p->tile, p->height);
    pbi_label group, name;
    pbi_label_set(&group, stage ? filter_of(p, stage)->name : "input");
    if (stage)
        pbi_label_number(&group, stage);
    name = group;
    pbi_label_text(&name, ".");
    pbi_label_number(&name, row);
    pbi_label_text(&name, "_");
    pbi_label_number(&name, column);
    pb_node_spec spec = {.name = name.text, .name_length = name.length};
    spec.group = group.text;
    spec.group_length = group.length;
    spec.size = pbi_times(pixels, p->pixel_size);
    if (stage == 0) {
        spec.flags = p->input_flags;
        if (!(p->input_flags & PB_NODE_GIVEN)) {
            spec.cost = spec.size; /* one operation per byte read */
            spec.work = work_of("copy", 0, pbi_times(2, spec.size));
        }
        pbi_emit_node(&p->e, &spec);
        return;
    }
    const filter *f = filter_of(p, stage);
    uint64_t radius = radius_of(p, f), side = 2 * radius + 1;
    spec.cost = pbi_times(pixels, side * side * f->ops);
    spec.flags = stage == p->stages ? p->result_flags : 0;
    uint64_t read = reached(column, p->tile, p->width, radius) * reached(row, p->tile, p->height, radius);
    spec.work = work_of("filter", spec.cost, pbi_add_saturated(pbi_times(read, p->pixel_size), spec.size));
    pb_node v = pbi_emit_node(&p->e, &spec);
    span rows = touched(row, p->tile, p->height, radius), columns = touched(column, p->tile, p->width, radius);
    for (uint64_t r = rows.first; r <= rows.last; r++)
        for (uint64_t c = columns.first; c <= columns.last && p->e.status == PB_OK; c++)
            pbi_emit_edge(&p->e, tile_node(p, stage - 1, r, c), v);
    if (radius == 0)
        pbi_emit_inplace(&p->e, v, v - (pb_node)p->tiles);
}

static void order_by_stage(pipeline *p)
{
    uint64_t from = p->input_flags & PB_NODE_GIVEN ? p->tiles : 0, to = (p->stages + 1) * p->tiles;
    for (uint64_t v = from; v < to && p->e.status == PB_OK; v++)
        pbi_emit_order(&p->e, (pb_node)v);
}

/* A tile on the path: the tiles it reads, and how many of them have been visited. */
typedef struct visit {
    uint64_t stage, row, column;
    span rows, columns;
    uint64_t next;
} visit;

static visit visit_tile(const pipeline *p, uint64_t stage, uint64_t row, uint64_t column)
{
    visit v = {.stage = stage, .row = row, .column = column};
    if (stage > 0) {
        uint64_t radius = radius_of(p, filter_of(p, stage));
        v.rows = touched(row, p->tile, p->height, radius);
        v.columns = touched(column, p->tile, p->width, radius);
    }
    return v;
}

/* Depth first below one result tile; a path has one tile of each stage, so `path` needs stages+1 entries. */
static void order_below(pipeline *p, visit *path, uint8_t *done, uint64_t row, uint64_t column)
{
    uint64_t depth = 0;
    path[depth++] = visit_tile(p, p->stages, row, column);
    while (depth && p->e.status == PB_OK) {
        visit *at = &path[depth - 1];
        uint64_t columns = at->columns.last - at->columns.first + 1;
        uint64_t rows = at->rows.last - at->rows.first + 1;
        if (at->stage > 0 && at->next < rows * columns) {
            uint64_t r = at->rows.first + at->next / columns, c = at->columns.first + at->next % columns;
            at->next++;
            if (!done[tile_node(p, at->stage - 1, r, c)])
                path[depth++] = visit_tile(p, at->stage - 1, r, c);
            continue;
        }
        pb_node v = tile_node(p, at->stage, at->row, at->column);
        done[v] = 1;
        if (at->stage > 0 || !(p->input_flags & PB_NODE_GIVEN))
            pbi_emit_order(&p->e, v);
        depth--;
    }
}

static pb_status order_by_tile(pipeline *p)
{
    pb_arena scratch;
    pb_arena_init(&scratch, p->e.ctx);
    visit *path = pb_arena_alloc(&scratch, p->stages + 1, sizeof *path);
    uint8_t *done = pb_arena_zero(&scratch, (p->stages + 1) * p->tiles, 1);
    bool ok = path && done;
    for (uint64_t i = 0; ok && i < p->tiles && p->e.status == PB_OK; i++)
        order_below(p, path, done, i / p->columns, i % p->columns);
    pb_arena_release(&scratch);
    return ok ? p->e.status : PB_ENOMEM;
}

static pipeline read_pipeline(const pbi_params *params)
{
    pipeline p = {.width = pbi_param_integer(params, "width"),
                  .height = pbi_param_integer(params, "height"),
                  .tile = pbi_param_integer(params, "tile"),
                  .stages = pbi_param_integer(params, "stages"),
                  .halo = pbi_param_integer(params, "halo"),
                  .pixel_size = pbi_param_integer(params, "pixel-size")};
    for (size_t i = 0; i < FILTER_COUNT; i++)
        if (pbi_param_is(params, "kind", filters[i].name))
            p.only = &filters[i];
    if (pbi_param_is(params, "input", "given"))
        p.input_flags = PB_NODE_GIVEN;
    else if (pbi_param_is(params, "input", "slow"))
        p.input_flags = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    if (pbi_param_is(params, "result", "keep"))
        p.result_flags = PB_NODE_KEEP;
    p.columns = pbi_ceil_div(p.width, p.tile);
    p.rows = pbi_ceil_div(p.height, p.tile);
    p.tiles = p.columns * p.rows;
    return p;
}

pb_status pbi_generate_pipeline(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    pipeline p = read_pipeline(params);
    pbi_emit_init(&p.e, ctx, params->family->name, builder);
    uint64_t nodes = pbi_times(p.stages + 1, p.tiles);
    uint64_t across = 2 * pbi_ceil_div(p.halo > 1 ? p.halo : 1, p.tile) + 1;
    uint64_t reads = (across < p.columns ? across : p.columns) * (across < p.rows ? across : p.rows);
    if (pbi_emit_budget(&p.e, nodes, pbi_times(nodes, reads)) != PB_OK)
        return p.e.status;
    pbi_emit_units(&p.e, "op", "byte");
    for (uint64_t stage = 0; stage <= p.stages; stage++)
        for (uint64_t i = 0; i < p.tiles && p.e.status == PB_OK; i++)
            emit_tile(&p, stage, i / p.columns, i % p.columns);
    for (uint64_t i = 0; i < p.tiles && p.e.status == PB_OK; i++)
        pbi_emit_target(&p.e, (pb_node)(p.stages * p.tiles + i));
    if (p.e.status == PB_OK && pbi_param_is(params, "order", "tile"))
        return order_by_tile(&p);
    order_by_stage(&p);
    return p.e.status;
}
