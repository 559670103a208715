/* pack_search.c -- branch and bound over offsets: is there a packing within the cap?
 *
 * Problem     offsets for places whose pieces have lifetimes, so that nothing overlaps and all is below the cap.
 * Idea        every packing can be pushed down until each place rests on another one or on the floor. Placed in the order of
 *             their offsets, each then rests on those before it: so its offset is known when its turn comes, and only the order is
 *             searched. A place is a candidate only below the top that any other one would reach: otherwise that one could go
 *             there before it, and nothing would change for the rest. In each section of time what is still to come must fit between the lowest offset at which any of it
 *             can rest and the cap. What is to come and no longer overlaps in time falls apart into parts that do not matter to
 *             each other: each is solved on its own, and where one cannot be, the others need not be tried again.
 * Invariants  all offsets of what is to come in a part are at least that of the last one placed there; `rest` is where a place would rest now.
 * Cost        a placement takes time in proportion to what lives at the same time. Several orders take turns with growing limits.
 * Source      minimalloc (Moffitt, ASPLOS 2024) has canonical orders and section bounds; the code is ours.
 * Limits      exponential: a limit on placements leaves the question open.
 */
#include "pack/pack_parts.h"

#include "base/arena.h"
#include "base/context.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERS = 14, MEASURES = 6, FIRST_LIMIT = 2000, POLL = 512 };
#define NO_PART UINT32_MAX

typedef struct neighbour {
    uint32_t place;
    uint64_t push; /* the place rests this much above the offset of the one before it */
} neighbour;

/* What a placement changed, to be taken back. */
typedef struct change {
    uint64_t *where, before;
} change;

/* A part of what is to come, and the place tried first in it. Then the rest falls into parts again, solved one after the
 * other; frames of those that are solved stay on the stack. */
typedef struct part {
    uint32_t parent;                       /* on the stack */
    uint32_t from, to;                     /* of the pool: its places, in the order in which they are tried */
    uint32_t first, last;                  /* its sections */
    uint32_t next, chosen;                 /* of the pool: to be tried next; the place that is being tried */
    uint64_t floor, ceiling, tried_at;     /* tried_at: the offset of the last one */
    uint32_t children, child_count, child; /* of `children`: the parts that are left, and the one at hand */
    uint32_t pool_at, children_at, change_at;
} part;

typedef struct child_part {
    uint32_t from, to, first, last;
} child_part;

typedef struct finder {
    pb_context *ctx;
    const pbi_places *p;
    uint64_t cap;
    uint32_t *neighbour_start;
    neighbour *neighbours;
    uint32_t *member_start, *member; /* per section: places */
    uint32_t *order;
    uint64_t *rest;   /* per place: where it would rest; of those placed: their offset */
    uint64_t *lowest; /* per section: the least rest of what is to come there */
    uint64_t *to_come;
    uint8_t *placed;
    uint32_t *dirty; /* sections whose lowest must be found again */
    uint8_t *is_dirty;
    part *stack;
    uint32_t depth, pool_count, children_count;
    uint32_t *pool;
    size_t pool_room;
    child_part *children;
    size_t children_room;
    uint32_t *crossing; /* per section: places that go on to the next one */
    change *log;
    size_t log_count, log_room;
} finder;

static uint64_t overlap_push(const pbi_places *p, uint32_t below, uint32_t above)
{
    uint64_t push = 0;
    uint32_t i = p->piece_start[below], j = p->piece_start[above];
    while (i < p->piece_start[below + 1] && j < p->piece_start[above + 1]) {
        const pbi_piece *a = &p->piece[i], *b = &p->piece[j];
        if (a->from < b->to && b->from < a->to && a->size > push && b->size)
            push = a->size;
        if (a->to <= b->to)
            i++;
        else
            j++;
    }
    return push;
}

/* ---- tables ---- */

static pb_status make_members(finder *f, pb_arena *arena)
{
    const pbi_places *p = f->p;
    uint32_t *start = pb_arena_zero(arena, (size_t)p->section_count + 1, sizeof *start);
    if (!start)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < p->piece_start[p->count]; i++)
        for (uint32_t s = p->piece[i].from; s < p->piece[i].to; s++)
            start[s + 1]++;
    for (uint32_t s = 0; s < p->section_count; s++)
        start[s + 1] += start[s];
    f->member = pb_arena_alloc(arena, start[p->section_count], sizeof *f->member);
    uint32_t *at = pb_arena_alloc(arena, p->section_count, sizeof *at);
    if (!f->member || !at)
        return PB_ENOMEM;
    memcpy(at, start, p->section_count * sizeof *at);
    for (uint32_t v = 0; v < p->count; v++)
        for (uint32_t i = p->piece_start[v]; i < p->piece_start[v + 1]; i++)
            for (uint32_t s = p->piece[i].from; s < p->piece[i].to; s++)
                f->member[at[s]++] = v;
    f->member_start = start;
    return PB_OK;
}

static pb_status make_neighbours(finder *f, pb_arena *arena)
{
    const pbi_places *p = f->p;
    size_t room = 0, count = 0;
    f->neighbour_start = pb_arena_alloc(arena, (size_t)p->count + 1, sizeof *f->neighbour_start);
    if (!f->neighbour_start)
        return PB_ENOMEM;
    for (uint32_t v = 0; v < p->count; v++) {
        f->neighbour_start[v] = (uint32_t)count;
        for (uint32_t u = 0; u < p->count; u++) {
            if (u == v || pbi_place_from(p, u) >= pbi_place_to(p, v) || pbi_place_from(p, v) >= pbi_place_to(p, u))
                continue;
            uint64_t push = overlap_push(p, v, u);
            void *items = f->neighbours;
            if (!push)
                continue;
            if (!pbi_arena_reserve(arena, &items, &room, count + 1, sizeof *f->neighbours))
                return PB_ENOMEM;
            f->neighbours = items;
            f->neighbours[count++] = (neighbour){u, push};
        }
    }
    f->neighbour_start[p->count] = (uint32_t)count;
    return PB_OK;
}

static bool alloc_state(finder *f, pb_arena *arena)
{
    uint32_t n = f->p->count, m = f->p->section_count;
    f->order = pb_arena_alloc(arena, n, sizeof *f->order);
    f->rest = pb_arena_zero(arena, n, sizeof *f->rest);
    f->lowest = pb_arena_zero(arena, m, sizeof *f->lowest);
    f->to_come = pb_arena_alloc(arena, m, sizeof *f->to_come);
    f->placed = pb_arena_zero(arena, n, 1);
    f->dirty = pb_arena_alloc(arena, m, sizeof *f->dirty);
    f->is_dirty = pb_arena_zero(arena, m, 1);
    f->stack = pb_arena_alloc(arena, (size_t)n + 1, sizeof *f->stack);
    f->crossing = pb_arena_alloc(arena, (size_t)m + 1, sizeof *f->crossing);
    return f->order && f->rest && f->lowest && f->to_come && f->placed && f->dirty && f->is_dirty && f->stack &&
           f->crossing;
}

/* ---- orders ---- */

typedef struct ranked {
    uint64_t key[4];
    uint32_t place;
} ranked;

static int by_keys(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    for (int i = 0; i < 4; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] > y->key[i] ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Widest, largest in area, busiest first, in turns; later ones at random among the near. */
static void make_order(finder *f, uint32_t which, ranked *rank, pbi_rng *rng)
{
    static const uint8_t keys[ORDERS][3] = {{4, 5, 2}, {2, 5, 4}, {2, 4, 5}, {5, 4, 2}, {3, 4, 5},
                                            {4, 3, 2}, {0, 1, 2}, {2, 1, 0}, {2, 0, 1}, {1, 0, 2},
                                            {3, 0, 1}, {0, 3, 2}, {2, 3, 0}, {3, 2, 0}};
    const pbi_places *p = f->p;
    for (uint32_t v = 0; v < p->count; v++) {
        uint64_t measure[MEASURES] = {0, 0, 0, p->size[v]};
        for (uint32_t i = p->piece_start[v]; i < p->piece_start[v + 1]; i++) {
            const pbi_piece *piece = &p->piece[i];
            for (uint32_t s = piece->from; s < piece->to; s++) {
                measure[0] += p->length[s];
                measure[1] += p->length[s] * piece->size;
                measure[4]++;
                measure[5] += piece->size;
                measure[2] = p->load[s] > measure[2] ? p->load[s] : measure[2];
            }
        }
        ranked *r = &rank[v];
        r->place = v;
        for (int i = 0; i < 3; i++) {
            uint64_t key = measure[keys[which % ORDERS][i]];
            if (which >= ORDERS) /* blurred */
                key = (uint64_t)((double)key * (1 + 0.3 * pbi_rng_real(rng)));
            r->key[i] = key;
        }
        r->key[3] = measure[3];
    }
    qsort(rank, p->count, sizeof *rank, by_keys);
    for (uint32_t i = 0; i < p->count; i++)
        f->order[i] = rank[i].place;
}

/* ---- placing and taking back ---- */

static bool put(finder *f, pb_arena *arena, uint64_t *where, uint64_t value)
{
    if (f->log_count == f->log_room) {
        void *items = f->log;
        if (!pbi_arena_reserve(arena, &items, &f->log_room, f->log_count + 1, sizeof *f->log))
            return false;
        f->log = items;
    }
    f->log[f->log_count++] = (change){where, *where};
    *where = value;
    return true;
}

/* The place that the part tried, and all that was done for the parts that it left. */
static void take_back(finder *f, uint32_t index)
{
    part *p = &f->stack[index];
    while (f->log_count > p->change_at) {
        change *c = &f->log[--f->log_count];
        *c->where = c->before;
    }
    for (uint32_t k = index; k < f->depth; k++)
        f->placed[f->stack[k].chosen] = false;
    f->depth = index + 1;
    f->pool_count = p->pool_at;
    f->children_count = p->children_at;
}

static void mark(finder *f, uint32_t place, uint32_t *count)
{
    const pbi_places *p = f->p;
    for (uint32_t i = p->piece_start[place]; i < p->piece_start[place + 1]; i++)
        for (uint32_t s = p->piece[i].from; s < p->piece[i].to; s++)
            if (!f->is_dirty[s]) {
                f->is_dirty[s] = true;
                f->dirty[(*count)++] = s;
            }
}

/* The least rest of what is to come in the sections that changed. */
static bool settle(finder *f, pb_arena *arena, uint32_t count)
{
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s = f->dirty[i];
        uint64_t least = UINT64_MAX;
        f->is_dirty[s] = false;
        for (uint32_t k = f->member_start[s]; k < f->member_start[s + 1]; k++) {
            uint32_t v = f->member[k];
            if (!f->placed[v] && f->rest[v] < least)
                least = f->rest[v];
        }
        if (ok && least != f->lowest[s])
            ok = put(f, arena, &f->lowest[s], least);
    }
    return ok;
}

static bool place_one(finder *f, pb_arena *arena, uint32_t v)
{
    const pbi_places *p = f->p;
    uint32_t changed = 0;
    bool ok = true;
    f->placed[v] = true;
    for (uint32_t i = p->piece_start[v]; i < p->piece_start[v + 1] && ok; i++)
        for (uint32_t s = p->piece[i].from; s < p->piece[i].to && ok; s++)
            ok = put(f, arena, &f->to_come[s], f->to_come[s] - p->piece[i].size);
    mark(f, v, &changed);
    for (uint32_t k = f->neighbour_start[v]; k < f->neighbour_start[v + 1] && ok; k++) {
        const neighbour *b = &f->neighbours[k];
        uint64_t least = f->rest[v] + b->push;
        if (f->placed[b->place] || f->rest[b->place] >= least)
            continue;
        ok = put(f, arena, &f->rest[b->place], least);
        mark(f, b->place, &changed);
    }
    return settle(f, arena, changed) && ok;
}

/* Can what is to come in these sections still fit, nothing of it below `floor`? */
static bool fits(const finder *f, uint32_t first, uint32_t last, uint64_t floor)
{
    for (uint32_t s = first; s < last; s++) {
        uint64_t low = f->lowest[s] > floor ? f->lowest[s] : floor;
        if (f->to_come[s] && (low > f->cap || f->to_come[s] > f->cap - low))
            return false;
    }
    return true;
}

/* ---- parts ---- */

static bool push_part(finder *f, uint32_t parent, const child_part *c, uint64_t floor)
{
    part *p = &f->stack[f->depth++];
    *p = (part){.parent = parent,
                .from = c->from,
                .to = c->to,
                .first = c->first,
                .last = c->last,
                .next = c->from,
                .tried_at = floor,
                .floor = floor,
                .ceiling = UINT64_MAX,
                .pool_at = f->pool_count,
                .children_at = f->children_count,
                .change_at = (uint32_t)f->log_count};
    p->chosen = f->pool[c->from];
    for (uint32_t k = p->from; k < p->to; k++) {
        uint32_t v = f->pool[k];
        if (f->rest[v] + f->p->size[v] < p->ceiling)
            p->ceiling = f->rest[v] + f->p->size[v];
    }
    return true;
}

/* The lowest first, then in the order of the pool: the one after the last that was tried. */
static bool next_candidate(finder *f, part *p, uint32_t *out)
{
    uint32_t best = p->to;
    for (uint32_t k = p->from; k < p->to; k++) {
        uint32_t v = f->pool[k];
        uint64_t at = f->rest[v];
        if (at < p->floor || at >= p->ceiling || at + f->p->size[v] > f->cap)
            continue;
        bool later = at > p->tried_at || (at == p->tried_at && k >= p->next);
        if (later && (best == p->to || at < f->rest[f->pool[best]]))
            best = k;
    }
    if (best == p->to)
        return false;
    *out = f->pool[best];
    p->tried_at = f->rest[*out];
    p->next = best + 1;
    return true;
}

/* How many of the places that are left go on from each section to the next. */
static void count_crossings(finder *f, const part *p)
{
    memset(f->crossing + p->first, 0, (p->last - p->first + 1) * sizeof *f->crossing);
    for (uint32_t k = p->from; k < p->to; k++) {
        uint32_t v = f->pool[k];
        if (f->placed[v])
            continue;
        f->crossing[pbi_place_from(f->p, v)]++;
        f->crossing[pbi_place_to(f->p, v) - 1]--;
    }
    for (uint32_t s = p->first + 1; s < p->last; s++)
        f->crossing[s] += f->crossing[s - 1];
}

/* What is left of a part falls apart where nothing goes on. */
static bool split(finder *f, pb_arena *arena, uint32_t index)
{
    part *p = &f->stack[index];
    p->children = f->children_count;
    p->child = 0;
    count_crossings(f, p);
    for (uint32_t s = p->first, first = s; s < p->last; s++) {
        if (f->crossing[s])
            continue;
        child_part c = {.from = f->pool_count, .first = first, .last = s + 1};
        first = s + 1;
        for (uint32_t k = p->from; k < p->to; k++) {
            uint32_t v = f->pool[k];
            if (f->placed[v] || pbi_place_from(f->p, v) < c.first || pbi_place_from(f->p, v) >= c.last)
                continue;
            void *items = f->pool;
            if (!pbi_arena_reserve(arena, &items, &f->pool_room, f->pool_count + 1, sizeof *f->pool))
                return false;
            f->pool = items;
            f->pool[f->pool_count++] = v;
        }
        c.to = f->pool_count;
        if (c.from == c.to)
            continue;
        void *items = f->children;
        if (!pbi_arena_reserve(arena, &items, &f->children_room, f->children_count + 1, sizeof *f->children))
            return false;
        f->children = items;
        f->children[f->children_count++] = c;
    }
    p->child_count = f->children_count - p->children;
    return true;
}

/* ---- the search ---- */

static pb_status begin(finder *f, pb_arena *arena)
{
    uint32_t n = f->p->count;
    void *items = f->pool;
    memset(f->rest, 0, n * sizeof *f->rest);
    memset(f->placed, 0, n);
    memset(f->lowest, 0, f->p->section_count * sizeof *f->lowest);
    memcpy(f->to_come, f->p->load, f->p->section_count * sizeof *f->to_come);
    f->log_count = 0;
    f->depth = f->children_count = 0;
    if (!pbi_arena_reserve(arena, &items, &f->pool_room, n, sizeof *f->pool))
        return PB_ENOMEM;
    f->pool = items;
    memcpy(f->pool, f->order, n * sizeof *f->pool);
    f->pool_count = n;
    push_part(f, NO_PART, &(child_part){0, n, 0, f->p->section_count}, 0);
    return PB_OK;
}

/* The next part to solve after this one is: a sibling, or one of an ancestor; false: there is none, all is placed. */
static bool go_on(finder *f, uint32_t index)
{
    while (index != NO_PART) {
        part *p = &f->stack[index];
        if (p->child < p->child_count) {
            uint64_t floor = f->rest[p->chosen];
            child_part c = f->children[p->children + p->child++];
            return push_part(f, index, &c, floor);
        }
        index = p->parent;
    }
    return false;
}

/* One order, with a limit on placements. */
static pb_status run(finder *f, pb_arena *arena, uint64_t limit, uint64_t *tried, pbi_packed *out)
{
    uint32_t v;
    *out = PBI_PACK_UNKNOWN;
    *tried = 0;
    if (begin(f, arena) != PB_OK)
        return PB_ENOMEM;
    for (;;) {
        uint32_t index = f->depth - 1;
        part *p = &f->stack[index];
        if (!next_candidate(f, p, &v)) {
            if (p->parent == NO_PART) {
                *out = PBI_PACK_NONE;
                return PB_OK;
            }
            take_back(f, p->parent); /* one part that cannot be solved is enough */
            continue;
        }
        if (++*tried > limit)
            return PB_OK;
        if (*tried % POLL == 0 && pbi_poll(f->ctx) != PB_OK)
            return PB_ECANCELLED;
        p->chosen = v;
        if (!place_one(f, arena, v))
            return PB_ENOMEM;
        if (!fits(f, p->first, p->last, f->rest[v])) {
            take_back(f, index);
            continue;
        }
        if (!split(f, arena, index))
            return PB_ENOMEM;
        if (!go_on(f, index)) {
            *out = PBI_PACKED;
            return PB_OK;
        }
    }
}

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...: short runs often, long ones now and then. */
static uint64_t luby(uint64_t i)
{
    for (;;) {
        uint64_t whole = 1;
        while (2 * whole + 1 <= i)
            whole = 2 * whole + 1;
        if (whole == i)
            return (whole + 1) / 2;
        i -= whole;
    }
}

pb_status pbi_pack_search(pb_context *ctx, const pbi_places *p, uint64_t cap, uint64_t seed, uint64_t *effort,
                          uint64_t *offset, pbi_packed *out)
{
    pb_arena scratch;
    finder f = {.ctx = ctx, .p = p, .cap = cap};
    pbi_rng rng = {seed};
    *out = p->most_load > cap ? PBI_PACK_NONE : p->count ? PBI_PACK_UNKNOWN : PBI_PACKED;
    if (*out != PBI_PACK_UNKNOWN)
        return PB_OK;
    pb_arena_init(&scratch, ctx);
    ranked *rank = pb_arena_alloc(&scratch, p->count, sizeof *rank);
    pb_status status = rank && alloc_state(&f, &scratch) ? make_members(&f, &scratch) : PB_ENOMEM;
    if (status == PB_OK)
        status = make_neighbours(&f, &scratch);
    for (uint32_t which = 0; status == PB_OK && *out == PBI_PACK_UNKNOWN && *effort; which++) {
        uint64_t tried, limit = FIRST_LIMIT * luby(which / ORDERS + 1), most = limit < *effort ? limit : *effort;
        make_order(&f, which, rank, &rng);
        status = run(&f, &scratch, most, &tried, out);
            fprintf(stderr, "order %u tried %llu out %d\n", which, (unsigned long long)tried, *out);
        *effort -= tried < *effort ? tried : *effort;
    }
    if (status == PB_OK && *out == PBI_PACKED)
        memcpy(offset, f.rest, p->count * sizeof *offset);
    pb_arena_release(&scratch);
    return status;
}
