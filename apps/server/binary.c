/* binary.c -- positions, names and frames of a plan as arrays that the page uses directly (docs/server.md). */
#define _XOPEN_SOURCE 700
#include "handlers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A growing buffer; little-endian on every machine. */
typedef struct packer {
    char *bytes;
    size_t length, room;
    bool failed;
} packer;

static bool is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

static char *grow(packer *p, size_t more)
{
    if (p->failed)
        return NULL;
    if (more > p->room - p->length) {
        size_t room = p->room + p->room / 2;
        if (room < p->length + more)
            room = p->length + more;
        char *bytes = more > RESPONSE_BYTES - p->length ? NULL : realloc(p->bytes, room);
        if (!bytes) {
            p->failed = true;
            return NULL;
        }
        p->bytes = bytes;
        p->room = room;
    }
    p->length += more;
    return p->bytes + p->length - more;
}

static void put(packer *p, const void *items, size_t count, size_t size)
{
    char *to = count > SIZE_MAX / 16 ? NULL : grow(p, count * size);
    if (!to || !count)
        return;
    memcpy(to, items, count * size);
    if (is_little() || size == 1)
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < size / 2; k++) {
            char swap = to[i * size + k];
            to[i * size + k] = to[i * size + size - 1 - k];
            to[i * size + size - 1 - k] = swap;
        }
}

static void put_u32(packer *p, uint32_t value) { put(p, &value, 1, sizeof value); }
static void put_f32(packer *p, float value) { put(p, &value, 1, sizeof value); }
static void put_f64(packer *p, double value) { put(p, &value, 1, sizeof value); }

static void pad(packer *p, size_t to)
{
    static const char zeros[8];
    put(p, zeros, (to - p->length % to) % to, 1);
}

static void put_doubles(packer *p, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_f64(p, (double)values[i]);
}

static void send_packed(request *r, packer *p)
{
    if (!p->failed) {
        respond_bytes(r, "application/octet-stream", p->bytes, p->length);
        return;
    }
    free(p->bytes);
    respond_no_memory(r);
}

/* ---- layout ---- */

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
    put(p, l->x, g->node_count, sizeof *l->x);
    put(p, l->y, g->node_count, sizeof *l->y);
    put(p, l->radius, g->node_count, sizeof *l->radius);
    put(p, l->lane, g->node_count, 1);
    pad(p, 4);
    for (pb_node v = 0; v < g->node_count; v++)
        put_u32(p, g->group ? g->group[v] : UINT32_MAX);
    put_edges(p, g);
    for (uint32_t i = 0; i < l->box_count; i++) {
        const pb_layout_box *b = &l->boxes[i];
        put(p, (float[]){b->x, b->y, b->width, b->height}, 4, sizeof(float));
        put_u32(p, b->first);
    }
    pad(p, 8);
    put_doubles(p, g->size, g->node_count);
    put_doubles(p, g->cost, g->node_count);
}

void binary_layout(request *r, const pb_graph *g)
{
    size_t lanes = 0, groups = 0, fold = 0; /* the first word is the default */
    pb_layout layout;
    pb_context ctx;
    pb_arena arena;
    packer p = {.bytes = NULL};
    if (!arguments_known(r, "lanes groups fold") || !argument_word(r, "lanes", "auto 0", &lanes) ||
        !argument_word(r, "groups", "expanded collapsed", &groups) || !argument_word(r, "fold", "1 0", &fold))
        return;
    pb_layout_options options = {.collapse = groups == 1, .fold = fold == 0};
    if (lanes == 1)
        options.lanes = PB_LANES_NEVER;
    pb_context_init(&ctx);
    ctx.memory_limit = RESPONSE_BYTES;
    pb_arena_init(&arena, &ctx);
    pb_status status = pb_layout_make(&ctx, g, &options, &arena, &layout);
    if (status == PB_OK) {
        put_layout(&p, g, &layout, options.collapse && g->group_count);
        send_packed(r, &p);
    } else {
        respond_status(r, status, &ctx.error);
    }
    pb_arena_release(&arena);
}

/* ---- names ---- */

void binary_names(request *r, const pb_graph *g)
{
    packer p = {.bytes = NULL};
    uint64_t at = 0;
    put_u32(&p, g->node_count + g->group_count);
    put_u32(&p, 0);
    for (pb_node v = 0; v < g->node_count; v++)
        put_u32(&p, (uint32_t)(at += strlen(pb_graph_name(g, v))));
    for (uint32_t i = 0; i < g->group_count; i++)
        put_u32(&p, (uint32_t)(at += strlen(g->group_names[i])));
    p.failed |= at > UINT32_MAX;
    for (pb_node v = 0; v < g->node_count; v++)
        put(&p, pb_graph_name(g, v), strlen(pb_graph_name(g, v)), 1);
    for (uint32_t i = 0; i < g->group_count; i++)
        put(&p, g->group_names[i], strlen(g->group_names[i]), 1);
    send_packed(r, &p);
}

/* ---- frames ---- */

enum { RECOMPUTES = 0x80 };

typedef struct frames {
    const pb_game *game;
    const pb_graph *g;
    const pb_moves *moves;
    uint32_t count;
    uint8_t *op;
    double *during, *after, *slow, *time;
    uint8_t *resident, *made; /* per node */
    uint64_t fast, stored, clock;
    size_t also_count;
} frames;

static bool starts_slow(const frames *f, pb_node v)
{
    const uint16_t both = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW;
    return (f->g->flags[v] & both) == both;
}

static bool starts_fast(const frames *f, pb_node v) { return (f->g->flags[v] & PB_NODE_GIVEN) && !starts_slow(f, v); }

static uint64_t add(frames *f, pb_node v)
{
    uint64_t size = f->resident[v] ? 0 : f->g->size[v];
    f->resident[v] = 1;
    f->fast += size;
    return size;
}

static void take(frames *f, pb_node v)
{
    f->fast -= f->resident[v] ? f->g->size[v] : 0;
    f->resident[v] = 0;
}

/* The plan is certified: nothing here can overflow or underflow. */
static void play_compute(frames *f, uint32_t k)
{
    pb_node v = f->moves->move[k].node, over = pb_moves_over(f->moves, k);
    uint64_t before = f->fast, made = 0, taken = 0, parts = 0;
    uint32_t also_count;
    const pb_node *also = pb_moves_also(f->moves, k, &also_count);
    f->also_count += also_count;
    for (uint32_t i = 0; i < also_count; i++)
        parts += add(f, also[i]);
    made = add(f, v);
    if (over != PB_NO_NODE) {
        taken = f->g->size[over];
        take(f, over);
    }
    f->during[k] = (double)(before + parts + (made > taken ? made - taken : 0) + f->g->workspace[v]);
    f->op[k] = (uint8_t)(PB_COMPUTE | (f->made[v] ? RECOMPUTES : 0));
    f->made[v] = 1;
    f->clock += f->g->cost[v];
}

static void play(frames *f, uint32_t k)
{
    const pb_move *m = &f->moves->move[k];
    const pb_tier *tier = &f->game->tiers[m->tier ? m->tier - 1 : 0];
    uint64_t size = f->g->size[m->node];
    f->time[k] = (double)f->clock;
    f->op[k] = m->op;
    f->during[k] = (double)f->fast;
    switch ((pb_op)m->op) {
    case PB_COMPUTE: play_compute(f, k); break;
    case PB_UNCOMPUTE:
        f->during[k] += (double)f->g->workspace[m->node];
        take(f, m->node);
        f->clock += f->g->cost[m->node];
        break;
    case PB_FREE: take(f, m->node); break;
    case PB_STORE:
        f->stored += size;
        f->clock += pb_tier_store_price(tier, size);
        break;
    case PB_LOAD:
        add(f, m->node);
        f->during[k] = (double)f->fast;
        f->clock += pb_tier_load_price(tier, size);
        break;
    default: f->stored -= size; break;
    }
    f->after[k] = (double)f->fast;
    f->slow[k] = (double)f->stored;
}

static bool frames_make(frames *f, const pb_plan_result *plan, pb_arena *arena)
{
    *f = (frames){.game = pb_certificate_game(plan->certificate), .moves = pb_certificate_moves(plan->certificate)};
    f->g = f->game->graph;
    f->count = (uint32_t)f->moves->count;
    f->op = pb_arena_alloc(arena, f->count, 1);
    f->during = pb_arena_alloc(arena, f->count, sizeof *f->during);
    f->after = pb_arena_alloc(arena, f->count, sizeof *f->after);
    f->slow = pb_arena_alloc(arena, f->count, sizeof *f->slow);
    f->time = pb_arena_alloc(arena, f->count, sizeof *f->time);
    f->resident = pb_arena_zero(arena, f->g->node_count, 1);
    f->made = pb_arena_zero(arena, f->g->node_count, 1);
    if (!f->op || !f->during || !f->after || !f->slow || !f->time || !f->resident || !f->made)
        return false;
    f->fast = f->g->fixed_size;
    for (pb_node v = 0; v < f->g->node_count; v++) {
        if (starts_fast(f, v))
            add(f, v);
        if (starts_slow(f, v))
            f->stored += f->g->size[v];
    }
    for (uint32_t k = 0; k < f->count; k++)
        play(f, k);
    return true;
}

static void put_starts(packer *p, const frames *f, bool (*starts)(const frames *f, pb_node v))
{
    uint32_t count = 0;
    for (pb_node v = 0; v < f->g->node_count; v++)
        count += starts(f, v);
    put_u32(p, count);
    for (pb_node v = 0; v < f->g->node_count; v++)
        if (starts(f, v))
            put_u32(p, v);
}

static void put_moves(packer *p, const frames *f)
{
    uint32_t at = 0, count;
    put(p, f->op, f->count, 1);
    pad(p, 4);
    for (uint32_t k = 0; k < f->count; k++)
        put(p, &f->moves->move[k].tier, 1, 1);
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
        put(p, also, count, sizeof *also);
    }
}

static void put_frames(packer *p, const frames *f, const pb_plan_result *plan)
{
    const pb_totals *totals = pb_certificate_totals(plan->certificate);
    put_u32(p, 0x31464250);
    put_u32(p, f->game->kind == PB_GAME_TIERED ? f->game->tier_count : 0);
    put_u32(p, f->count);
    put_u32(p, (uint32_t)f->also_count);
    put_moves(p, f);
    pad(p, 8);
    put(p, f->during, f->count, sizeof *f->during);
    put(p, f->after, f->count, sizeof *f->after);
    put(p, f->slow, f->count, sizeof *f->slow);
    put(p, f->time, f->count, sizeof *f->time);
    put_f64(p, f->game->cap == PB_UNLIMITED ? INFINITY : (double)f->game->cap);
    put_f64(p, (double)totals->peak);
    put_u32(p, totals->peak_step == UINT64_MAX ? UINT32_MAX : (uint32_t)totals->peak_step);
    put_starts(p, f, starts_fast);
    put_starts(p, f, starts_slow);
}

void binary_frames(request *r, const pb_plan_result *plan)
{
    packer p = {.bytes = NULL};
    frames f;
    pb_context ctx;
    pb_arena arena;
    if (pb_certificate_moves(plan->certificate)->count >= UINT32_MAX) {
        respond_error(r, 413, "the plan has too many moves to play here; download it as a schedule");
        return;
    }
    pb_context_init(&ctx);
    ctx.memory_limit = RESPONSE_BYTES;
    pb_arena_init(&arena, &ctx);
    if (frames_make(&f, plan, &arena)) {
        put_frames(&p, &f, plan);
        send_packed(r, &p);
    } else {
        respond_status(r, PB_ENOMEM, &ctx.error);
    }
    pb_arena_release(&arena);
}
