/* edge_rank.c -- minimum edge rankings of trees, from the leaves up.
 *
 * Seen from the root of a subtree, an edge is *visible* if no edge on the path to it has the same or a higher rank. The
 * visible ranks are a set; read as bits, they are a number. A smaller number leaves more choices for the other
 * edges, so only the smallest number of a subtree matters. An edge above a subtree of number l gives it some n > l:
 * it sets a bit that l does not have and hides all lower ones; and n contains the bits of such a step whenever n >
 * l. Where several subtrees meet, the task is therefore to find numbers n_i >= l_i + 1 without common bits and with
 * minimum sum.
 *
 * Let y be the top bit of the largest l_i + 1. Consider all bits up to y, from the top: a number whose top bit it
 * is must get it; two such numbers do not fit; a bit that is the top bit of no number is best given to the largest
 * number, which is then done. If they do not fit, the g largest, with the smallest g for which the others fit, get
 * the bits y+1 .. y+g, and none of these bits can be avoided. The others continue below. Each set of visible ranks
 * is a descending list.
 */
#include "bound/edge_rank.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

#include <string.h>

/* Ranks are pushed for a place and popped by its parent: in postorder the children's lists are on top. Each list is
 * followed by room for one more rank. */
typedef struct segment {
    uint32_t place;
    size_t from;
    uint32_t count;
} segment;

/* A number that needs bits: those of its list that are not granted yet. */
typedef struct item {
    const uint32_t *bit;
    uint32_t count, place;
    uint64_t weight; /* work of its subtree */
} item;

typedef struct ranker {
    pb_context *ctx;
    pb_arena arena;
    uint32_t *bits; /* all lists */
    size_t used, room;
    segment *segment;
    uint32_t depth;
    item *item, *trial;
    uint32_t *granted; /* the bits of the sum, descending */
    size_t granted_count, granted_room;
    uint64_t *weight;
    uint32_t *rank;
    uint32_t most;
} ranker;

/* The sign of a - b: lists compare as the numbers they represent. Of equal ones the lighter counts as larger: it is
 * more likely to be cut off first, and what is cut off is computed twice. */
static int compare(const item *a, const item *b)
{
    uint32_t shared = a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < shared; i++)
        if (a->bit[i] != b->bit[i])
            return a->bit[i] > b->bit[i] ? 1 : -1;
    if (a->count != b->count)
        return a->count > b->count ? 1 : -1;
    return a->weight == b->weight ? 0 : a->weight < b->weight ? 1 : -1;
}

/* The largest first; heaps with the root at 0. */
static void sift(item *heap, uint32_t count, uint32_t at)
{
    item moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare(&heap[child + 1], &heap[child]) > 0)
            child++;
        if (compare(&heap[child], &moved) <= 0)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void make_heap(item *heap, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sift(heap, count, i);
}

static void drop_top(item *heap, uint32_t *count)
{
    heap[0] = heap[--*count];
    if (*count)
        sift(heap, *count, 0);
}

/* Its top bit is granted. */
static void clear_top_bit(item *heap, uint32_t *count)
{
    heap[0].bit++;
    if (--heap[0].count)
        sift(heap, *count, 0);
    else
        drop_top(heap, count);
}

/* Whether the items of a heap, without its `left_out` largest, fit into the bits up to y. */
static bool fits(ranker *r, const item *heap, uint32_t count, uint32_t left_out, uint32_t y)
{
    item *trial = r->trial;
    memcpy(trial, heap, count * sizeof *trial);
    for (uint32_t i = 0; i < left_out; i++)
        drop_top(trial, &count);
    for (uint32_t bit = y;; bit--) {
        if (!count)
            return true;
        if (trial[0].bit[0] > bit)
            return false;
        if (trial[0].bit[0] == bit)
            clear_top_bit(trial, &count);
        else
            drop_top(trial, &count);
        if (bit == 0)
            return !count;
    }
}

static bool grant(ranker *r, uint32_t bit)
{
    void *items = r->granted;
    if (!pbi_arena_reserve(&r->arena, &items, &r->granted_room, r->granted_count + 1, sizeof *r->granted))
        return false;
    r->granted = items;
    r->granted[r->granted_count++] = bit;
    return true;
}

static void set_rank(ranker *r, uint32_t place, uint32_t rank)
{
    r->rank[place] = rank;
    if (rank >= r->most)
        r->most = rank + 1;
}

/* How many of the largest must get bits above y. */
static uint32_t too_many(ranker *r, const item *heap, uint32_t count, uint32_t y)
{
    uint32_t low = count > y + 1 ? count - y - 1 : 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (fits(r, heap, count, middle, y))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Grants bits to the items with minimum sum; the place of each item gets the rank of its edge. */
static pb_status share(ranker *r, uint32_t count)
{
    item *heap = r->item;
    make_heap(heap, count);
    r->granted_count = 0;
    while (count) {
        uint32_t y = heap[0].bit[0];
        for (uint32_t above = too_many(r, heap, count, y); above > 0; above--) {
            if (!grant(r, y + above))
                return PB_ENOMEM;
            set_rank(r, heap[0].place, y + above);
            drop_top(heap, &count);
        }
        if (!count || heap[0].bit[0] != y)
            continue;
        if (!grant(r, y))
            return PB_ENOMEM;
        if (heap[0].count == 1) /* the last bit of l + 1 is the one that l does not have */
            set_rank(r, heap[0].place, y);
        clear_top_bit(heap, &count);
    }
    return PB_OK;
}

/* Replaces l by l + 1, in the room behind the list. */
static void add_one(ranker *r, segment *s)
{
    uint32_t *list = r->bits + s->from, low = 0;
    while (s->count && list[s->count - 1] == low) {
        s->count--;
        low++;
    }
    list[s->count++] = low;
}

static pb_status make_room(ranker *r, size_t more)
{
    void *items = r->bits;
    if (!pbi_arena_reserve(&r->arena, &items, &r->room, r->used + more, sizeof *r->bits))
        return PB_ENOMEM;
    r->bits = items;
    return PB_OK;
}

/* Merges the lists of the children, on top of the stack, into that of `place`. */
static pb_status join(ranker *r, uint32_t place, uint32_t children)
{
    segment *first = &r->segment[r->depth - children];
    for (uint32_t i = 0; i < children; i++)
        add_one(r, &first[i]);
    if (children == 1) {
        set_rank(r, first->place, r->bits[first->from + first->count - 1]);
        first->place = place;
        r->used = first->from + first->count;
    } else {
        for (uint32_t i = 0; i < children; i++)
            r->item[i] = (item){r->bits + first[i].from, first[i].count, first[i].place, r->weight[first[i].place]};
        pb_status status = share(r, children);
        if (status != PB_OK)
            return status;
        r->used = first->from;
        status = make_room(r, r->granted_count);
        if (status != PB_OK)
            return status;
        memcpy(r->bits + first->from, r->granted, r->granted_count * sizeof *r->bits);
        *first = (segment){place, first->from, (uint32_t)r->granted_count};
        r->used += r->granted_count;
    }
    r->depth -= children - 1;
    pb_status status = make_room(r, 1);
    r->used++;
    return status;
}

static pb_status rank_place(ranker *r, uint32_t place, uint32_t children)
{
    if (children)
        return join(r, place, children);
    pb_status status = make_room(r, 1);
    r->segment[r->depth++] = (segment){place, r->used, 0};
    r->used++;
    return status;
}

static bool is_top(const pbi_trees *t, const uint8_t *cut, uint32_t place)
{
    return t->parent[place] == PBI_NO_PLACE || (cut && cut[place]);
}

static pb_status rank_all(ranker *r, const pbi_trees *t, const uint8_t *cut, uint32_t *children)
{
    enum { PER_TICK = 256 };
    for (uint32_t i = 0; i < t->count; i++)
        r->weight[i] = t->g->cost[t->node[i]];
    for (uint32_t i = 0; i < t->count; i++)
        if (!is_top(t, cut, i)) {
            uint64_t *above = &r->weight[t->parent[i]];
            *above = pbi_add_saturated(*above, r->weight[i]);
            children[t->parent[i]]++;
        }
    for (uint32_t i = 0; i < t->count; i++) {
        pb_status status = rank_place(r, i, children[i]);
        if (status == PB_OK && i % PER_TICK == 0)
            status = pbi_tick(r->ctx, PER_TICK);
        if (status != PB_OK)
            return status;
        if (is_top(t, cut, i)) /* no parent needs it */
            r->used = r->segment[--r->depth].from;
    }
    return PB_OK;
}

pb_status pbi_edge_rank(pb_context *ctx, const pbi_trees *trees, const uint8_t *cut, uint32_t *rank, uint32_t *most)
{
    ranker r = {.ctx = ctx, .rank = rank};
    pb_arena_init(&r.arena, ctx);
    uint32_t *children = pb_arena_zero(&r.arena, trees->count, sizeof *children);
    r.segment = pb_arena_alloc(&r.arena, trees->count, sizeof *r.segment);
    r.item = pb_arena_alloc(&r.arena, trees->count, sizeof *r.item);
    r.trial = pb_arena_alloc(&r.arena, trees->count, sizeof *r.trial);
    r.weight = pb_arena_alloc(&r.arena, trees->count, sizeof *r.weight);
    pb_status status = children && r.segment && r.item && r.trial && r.weight ? PB_OK : PB_ENOMEM;
    if (status == PB_OK)
        status = rank_all(&r, trees, cut, children);
    *most = r.most;
    pb_arena_release(&r.arena);
    return status;
}
