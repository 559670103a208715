/* intervals.c -- see intervals.h. */
#include "plan/reversible/line/intervals.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

#include <string.h>

enum {
    CUT_EFFORT = 4, /* of trying a cut, in points */
    FEWEST_POINTS = 4
};

/* A front that grows. */
typedef struct list {
    pbi_point *point;
    size_t count, room;
} list;

typedef struct builder {
    pbi_intervals *s;
    pb_arena *arena; /* of the fronts */
    pb_arena *scratch;
    list best, merged;
    uint64_t examined;
    uint64_t max; /* points of a front */
} builder;

static bool reserve(builder *b, list *l, size_t count)
{
    void *items = l->point;
    if (!pbi_arena_reserve(b->scratch, &items, &l->room, count, sizeof *l->point))
        return false;
    l->point = items;
    return true;
}

/* The three parts of one cut as functions of the memory M for the whole interval. */
typedef struct cut_parts {
    const pbi_front *make, *reach;
    uint64_t reach_less, back_less; /* memory in use by others while these parts run */
    uint32_t make_at, reach_at, back_at;
    uint64_t memory;
} cut_parts;

/* The next memory above `memory` at which a part gets cheaper, UINT64_MAX for none. */
static uint64_t next_of(const pbi_front *f, uint32_t at, uint64_t less)
{
    return at + 1 < f->count ? pbi_add_saturated(f->point[at + 1].memory, less) : UINT64_MAX;
}

static uint32_t follow(const pbi_front *f, uint32_t at, uint64_t less, uint64_t memory)
{
    while (next_of(f, at, less) <= memory && at + 1 < f->count)
        at++;
    return at;
}

static void advance_parts(cut_parts *c)
{
    c->make_at = follow(c->make, c->make_at, 0, c->memory);
    c->reach_at = follow(c->reach, c->reach_at, c->reach_less, c->memory);
    c->back_at = follow(c->make, c->back_at, c->back_less, c->memory);
}

static uint64_t work_of(const cut_parts *c)
{
    return pbi_add_saturated(pbi_add_saturated(c->make->point[c->make_at].work, c->reach->point[c->reach_at].work),
                             c->make->point[c->back_at].work);
}

static uint64_t next_memory(const cut_parts *c)
{
    uint64_t next = next_of(c->make, c->make_at, 0), other = next_of(c->reach, c->reach_at, c->reach_less);
    next = other < next ? other : next;
    other = next_of(c->make, c->back_at, c->back_less);
    return other < next ? other : next;
}

static void keep_point(list *l, const pbi_point *p)
{
    if (!l->count || p->work < l->point[l->count - 1].work)
        l->point[l->count++] = *p;
}

/* Merges the cut's front into the best so far. On ties the later cut is taken: it keeps less for a shorter time. */
static pb_status try_cut(builder *b, cut_parts *c, uint32_t place)
{
    size_t old = 0;
    pbi_point now;
    list swap;
    b->examined += CUT_EFFORT;
    if (!c->make->count || !c->reach->count)
        return PB_OK;
    if (!reserve(b, &b->merged, b->best.count + 2 * (size_t)c->make->count + c->reach->count))
        return PB_ENOMEM;
    uint64_t reach = pbi_add_saturated(c->reach->point[0].memory, c->reach_less);
    uint64_t back = pbi_add_saturated(c->make->point[0].memory, c->back_less);
    b->merged.count = 0;
    c->memory = reach > back ? reach : back;
    while (c->memory <= b->s->budget && c->memory < UINT64_MAX) {
        advance_parts(c);
        now = (pbi_point){c->memory, work_of(c), place};
        while (old < b->best.count && (b->best.point[old].memory < now.memory ||
                                       (b->best.point[old].memory == now.memory && b->best.point[old].work < now.work)))
            keep_point(&b->merged, &b->best.point[old++]);
        if (now.work == UINT64_MAX)
            b->s->overflow = true;
        else
            keep_point(&b->merged, &now);
        b->examined++;
        c->memory = next_memory(c);
    }
    while (old < b->best.count)
        keep_point(&b->merged, &b->best.point[old++]);
    swap = b->best;
    b->best = b->merged;
    b->merged = swap;
    return PB_OK;
}

static pbi_front *front_at(const pbi_intervals *s, uint32_t from, uint32_t to)
{
    return &s->front[(size_t)(from - s->from) * s->length + (to - s->from - 1)];
}

static uint64_t size_at(const pbi_intervals *s, uint32_t place) { return s->line->g->size[s->line->node[place - 1]]; }

/* Keeps the ends and an even selection between. */
static void thin_front(list *l, uint64_t max)
{
    if (l->count <= max)
        return;
    for (uint64_t i = 0; i < max; i++)
        l->point[i] = l->point[i * (l->count - 1) / (max - 1)];
    l->count = (size_t)max;
}

static pb_status build_interval(builder *b, uint32_t from, uint32_t to)
{
    pbi_intervals *s = b->s;
    pb_status status = PB_OK;
    b->best.count = 0;
    if (to == from + 1) {
        const pb_graph *g = s->line->g;
        pb_node v = s->line->node[from];
        pbi_point p = {pbi_add_saturated(g->size[v], g->workspace[v]), g->cost[v], from};
        if (!reserve(b, &b->best, 1))
            return PB_ENOMEM;
        if (p.memory <= s->budget)
            keep_point(&b->best, &p);
    }
    for (uint32_t m = from + 1; m < to && status == PB_OK; m++) {
        cut_parts c = {.make = front_at(s, from, m),
                       .reach = front_at(s, m, to),
                       .reach_less = size_at(s, m),
                       .back_less = size_at(s, to)};
        status = try_cut(b, &c, m);
    }
    thin_front(&b->best, b->max);
    pbi_front *front = front_at(s, from, to);
    if (status != PB_OK || !b->best.count)
        return status;
    front->count = (uint32_t)b->best.count;
    front->point = pb_arena_alloc(b->arena, front->count, sizeof *front->point);
    if (!front->point)
        return PB_ENOMEM;
    memcpy(front->point, b->best.point, front->count * sizeof *front->point);
    return PB_OK;
}

static pb_status build(pb_context *ctx, builder *b)
{
    pbi_intervals *s = b->s;
    pb_status status = PB_OK;
    for (uint32_t length = 1; length <= s->length && status == PB_OK; length++)
        for (uint32_t i = 0; i + length <= s->length && status == PB_OK; i++) {
            b->examined = 1;
            status = build_interval(b, s->from + i, s->from + i + length);
            if (b->examined > s->effort)
                return status;
            s->effort -= b->examined;
            if (status == PB_OK)
                status = pbi_tick(ctx, 1 + b->examined / 16);
        }
    s->complete = status == PB_OK;
    return status;
}

/* How many points a front may have so that all fronts stay within the effort; a cut reads those of three. */
static uint64_t max_points(const pbi_intervals *s, uint64_t cuts)
{
    uint64_t a_cut = s->effort / (cuts + 1);
    if (a_cut < CUT_EFFORT)
        return 0;
    if (!s->thin)
        return UINT64_MAX;
    a_cut = (a_cut - CUT_EFFORT) / 3;
    return a_cut < FEWEST_POINTS ? 0 : a_cut;
}

pb_status pbi_intervals_init(pb_context *ctx, pbi_intervals *s, pb_arena *arena)
{
    uint64_t n = s->length, max = n < 100000 ? max_points(s, n * n * n / 6) : 0;
    s->complete = s->overflow = false;
    if (!max)
        return PB_OK; /* hopeless before it starts */
    s->front = pb_arena_zero(arena, (size_t)(n * n), sizeof *s->front);
    if (!s->front)
        return PB_ENOMEM;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    builder b = {.s = s, .arena = arena, .scratch = &scratch, .max = max};
    pb_status status = build(ctx, &b);
    pb_arena_release(&scratch);
    return status;
}

const pbi_point *pbi_intervals_point(const pbi_intervals *s, uint32_t from, uint32_t to, uint64_t memory)
{
    const pbi_front *front = pbi_intervals_front(s, from, to);
    const pbi_point *found = NULL;
    for (uint32_t low = 0, high = front->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (front->point[middle].memory <= memory) {
            found = &front->point[middle];
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return found;
}
