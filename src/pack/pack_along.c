/* pack_along.c -- a packing along the time axis: each place takes the best-fitting gap, with the size of its largest
 * piece, and gives it back when it ends.
 *
 * Memory is a list of blocks in the order of addresses, in use or gaps; the last one is a gap without end. Gaps are
 * also in a search tree by size and address, balanced by random priorities: a place costs the logarithm of the
 * number of gaps.
 */
#include "pack/pack_parts.h"

#include "base/context.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

typedef struct block {
    uint64_t low, high;
    uint32_t before, after; /* in the order of addresses */
    uint32_t left, right;   /* of a gap: in the tree */
    uint32_t priority;      /* a gap below another one in the tree never has a larger priority */
    bool gap;
} block;

typedef struct memory {
    block *block;
    uint32_t count, unused; /* `unused`: blocks for reuse, linked by `after` */
    uint32_t root;
    pbi_rng rng;
} memory;

/* ---- gaps by size ---- */

static uint64_t room_of(const block *b) { return b->high - b->low; }

/* Whether gap a comes before b: smaller, or of equal size and lower. */
static bool is_before(const block *a, const block *b)
{
    return room_of(a) != room_of(b) ? room_of(a) < room_of(b) : a->low < b->low;
}

/* Joins both trees; all of `left` comes before all of `right`. */
static uint32_t join(memory *m, uint32_t left, uint32_t right)
{
    uint32_t root, *hole = &root;
    while (left != NONE && right != NONE) {
        if (m->block[left].priority > m->block[right].priority) {
            *hole = left;
            hole = &m->block[left].right;
            left = *hole;
        } else {
            *hole = right;
            hole = &m->block[right].left;
            right = *hole;
        }
    }
    *hole = left != NONE ? left : right;
    return root;
}

static void tree_add(memory *m, uint32_t gap)
{
    block *b = m->block;
    uint32_t *hole = &m->root, subtree;
    b[gap].gap = true;
    b[gap].priority = (uint32_t)(pbi_rng_next(&m->rng) >> 32);
    while (*hole != NONE && b[*hole].priority >= b[gap].priority)
        hole = is_before(&b[*hole], &b[gap]) ? &b[*hole].right : &b[*hole].left;
    subtree = *hole;
    *hole = gap;
    /* The old subtree is split into what comes before the gap and what comes after it. */
    uint32_t *before = &b[gap].left, *after = &b[gap].right;
    while (subtree != NONE) {
        if (is_before(&b[subtree], &b[gap])) {
            *before = subtree;
            before = &b[subtree].right;
            subtree = *before;
        } else {
            *after = subtree;
            after = &b[subtree].left;
            subtree = *after;
        }
    }
    *before = *after = NONE;
}

static void tree_remove(memory *m, uint32_t gap)
{
    block *b = m->block;
    uint32_t *hole = &m->root;
    while (*hole != gap)
        hole = is_before(&b[*hole], &b[gap]) ? &b[*hole].right : &b[*hole].left;
    *hole = join(m, b[gap].left, b[gap].right);
    b[gap].gap = false;
}

/* The smallest gap with this much room; the last one always has it. */
static uint32_t best_gap(const memory *m, uint64_t size)
{
    uint32_t best = NONE;
    for (uint32_t at = m->root; at != NONE;) {
        bool fits = room_of(&m->block[at]) >= size;
        best = fits ? at : best;
        at = fits ? m->block[at].left : m->block[at].right;
    }
    return best;
}

/* ---- blocks by address ---- */

static uint32_t new_block(memory *m)
{
    uint32_t index = m->unused;
    if (index == NONE)
        return m->count++;
    m->unused = m->block[index].after;
    return index;
}

static void forget(memory *m, uint32_t index)
{
    block *b = &m->block[index];
    if (b->before != NONE)
        m->block[b->before].after = b->after;
    if (b->after != NONE)
        m->block[b->after].before = b->before;
    b->after = m->unused;
    m->unused = index;
}

/* A block of this size at the low end of the best-fitting gap. */
static uint32_t take(memory *m, uint64_t size)
{
    block *b = m->block;
    uint32_t gap = best_gap(m, size), index = gap;
    tree_remove(m, gap);
    if (room_of(&b[gap]) == size)
        return gap;
    index = new_block(m);
    b[index] = (block){.low = b[gap].low, .high = b[gap].low + size, .before = b[gap].before, .after = gap};
    if (b[index].before != NONE)
        b[b[index].before].after = index;
    b[gap].before = index;
    b[gap].low += size;
    tree_add(m, gap);
    return index;
}

/* The block becomes a gap, merged with adjacent gaps. */
static void give_back(memory *m, uint32_t index)
{
    block *b = m->block;
    uint32_t before = b[index].before, after = b[index].after;
    if (before != NONE && b[before].gap) {
        tree_remove(m, before);
        b[index].low = b[before].low;
        forget(m, before);
    }
    if (after != NONE && b[after].gap) {
        tree_remove(m, after);
        b[index].high = b[after].high;
        forget(m, after);
    }
    tree_add(m, index);
}

/* ---- along time ---- */

typedef struct moment {
    uint64_t time, size;
    uint32_t place;
} moment;

/* By start; at the same time large ones first. */
static int by_time(const void *a, const void *b)
{
    const moment *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void order_by_time(const pbi_places *p, bool ends, moment *out)
{
    for (uint32_t v = 0; v < p->count; v++)
        out[v] = (moment){ends ? pbi_place_to(p, v) : pbi_place_from(p, v), p->size[v], v};
    qsort(out, p->count, sizeof *out, by_time);
}

/* Begins and ends of all places, each in the order of time. */
typedef struct timeline {
    moment *begin, *end;
    uint32_t count;
} timeline;

static pb_status walk_time(pb_context *ctx, const timeline *t, memory *m, uint32_t *block_of, uint64_t *now,
                           uint64_t *top)
{
    const moment *begin = t->begin, *end = t->end;
    pb_status status = PB_OK;
    for (uint32_t k = 0, ended = 0; k < t->count && status == PB_OK; k++) {
        uint32_t v = begin[k].place;
        for (; end[ended].time <= begin[k].time; ended++)
            if (end[ended].size)
                give_back(m, block_of[end[ended].place]);
        if (begin[k].size) {
            block_of[v] = take(m, begin[k].size);
            now[v] = m->block[block_of[v]].low;
            *top = now[v] + begin[k].size > *top ? now[v] + begin[k].size : *top;
        }
        if (k % 1024 == 0)
            status = pbi_poll(ctx);
    }
    return status;
}

pb_status pbi_pack_along(pb_context *ctx, const pbi_places *p, uint64_t *offset, uint64_t *size)
{
    pb_arena scratch;
    uint64_t top = 0;
    uint32_t n = p->count;
    pb_arena_init(&scratch, ctx);
    timeline t = {pb_arena_alloc(&scratch, n, sizeof *t.begin), pb_arena_alloc(&scratch, n, sizeof *t.end), n};
    uint32_t *block_of = pb_arena_alloc(&scratch, n, sizeof *block_of);
    uint64_t *now = pb_arena_zero(&scratch, n, sizeof *now);
    /* A place takes one new block; with the gaps between them there are never more than this. */
    memory m = {pb_arena_alloc(&scratch, 2 * (size_t)n + 2, sizeof *m.block), 1, NONE, NONE, {0}};
    pb_status status = t.begin && t.end && block_of && now && m.block ? PB_OK : PB_ENOMEM;
    if (status == PB_OK) {
        m.block[0] = (block){.high = UINT64_MAX, .before = NONE, .after = NONE};
        tree_add(&m, 0);
        order_by_time(p, false, t.begin);
        order_by_time(p, true, t.end);
        status = walk_time(ctx, &t, &m, block_of, now, &top);
    }
    if (status == PB_OK && top < *size) {
        memcpy(offset, now, n * sizeof *offset);
        *size = top;
    }
    pb_arena_release(&scratch);
    return status;
}
