/* player.c -- see pebble/report.h. */
#include "pebble/report.h"

#include "base/context.h"
#include "base/out.h"
#include "report/timed_walk.h"
#include "report/walk.h"

#include <math.h>
#include <string.h>

enum { RECOMPUTES = 0x80, IN_BORROW = 1, BY_RECIPE = 1 }; /* the tier of a computation by recipe k: 1 + k */

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

static void put_layout(packer *p, const pb_graph *g, const pb_layout *l, bool closed)
{
    put_u32(p, 0x314C4250);
    put_u32(p, (uint32_t)l->kind);
    put_u32(p, g->node_count);
    put_u32(p, g->edge_count);
    put_u32(p, l->box_count);
    put_u32(p, closed);
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
        put_layout(&p, g, &layout, false);
        status = pbi_out_finish(&p.out);
    }
    pb_arena_release(&scratch);
    return status;
}

pb_status pb_player_groups_write(pb_context *ctx, const pb_graph *g, const pb_layout_options *options, const bool *open,
                                 pb_sink sink)
{
    packer p;
    pb_layout layout;
    pb_layout_groups groups;
    pb_layout_options own = *options;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_status status = pb_layout_close(ctx, g, options->lanes, open, &scratch, &groups);
    if (status == PB_OK) {
        own.lane = groups.lane;
        own.lanes = PB_LANES_NEVER;
        status = pb_layout_make(ctx, groups.graph, &own, &scratch, &layout);
    }
    if (status == PB_OK) {
        pack_begin(&p, ctx, sink);
        put_layout(&p, groups.graph, &layout, true);
        put_u32(&p, g->node_count);
        for (pb_node v = 0; v < g->node_count; v++)
            put_u32(&p, groups.item[v]);
        for (uint32_t i = 0; i < groups.graph->node_count; i++)
            put_u32(&p, groups.of[i]);
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
    /* Of the timed game: where each move happens, until when, and what each memory holds at the start. */
    double *end, *start;
    uint32_t *lane, *place;
} frames;

/* Where a value is before the first move: a memory of the timed game; else 0, in fast memory, or 1, in slow memory.
 * UINT32_MAX: nowhere. */
static uint32_t starts_in(const frames *f, pb_node v)
{
    if (f->game->kind == PB_GAME_TIMED)
        return f->game->timing->start[v];
    const uint16_t flags = f->graph->flags[v];
    return !(flags & PB_NODE_GIVEN) ? UINT32_MAX : flags & PB_NODE_GIVEN_SLOW ? 1 : 0;
}

/* The moves of the timed game: `during` and `after` are of the memory that the move changes. */
static pb_status walk_timed(frames *f, const pb_certificate *c, pb_arena *scratch)
{
    pbi_timed_walk w;
    uint32_t memories = f->game->timing->machine->memory_count;
    f->end = pb_arena_alloc(scratch, f->count, sizeof *f->end);
    f->lane = pb_arena_alloc(scratch, f->count, sizeof *f->lane);
    f->place = pb_arena_alloc(scratch, f->count, sizeof *f->place);
    f->start = pb_arena_alloc(scratch, memories, sizeof *f->start);
    if (!f->end || !f->lane || !f->place || !f->start)
        return PB_ENOMEM;
    pb_status status = pbi_timed_walk_init(&w, c, scratch);
    for (uint32_t i = 0; i < memories && status == PB_OK; i++)
        f->start[i] = (double)w.held[i];
    while (status == PB_OK && pbi_timed_walk_next(&w)) {
        if (!w.move)
            continue; /* the end of a computation: `after` has it */
        uint32_t also_count;
        bool computes = w.move->op == PB_COMPUTE;
        double back = computes ? (double)w.releases[w.lane].amount : 0;
        f->op[w.step] = (uint8_t)(w.move->op | (computes && w.again ? RECOMPUTES : 0));
        f->during[w.step] = (double)w.held[w.memory];
        f->after[w.step] = f->during[w.step] - back;
        f->slow[w.step] = 0;
        f->time[w.step] = (double)w.at;
        f->end[w.step] = (double)w.end;
        f->lane[w.step] = w.move->op == PB_FREE ? UINT32_MAX : w.lane;
        f->place[w.step] = w.memory;
        pb_moves_also(f->moves, w.step, &also_count);
        f->also_count += also_count;
    }
    return status;
}

/* `c` is NULL for moves without a certificate. */
static pb_status frames_make(frames *f, const pb_game *game, const pb_moves *moves, const pb_certificate *c,
                             pb_arena *scratch)
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
    if (game->kind == PB_GAME_TIMED && c)
        return walk_timed(f, c, scratch);
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
        bool recovers = m->op == PB_COMPUTE && m->by;
        put(p, borrows ? IN_BORROW : recovers ? BY_RECIPE + (m->by < 254 ? m->by : 254) : m->tier, 1);
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

static void put_starts(packer *p, const frames *f, uint32_t place)
{
    uint32_t count = 0;
    for (pb_node v = 0; v < f->graph->node_count; v++)
        count += starts_in(f, v) == place;
    put_u32(p, count);
    for (pb_node v = 0; v < f->graph->node_count; v++)
        if (starts_in(f, v) == place)
            put_u32(p, v);
}

static void put_name(packer *p, const char *name)
{
    size_t length = strlen(name);
    put_u32(p, (uint32_t)length);
    pbi_out_bytes(&p->out, name, length);
    p->length += length;
    pad(p, 4);
}

static void put_timed(packer *p, const frames *f, const pb_timed_totals *totals)
{
    const pb_timing *t = f->game->timing;
    const pb_machine *m = t->machine;
    put_u32(p, m->memory_count);
    put_u32(p, m->processor_count);
    put_u32(p, t->lane_count);
    pad(p, 8);
    put_doubles(p, f->end, f->count);
    for (uint32_t i = 0; i < m->memory_count; i++) {
        put_f64(p, m->memories[i].cap == PB_UNLIMITED ? INFINITY : (double)m->memories[i].cap);
        put_f64(p, (double)totals->peaks[i]);
        put_f64(p, f->start[i]);
    }
    for (uint32_t k = 0; k < f->count; k++)
        put_u32(p, f->lane[k]);
    for (uint32_t k = 0; k < f->count; k++)
        put_u32(p, f->place[k]);
    for (uint32_t i = 0; i < m->processor_count; i++)
        put_u32(p, m->processors[i].memory);
    for (uint32_t i = 0; i < m->memory_count; i++)
        put_starts(p, f, i);
    for (uint32_t i = 0; i < m->memory_count; i++)
        put_name(p, m->memories[i].name);
    for (uint32_t i = 0; i < m->processor_count; i++)
        put_name(p, m->processors[i].name);
    for (uint32_t i = 0, lane = 0; i < m->link_count; i++)
        if (t->lane[i] == lane) { /* the first link of the lane */
            put_name(p, m->links[i].lane ? m->links[i].lane : m->links[i].name);
            lane++;
        }
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
    put_starts(p, f, 0);
    put_starts(p, f, 1);
    if (f->place)
        put_timed(p, f, &totals->timed);
    else
        put_u32(p, 0);
}

static pb_status write_frames(pb_context *ctx, const frames *of, const pb_certificate *c, const pb_totals *totals,
                              pb_sink sink)
{
    packer p;
    frames f;
    pb_arena scratch;
    const pb_moves *moves = of->moves;
    if (moves->count >= UINT32_MAX)
        return pbi_fail(ctx, PB_ERANGE, "the plan has too many moves to play; export it as a schedule");
    pb_arena_init(&scratch, ctx);
    pb_status status = frames_make(&f, of->game, moves, c, &scratch);
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
    const frames of = {.game = pb_certificate_game(c), .moves = pb_certificate_moves(c)};
    return write_frames(ctx, &of, c, pb_certificate_totals(c), sink);
}

pb_status pb_player_attempt_write(pb_context *ctx, const pb_game *game, const pb_moves *attempt, uint64_t need,
                                  pb_sink sink)
{
    pb_totals totals = {.peak = need, .peak_step = attempt->count ? attempt->count - 1 : PBI_NO_STEP};
    const frames of = {.game = game, .moves = attempt};
    return write_frames(ctx, &of, NULL, &totals, sink);
}
