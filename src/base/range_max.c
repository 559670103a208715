/* range_max.c -- see range_max.h.
 *
 * A tree over blocks of places. Numbers in it do not include what the nodes above add, so two of them can be
 * compared only with that sum, which every walk computes on its way down from the root. With it they are true
 * numbers, even if sums wrap.
 */
#include "base/range_max.h"

#include "base/arena.h"

enum { BLOCK = 32 };

typedef struct walk {
    pbi_range_max *t;
    uint32_t from, to;
    uint64_t add;
} walk;

/* The largest number of a block, from its numbers without the nodes above, which add `above`. */
static void sum_up_block(pbi_range_max *t, uint32_t node, uint64_t above)
{
    uint32_t first = (node - t->leaves) * BLOCK, end = first + BLOCK < t->count ? first + BLOCK : t->count;
    t->some[node] = 0;
    for (uint32_t i = first; i < end; i++) {
        uint64_t here = t->number[i] + t->add[node];
        if (t->out[i] || (t->some[node] && here + above <= t->top[node] + above))
            continue;
        t->top[node] = here;
        t->some[node] = 1;
    }
}

static void sum_up(pbi_range_max *t, uint32_t node, uint64_t above)
{
    uint32_t left = 2 * node, right = left + 1, best = left;
    above += t->add[node];
    if (!t->some[left] || (t->some[right] && t->top[right] + above > t->top[left] + above))
        best = right;
    t->some[node] = t->some[best];
    t->top[node] = t->top[best] + t->add[node];
}

bool pbi_range_max_init(pbi_range_max *t, pb_arena *arena, uint64_t *number, uint32_t count)
{
    *t = (pbi_range_max){.count = count, .leaves = 1, .number = number};
    while ((uint64_t)t->leaves * BLOCK < count)
        t->leaves *= 2;
    t->out = pb_arena_zero(arena, count, sizeof *t->out);
    t->add = pb_arena_zero(arena, 2 * (size_t)t->leaves, sizeof *t->add);
    t->top = pb_arena_zero(arena, 2 * (size_t)t->leaves, sizeof *t->top);
    t->some = pb_arena_zero(arena, 2 * (size_t)t->leaves, sizeof *t->some);
    if (!t->out || !t->add || !t->top || !t->some)
        return false;
    for (uint32_t node = 2 * t->leaves; node-- > t->leaves;)
        if ((uint64_t)(node - t->leaves) * BLOCK < count)
            sum_up_block(t, node, 0);
    for (uint32_t node = t->leaves; node-- > 1;)
        sum_up(t, node, 0);
    return true;
}

/* `node` covers the places first .. first + length - 1. */
static void add_below(const walk *w, uint32_t node, uint64_t first, uint64_t length, uint64_t above)
{
    pbi_range_max *t = w->t;
    if (first > w->to || first + length <= w->from)
        return;
    if (w->from <= first && first + length - 1 <= w->to) {
        t->add[node] += w->add;
        t->top[node] += w->add;
        return;
    }
    if (node >= t->leaves) {
        uint64_t end = first + length < t->count ? first + length : t->count;
        for (uint64_t i = first > w->from ? first : w->from; i < end && i <= w->to; i++)
            t->number[i] += w->add;
        sum_up_block(t, node, above);
        return;
    }
    add_below(w, 2 * node, first, length / 2, above + t->add[node]);
    add_below(w, 2 * node + 1, first + length / 2, length / 2, above + t->add[node]);
    sum_up(t, node, above);
}

void pbi_range_max_add(pbi_range_max *t, uint32_t from, uint32_t to, uint64_t add)
{
    if (from <= to && add)
        add_below(&(walk){t, from, to, add}, 1, 0, (uint64_t)t->leaves * BLOCK, 0);
}

static uint64_t find_below(const pbi_range_max *t, const walk *w, uint32_t node, uint64_t first, uint64_t above)
{
    uint64_t length = BLOCK, best = 0;
    for (uint32_t n = node; n < t->leaves; n *= 2)
        length *= 2;
    if (first > w->to || first + length <= w->from || !t->some[node])
        return 0;
    if (w->from <= first && first + length - 1 <= w->to)
        return t->top[node] + above;
    above += t->add[node];
    if (node < t->leaves) {
        uint64_t left = find_below(t, w, 2 * node, first, above);
        uint64_t right = find_below(t, w, 2 * node + 1, first + length / 2, above);
        return left > right ? left : right;
    }
    uint64_t end = first + length < t->count ? first + length : t->count;
    for (uint64_t i = first > w->from ? first : w->from; i < end && i <= w->to; i++)
        if (!t->out[i] && t->number[i] + above > best)
            best = t->number[i] + above;
    return best;
}

uint64_t pbi_range_max_find(const pbi_range_max *t, uint32_t from, uint32_t to)
{
    return from <= to ? find_below(t, &(walk){NULL, from, to, 0}, 1, 0, 0) : 0;
}

uint64_t pbi_range_max_at(const pbi_range_max *t, uint32_t place)
{
    uint64_t sum = t->number[place];
    for (uint32_t node = t->leaves + place / BLOCK; node; node /= 2)
        sum += t->add[node];
    return sum;
}

void pbi_range_max_take_out(pbi_range_max *t, uint32_t place)
{
    uint64_t above = 0;
    uint32_t leaf = t->leaves + place / BLOCK;
    for (uint32_t node = leaf / 2; node; node /= 2)
        above += t->add[node];
    t->out[place] = 1;
    sum_up_block(t, leaf, above);
    for (uint32_t node = leaf / 2; node; node /= 2) {
        above -= t->add[node];
        sum_up(t, node, above);
    }
}
