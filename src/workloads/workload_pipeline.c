/* workload_pipeline.c -- filters an image, whole or tile by tile, and reports detections in a small record.
 *
 * Each tile of each stage is a node that reads the tiles its halo touches. So a planner decides which tiles are
 * kept for their neighbours, which are recomputed, and in what order. If tiles include their halos they are larger,
 * and their chains are independent: minimum memory, but some pixels are computed several times in any plan. The
 * image itself is not part of the plan, as if it were in a large memory next to a small one: loading a tile is a
 * computation like others, and may be repeated.
 */
#include "base/context.h"
#include "workloads/filters.h"

#include <stdio.h>
#include <string.h>

enum { SOURCE, WIDTH, HEIGHT, SEED, TILE, HALO, BLUR, WINDOW, THRESHOLD };
enum { MIN_TILE = 16, MAX_TILES = 100000 };

static const pb_workload_option options[] = {
    [SOURCE] = {"file", "", "a PGM or PPM image; without it a random one is used"},
    [WIDTH] = {"width", "512", "of an image that is made"},
    [HEIGHT] = {"height", "512", "likewise"},
    [SEED] = {"seed", "1", "likewise"},
    [TILE] = {"tile", "32", "side of a tile in pixels, 16 or more; 0: the whole image at once"},
    [HALO] = {"halo", "read", "read: from the neighboring tiles; own: each tile recomputes it and reads no other tile"},
    [BLUR] = {"blur", "3", "radius of the blur, at most 8"},
    [WINDOW] = {"window", "2", "a detection is the strongest edge within this radius in pixels, at most 8"},
    [THRESHOLD] = {"threshold", "8000", "minimum strength of a detection, 1 to 65535"},
};

typedef struct pipeline {
    pbi_filters filters;
    uint32_t tiles;
    pbi_found found; /* by the last run */
} pipeline;

static pb_node node_of(const pipeline *p, pbi_stage stage, uint32_t t) { return (pb_node)stage * p->tiles + t; }

/* ---- kernels ---- */

static pb_status run_tile(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    const pipeline *p = state;
    pbi_stage stage = (pbi_stage)(call->node / p->tiles);
    uint32_t t = call->node % p->tiles;
    void *const *in = call->value + (stage ? node_of(p, stage - 1, 0) : 0);
    pbi_filters_run(&p->filters, stage, t, in, call->value[call->node], call->workspace);
    return PB_OK;
}

/* Join t + 1 combines the detections in tiles 0 .. t with those in tile t + 1. */
static pb_status join(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    const pipeline *p = state;
    uint32_t t = call->node - node_of(p, PBI_STAGES, 0);
    pb_node before = t ? call->node - 1 : node_of(p, PBI_DETECT, 0);
    pbi_found_join(call->value[before], call->value[node_of(p, PBI_DETECT, t + 1)], call->value[call->node]);
    return PB_OK;
}

/* ---- the graph ---- */

/* Tiles that a tile of a stage reads, both ends included. */
typedef struct span {
    uint32_t left, right, top, below;
} span;

static span halo_of(const pipeline *p, pbi_stage stage, uint32_t t)
{
    uint32_t columns = p->filters.columns, rows = p->filters.rows, column = t % columns, row = t / columns;
    uint32_t reach = !p->filters.own_halo && pbi_filters_radius(&p->filters, stage) > 0;
    return (span){.left = column < reach ? 0 : column - reach,
                  .right = column + reach < columns ? column + reach : column,
                  .top = row < reach ? 0 : row - reach,
                  .below = row + reach < rows ? row + reach : row};
}

static void read_halo(pbi_draft *d, const pipeline *p, pbi_stage stage, uint32_t t, pb_node v)
{
    span s = halo_of(p, stage, t);
    for (uint32_t y = s.top; y <= s.below; y++)
        for (uint32_t x = s.left; x <= s.right; x++)
            pbi_emit_edge(&d->e, node_of(p, stage - 1, y * p->filters.columns + x), v);
}

static void add_tile(pbi_draft *d, const pipeline *p, pbi_stage stage, uint32_t t)
{
    pbi_label name;
    pbi_label_set(&name, pbi_stage_name(stage));
    pbi_label_text(&name, "_");
    pbi_label_number(&name, t / p->filters.columns);
    pbi_label_text(&name, "_");
    pbi_label_number(&name, t % p->filters.columns);
    pb_node_spec spec = {.name = name.text, .name_length = name.length, .group = pbi_stage_name(stage)};
    spec.size = pbi_filters_size(&p->filters, stage, t);
    spec.workspace = pbi_filters_workspace(&p->filters, stage, t);
    spec.cost = pbi_filters_cost(&p->filters, stage, t);
    spec.work = (pb_work){.op = stage == PBI_LOAD ? "copy" : "filter",
                          .has_flops = true,
                          .has_bytes = true,
                          .flops = stage == PBI_LOAD ? 0 : spec.cost,
                          .bytes = pbi_filters_traffic(&p->filters, stage, t)};
    spec.flags = stage == PBI_DETECT && p->tiles == 1 ? PB_NODE_KEEP : 0;
    pb_node v = pbi_emit_node(&d->e, &spec);
    if (stage != PBI_LOAD)
        read_halo(d, p, stage, t, v);
    if (stage == PBI_TRANSFORM && p->filters.image.channels == 3)
        pbi_emit_inplace(&d->e, v, node_of(p, PBI_BLUR, t));
}

static void add_join(pbi_draft *d, const pipeline *p, uint32_t t)
{
    pbi_label name;
    pbi_label_set(&name, "found_");
    pbi_label_number(&name, t + 1);
    pb_node_spec spec = {.name = name.text, .name_length = name.length, .cost = 100, .size = sizeof(pbi_found)};
    spec.work = (pb_work){.op = "reduce", .has_flops = true, .has_bytes = true};
    spec.work.flops = spec.cost;
    spec.work.bytes = 3 * spec.size;
    spec.flags = t + 2 == p->tiles ? PB_NODE_KEEP : 0;
    pb_node v = pbi_emit_node(&d->e, &spec), before = t ? v - 1 : node_of(p, PBI_DETECT, 0);
    pbi_emit_edge(&d->e, before, v);
    pbi_emit_edge(&d->e, node_of(p, PBI_DETECT, t + 1), v);
    pbi_emit_inplace(&d->e, v, before);
}

/* The inputs of a tile, then the tile; no deeper than the number of stages. */
static void order_tile(pbi_draft *d, const pipeline *p, pbi_stage stage, uint32_t t, bool *done)
{
    pb_node v = node_of(p, stage, t);
    if (done[v])
        return;
    done[v] = true;
    span s = halo_of(p, stage, t);
    for (uint32_t y = s.top; stage != PBI_LOAD && y <= s.below; y++)
        for (uint32_t x = s.left; x <= s.right; x++)
            order_tile(d, p, stage - 1, y * p->filters.columns + x, done);
    pbi_emit_order(&d->e, v);
}

/* As a program that visits the tiles row by row and computes what is missing. */
static void add_order(pbi_draft *d, const pipeline *p, bool *done)
{
    for (uint32_t t = 0; t < p->tiles; t++) {
        order_tile(d, p, PBI_DETECT, t, done);
        if (t)
            pbi_emit_order(&d->e, node_of(p, PBI_STAGES, t - 1));
    }
}

static pb_status make_graph(pb_workload *w, const pipeline *p)
{
    pbi_draft d;
    bool *done = pb_arena_zero(&w->arena, node_of(p, PBI_STAGES, 0), sizeof *done);
    if (!done)
        return PB_ENOMEM;
    pbi_draft_begin(&d, w, "pipeline", "op");
    for (int stage = 0; stage < PBI_STAGES; stage++)
        for (uint32_t t = 0; t < p->tiles && d.e.status == PB_OK; t++)
            add_tile(&d, p, (pbi_stage)stage, t);
    for (uint32_t t = 0; t + 1 < p->tiles && d.e.status == PB_OK; t++)
        add_join(&d, p, t);
    add_order(&d, p, done);
    return pbi_draft_end(&d, w);
}

static pb_status set_kernels(pb_workload *w, const pipeline *p)
{
    pb_kernel *of = pb_arena_alloc(&w->arena, w->graph->node_count, sizeof *of);
    if (!of)
        return PB_ENOMEM;
    for (pb_node v = 0; v < w->graph->node_count; v++)
        of[v] = v < node_of(p, PBI_STAGES, 0) ? run_tile : join;
    w->kernels.of = of;
    return PB_OK;
}

/* ---- opening ---- */

static pb_status check_tiles(pb_context *ctx, uint64_t width, uint64_t height, uint64_t tile)
{
    uint64_t tiles = tile ? ((width + tile - 1) / tile) * ((height + tile - 1) / tile) : 1;
    if (tiles > MAX_TILES)
        return pbi_fail(ctx, PB_EINVAL, "pipeline: tile=%llu gives %llu tiles, more than %d; use a larger tile",
                        (unsigned long long)tile, (unsigned long long)tiles, MAX_TILES);
    return PB_OK;
}

static pb_status make_image(pb_workload *w, const char *const *values, uint64_t tile, pbi_image *image)
{
    uint64_t width, height, seed;
    pb_status status = pbi_workload_number(w->ctx, "pipeline: width", values[WIDTH], 1, 16384, &width);
    if (status == PB_OK)
        status = pbi_workload_number(w->ctx, "pipeline: height", values[HEIGHT], 1, 16384, &height);
    if (status == PB_OK)
        status = pbi_workload_number(w->ctx, "pipeline: seed", values[SEED], 0, UINT64_MAX, &seed);
    if (status == PB_OK)
        status = check_tiles(w->ctx, width, height, tile);
    return status == PB_OK ? pbi_image_make(&w->arena, (uint32_t)width, (uint32_t)height, seed, image) : status;
}

static pb_status read_image(pb_workload *w, const char *path, uint64_t tile, pbi_image *image)
{
    pb_status status = pbi_pnm_read(w->ctx, path, &w->arena, image);
    return status == PB_OK ? check_tiles(w->ctx, image->width, image->height, tile) : status;
}

static pb_status read_filters(pb_workload *w, const char *const *values, pipeline *p)
{
    uint64_t tile, blur, window, threshold;
    pbi_image image;
    pb_status status = pbi_workload_number(w->ctx, "pipeline: tile", values[TILE], 0, 16384, &tile);
    if (status == PB_OK && tile && tile < MIN_TILE)
        status = pbi_fail(w->ctx, PB_EINVAL, "pipeline: tile must be 0 or at least %d, not %s", MIN_TILE, values[TILE]);
    bool own = strcmp(values[HALO], "own") == 0;
    if (status == PB_OK && !own && strcmp(values[HALO], "read") != 0)
        status = pbi_fail(w->ctx, PB_EINVAL, "pipeline: halo must be read or own, not '%s'", values[HALO]);
    if (status == PB_OK)
        status = pbi_workload_number(w->ctx, "pipeline: blur", values[BLUR], 0, PBI_MAX_RADIUS, &blur);
    if (status == PB_OK)
        status = pbi_workload_number(w->ctx, "pipeline: window", values[WINDOW], 0, PBI_MAX_RADIUS, &window);
    if (status == PB_OK)
        status = pbi_workload_number(w->ctx, "pipeline: threshold", values[THRESHOLD], 1, UINT16_MAX, &threshold);
    if (status == PB_OK)
        status = *values[SOURCE] ? read_image(w, values[SOURCE], tile, &image) : make_image(w, values, tile, &image);
    if (status != PB_OK)
        return status;
    p->filters = (pbi_filters){.image = image,
                               .tile = (uint32_t)tile,
                               .own_halo = own,
                               .blur = (uint32_t)blur,
                               .window = (uint32_t)window,
                               .threshold = (uint32_t)threshold};
    pbi_filters_init(&p->filters);
    p->tiles = p->filters.columns * p->filters.rows;
    return PB_OK;
}

static pb_status open_pipeline(pb_workload *w, const char *const *values)
{
    pipeline *p = pb_arena_zero(&w->arena, 1, sizeof *p);
    if (!p)
        return PB_ENOMEM;
    w->kernels.state = p;
    pb_status status = read_filters(w, values, p);
    if (status == PB_OK)
        status = make_graph(w, p);
    return status == PB_OK ? set_kernels(w, p) : status;
}

/* ---- after a run ---- */

static pb_status end_pipeline(pb_workload *w, uint64_t step, pb_engine *e)
{
    (void)step;
    pipeline *p = w->kernels.state;
    memcpy(&p->found, pb_engine_value(e, w->graph->node_count - 1), sizeof p->found);
    return PB_OK;
}

static size_t text_pipeline(pb_workload *w, char *text, size_t room)
{
    const pipeline *p = w->kernels.state;
    const pbi_found *found = &p->found;
    unsigned long long count = found->count, best = found->best[0];
    int length = found->count ? snprintf(text, room, "%llu detections, the strongest %llu at %llu,%llu", count,
                                         best >> 48, 0xffffff - (best & 0xffffff), 0xffffff - (best >> 24 & 0xffffff))
                              : snprintf(text, room, "no detection");
    return length < 0 ? 0 : (size_t)length;
}

static const pb_option own_halo = {"halo", "own"};

const pbi_workload_kind pbi_workload_pipeline = {
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .smaller = &own_halo,
    .open = open_pipeline,
    .end = end_pipeline,
    .text = text_pipeline,
};
