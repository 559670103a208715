/* player.c -- see pebble/report.h. */
#include "pebble/report.h"

#include "base/context.h"
#include "base/out.h"
#include "report/walk.h"

#include <math.h>
#include <string.h>

enum { RECOMPUTES = 0x80, IN_BORROW = 1 };

typedef struct packer {
    pbi_out out;
    uint64_t length;
} packer;

static void pack_begin(packer *p, pb_context *ctx, pb_sink sink)
{
    pbi_out_init(&p->out, ctx, sink);
    p->length = 0;
}

static void put(packer *p, uint64_t value, unsigned bytes)
{
    char text[8];
    for (unsigned i = 0; i < bytes; i++)
        text[i] = (char)(unsigned char)(value >> (8 * i));
    pbi_out_bytes(&p->out, text, bytes);
    p->length += bytes;
}

static void put_u32(packer *p, uint32_t value) { put(p, value, 4); }

static void put_f32(packer *p, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(p, bits, 4);
}

static void put_f64(packer *p, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(p, bits, 8);
}

static void pad(packer *p, unsigned to)
{
    while (p->length % to)
        put(p, 0, 1);
}

static void put_floats(packer *p, const float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put_f32(p, values[i]);
}

static void put_doubles(packer *p, const double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put_f64(p, values[i]);
}

static void put_amounts(packer *p, const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put_f64(p, (double)values[i]);
}

/* ---- layout and names ---- */

static void put_edges(packer *p, const pb_graph *g)
{
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            put_u32(p, g->in[k]);
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            put_u32(p, v);
}

static void put_layout(packer *p, const pb_graph *g, const pb_layout *l, bool collapsed)
{
    put_u32(p, 0x314C4250);
    put_u32(p, (uint32_t)l->kind);
    put_u32(p, g->node_count);
    put_u32(p, g->edge_count);
    put_u32(p, l->box_count);
    put_u32(p, collapsed);
    put_f32(p, l->width);
    put_f32(p, l->height);
    put_floats(p, l->x, g->node_count);
    put_floats(p, l->y, g->node_count);
    put_floats(p, l->radius, g->node_count);
    for (pb_node v = 0; v < g->node_count; v++)
        put(p, l->lane[v], 1);
    pad(p, 4);
    for (pb_node v = 0; v < g->node_count; v++)
        put_u32(p, g->group ? g->group[v] : UINT32_MAX);
    put_edges(p, g);
    for (uint32_t i = 0; i < l->box_count; i++) {
        const pb_layout_box *b = &l->boxes[i];
        put_floats(p, (float[]){b->x, b->y, b->width, b->height}, 4);
        put_u32(p, b->first);
    }
    pad(p, 8);
    put_amounts(p, g->size, g->node_count);
    put_amounts(p, g->cost, g->node_count);
}

pb_status pb_player_layout_write(pb_context *ctx, const pb_graph *g, const pb_layout_options *options, pb_sink sink)
{
    packer p;
    pb_layout layout;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_status status = pb_layout_make(ctx, g, options, &scratch, &layout);
    if (status == PB_OK) {
        pack_begin(&p, ctx, sink);
        put_layout(&p, g, &layout, options->collapse && g->group_count);
        status = pbi_out_finish(&p.out);
    }
    pb_arena_release(&scratch);
    return status;
}

pb_status pb_player_names_write(pb_context *ctx, const pb_graph *g, pb_sink sink)
{
    packer p;
    uint64_t at = 0;
    pack_begin(&p, ctx, sink);
    put_u32(&p, g->node_count + g->group_count);
    put_u32(&p, 0);
    for (pb_node v = 0; v < g->node_count; v++)
        put_u32(&p, (uint32_t)(at += strlen(pb_graph_name(g, v))));
    for (uint32_t i = 0; i < g->group_count; i++)
        put_u32(&p, (uint32_t)(at += strlen(g->group_names[i])));
    if (at > UINT32_MAX)
        return pbi_fail(ctx, PB_ERANGE, "the names have 4 GiB or more; the page cannot show this graph");
    for (pb_node v = 0; v < g->node_count; v++)
        pbi_out_text(&p.out, pb_graph_name(g, v));
    for (uint32_t i = 0; i < g->group_count; i++)
        pbi_out_text(&p.out, g->group_names[i]);
    return pbi_out_finish(&p.out);
}

/* ---- frames ---- */

typedef struct frames {
    const pb_game *game;
    const pb_graph *graph;
    const pb_moves *moves;
    uint32_t count, also_count;
    uint8_t *op;
    double *during, *after, *slow, *time;
} frames;

static bool starts_slow(const pb_graph *g, pb_node v)
{
    const uint16_t both = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    return (g->flags[v] & both) == both;
}

static bool starts_fast(const pb_graph *g, pb_node v) { return (g->flags[v] & PB_NODE_GIVEN) && !starts_slow(g, v); }

static pb_status frames_make(frames *f, const pb_game *game, const pb_moves *moves, pb_arena *scratch)
{
    pbi_walk w;
    *f = (frames){.game = game, .moves = moves, .graph = game->graph};
    f->count = (uint32_t)f->moves->count;
    f->op = pb_arena_alloc(scratch, f->count, 1);
    f->during = pb_arena_alloc(scratch, f->count, sizeof *f->during);
    f->after = pb_arena_alloc(scratch, f->count, sizeof *f->after);
    f->slow = pb_arena_alloc(scratch, f->count, sizeof *f->slow);
    f->time = pb_arena_alloc(scratch, f->count, sizeof *f->time);
    bool *computed = pb_arena_zero(scratch, f->graph->node_count, sizeof *computed);
    if (!f->op || !f->during || !f->after || !f->slow || !f->time || !computed)
        return PB_ENOMEM;
    pb_status status = pbi_walk_moves(&w, game, moves, scratch);
    while (status == PB_OK && pbi_walk_next(&w)) {
        bool computes = w.move.op == PB_COMPUTE;
        f->op[w.step] = (uint8_t)(w.move.op | (computes && computed[w.move.node] ? RECOMPUTES : 0));
        f->during[w.step] = (double)w.during;
        f->after[w.step] = (double)w.after;
        f->slow[w.step] = (double)w.slow;
        f->time[w.step] = (double)w.start;
        f->also_count += w.also_count;
        if (computes)
            computed[w.move.node] = true;
    }
    return status;
}

static void put_moves(packer *p, const frames *f)
{
    uint32_t at = 0, count;
    for (uint32_t k = 0; k < f->count; k++)
        put(p, f->op[k], 1);
    pad(p, 4);
    for (uint32_t k = 0; k < f->count; k++) {
        const pb_move *m = &f->moves->move[k];
        bool borrows = m->op == PB_COMPUTE && (m->flags & PB_MOVE_BORROW);
        put(p, borrows ? IN_BORROW : m->tier, 1);
    }
    pad(p, 4);
    for (uint32_t k = 0; k < f->count; k++)
        put_u32(p, f->moves->move[k].node);
    for (uint32_t k = 0; k < f->count; k++)
        put_u32(p, pb_moves_over(f->moves, k));
    put_u32(p, 0);
    for (uint32_t k = 0; k < f->count; k++) {
        pb_moves_also(f->moves, k, &count);
        put_u32(p, at += count);
    }
    for (uint32_t k = 0; k < f->count; k++) {
        const pb_node *also = pb_moves_also(f->moves, k, &count);
        for (uint32_t i = 0; i < count; i++)
            put_u32(p, also[i]);
    }
}

static void put_starts(packer *p, const pb_graph *g, bool (*starts)(const pb_graph *g, pb_node v))
{
    uint32_t count = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        count += starts(g, v);
    put_u32(p, count);
    for (pb_node v = 0; v < g->node_count; v++)
        if (starts(g, v))
            put_u32(p, v);
}

static void put_frames(packer *p, const frames *f, const pb_totals *totals)
{
    put_u32(p, 0x31464250);
    put_u32(p, f->game->kind == PB_GAME_TIERED ? f->game->tier_count : 0);
    put_u32(p, f->count);
    put_u32(p, f->also_count);
    put_moves(p, f);
    pad(p, 8);
    put_doubles(p, f->during, f->count);
    put_doubles(p, f->after, f->count);
    put_doubles(p, f->slow, f->count);
    put_doubles(p, f->time, f->count);
    put_f64(p, f->game->cap == PB_UNLIMITED ? INFINITY : (double)f->game->cap);
    put_f64(p, (double)totals->peak);
    put_u32(p, totals->peak_step == PBI_NO_STEP ? UINT32_MAX : (uint32_t)totals->peak_step);
    put_starts(p, f->graph, starts_fast);
    put_starts(p, f->graph, starts_slow);
}

static pb_status write_frames(pb_context *ctx, const pb_game *game, const pb_moves *moves, const pb_totals *totals,
                              pb_sink sink)
{
    packer p;
    frames f;
    pb_arena scratch;
    if (moves->count >= UINT32_MAX)
        return pbi_fail(ctx, PB_ERANGE, "the plan has too many moves to play; export it as a schedule");
    pb_arena_init(&scratch, ctx);
    pb_status status = frames_make(&f, game, moves, &scratch);
    if (status == PB_OK) {
        pack_begin(&p, ctx, sink);
        put_frames(&p, &f, totals);
        status = pbi_out_finish(&p.out);
    }
    pb_arena_release(&scratch);
    return status;
}

pb_status pb_player_frames_write(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    return write_frames(ctx, pb_certificate_game(c), pb_certificate_moves(c), pb_certificate_totals(c), sink);
}

pb_status pb_player_attempt_write(pb_context *ctx, const pb_game *game, const pb_moves *attempt, uint64_t need,
                                  pb_sink sink)
{
    pb_totals totals = {.peak = need, .peak_step = attempt->count ? attempt->count - 1 : PBI_NO_STEP};
    return write_frames(ctx, game, attempt, &totals, sink);
}
