/* curves.c -- see curves.h.
 *
 * In slot s, which covers memory s * slot and more, a curve lies between its samples at s and s + 1. Announcing all
 * candidates first gives an upper limit on the result at the start of every slot; a candidate that is above it
 * throughout a slot does not matter there. Neither does one that is nowhere below what was offered before. The steps
 * of the remaining candidates go into one pool, which is sorted at the end: by slots, and within them by need.
 */
#include "plan/blocks/curves.h"

#include "base/arena.h"
#include "base/checked.h"

#include <string.h>

#define CELL uint32_t
#include "plan/blocks/lanes.h"

#define NEVER (UINT32_MAX / 3)

struct pbi_curve_maker {
    pb_arena *arena;
    lanes lanes;
    uint64_t memory, slot;
    uint32_t slots;    /* slot numbers are 0 .. slots */
    uint32_t from, to; /* the slots that matter, without `to` */
    unsigned quantum;  /* log2 of the work of one quantum */
    uint32_t slack;    /* quanta by which rounding may make a sum of samples and work too small */
    CELL *limit;       /* [slot]: at its start the result is below this */
    uint64_t *edge;    /* where a slot starts */
    pbi_curve_step *pool, *sorted;
    size_t count, room, sorted_room;
    uint32_t *place; /* [slot]: where its steps begin among the sorted ones */
    uint64_t work;
};

pbi_curve_maker *pbi_curve_maker_new(pb_arena *arena, uint64_t memory, uint64_t slot, uint64_t quantum)
{
    pbi_curve_maker *c = pb_arena_zero(arena, 1, sizeof *c);
    if (!c)
        return NULL;
    c->arena = arena;
    c->lanes = choose_lanes();
    c->memory = memory;
    c->slot = slot;
    c->slots = (uint32_t)(memory / slot);
    while (quantum >> c->quantum > 1)
        c->quantum++;
    c->slack = c->quantum ? 3 : 0;
    c->limit = pb_arena_alloc(arena, (size_t)c->slots + 1, sizeof *c->limit);
    c->edge = pb_arena_alloc(arena, (size_t)c->slots + 2, sizeof *c->edge);
    c->place = pb_arena_alloc(arena, (size_t)c->slots + 2, sizeof *c->place);
    if (!c->limit || !c->edge || !c->place)
        return NULL;
    for (uint32_t s = 0; s <= c->slots; s++)
        c->edge[s] = s * c->slot;
    c->edge[c->slots + 1] = memory < UINT64_MAX ? memory + 1 : memory;
    return c;
}

uint64_t pbi_curve_work(const pbi_curve_maker *c) { return c->work; }

uint64_t pbi_curve_at(const pbi_curve *f, uint64_t memory)
{
    uint32_t low = 0, high = f->count; /* the steps below `low` need no more than memory */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->step[middle].need <= memory)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? f->step[low - 1].extra : UINT64_MAX;
}

void pbi_curve_begin(pbi_curve_maker *c, const pbi_curve_frame *frame)
{
    c->count = 0;
    c->from = frame->from;
    c->to = frame->to;
    for (uint32_t s = c->from; s < c->to; s++)
        c->limit[s] = lower(frame->limit - frame->rest[s], NEVER);
}

/* The samples, moved by `shift` slots. */
static view samples(const pbi_curve *f, uint32_t up, uint32_t down)
{
    uint32_t lo = f->lo + up, hi = f->hi + up, cut = lo < down ? down - lo : 0;
    cut = cut < hi - lo ? cut : hi - lo;
    return (view){f->cell + cut, lo > down ? lo - down : 0, hi > down ? hi - down : 0, f->tail};
}

static bool is_possible(const pbi_curve_maker *c, const pbi_candidate *p)
{
    return p->need <= c->memory && p->held <= c->memory && p->a->count && (!p->b || p->b->count);
}

static const pbi_curve nothing = {.hi = 0};

void pbi_curve_expect(pbi_curve_maker *c, const pbi_candidate *p)
{
    if (!is_possible(c, p))
        return;
    uint64_t held = p->held / c->slot + (p->held % c->slot != 0), need = p->need / c->slot + (p->need % c->slot != 0);
    if (held >= c->to || need >= c->to)
        return;
    need = max(c->from, (uint32_t)need);
    /* `limit` must not be reached, so it is one more than the result may be */
    CELL fixed = (CELL)(p->fixed >> c->quantum) + c->slack + 1;
    view a = samples(p->a, (uint32_t)held, 0);
    if (p->b) {
        view b = samples(p->b, 0, 0);
        relax_sum(&c->lanes, c->limit, &a, &b, fixed, (span){(uint32_t)need, c->to});
    } else {
        relax_one(&c->lanes, c->limit, &a, fixed, (span){(uint32_t)need, c->to});
    }
}

static bool add_point(pbi_curve_maker *c, uint64_t need, uint64_t extra)
{
    void *items = c->pool;
    if (c->count == c->room && !pbi_arena_reserve(c->arena, &items, &c->room, c->count + 1, sizeof *c->pool))
        return false;
    c->pool = items;
    c->pool[c->count++] = (pbi_curve_step){need, extra};
    return true;
}

/* The offered candidate costs no more than `extra` from the start of slot s on. */
static void lower_limit(pbi_curve_maker *c, uint32_t s, uint64_t extra)
{
    CELL max_cells = (CELL)(extra >> c->quantum) + (c->quantum ? 1 : 0);
    for (; s < c->to && c->limit[s] > max_cells; s++)
        c->limit[s] = max_cells;
}

/* The first step that needs more than memory. */
static uint32_t first_above(const pbi_curve *f, uint64_t memory)
{
    uint32_t low = 0, high = f->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->step[middle].need <= memory)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds the candidate's steps in slots `from` to `to` - 1 to the pool. */
static bool add_steps(pbi_curve_maker *c, const pbi_candidate *p, uint32_t from, uint32_t to)
{
    const pbi_curve *a = p->a, *b = p->b;
    uint64_t end = c->edge[to], need = c->edge[from], start = pbi_add_saturated(a->step[0].need, p->held);
    need = p->need > need ? p->need : need;
    need = start > need ? start : need;
    need = b && b->step[0].need > need ? b->step[0].need : need;
    if (need >= end)
        return true;
    uint32_t ia = first_above(a, need - p->held), ib = b ? first_above(b, need) : 0, s = from;
    uint64_t next_a = ia < a->count ? pbi_add_saturated(a->step[ia].need, p->held) : UINT64_MAX;
    uint64_t next_b = b && ib < b->count ? b->step[ib].need : UINT64_MAX, last = UINT64_MAX;
    uint64_t sum = p->fixed + a->step[ia - 1].extra + (b ? b->step[ib - 1].extra : 0);
    for (;;) {
        for (; c->edge[s + 1] <= need; s++) /* slots that start inside the step before */
            if (last != UINT64_MAX)
                lower_limit(c, s + 1, last);
        if (need == c->edge[s])
            lower_limit(c, s, sum);
        c->work++;
        if (!add_point(c, need, sum))
            return false;
        last = sum;
        need = next_a < next_b ? next_a : next_b;
        if (need >= end)
            break;
        if (next_a == need) {
            sum -= a->step[ia - 1].extra - a->step[ia].extra;
            ia++;
            next_a = ia < a->count ? pbi_add_saturated(a->step[ia].need, p->held) : UINT64_MAX;
        }
        if (next_b == need) {
            sum -= b->step[ib - 1].extra - b->step[ib].extra;
            ib++;
            next_b = ib < b->count ? b->step[ib].need : UINT64_MAX;
        }
    }
    lower_limit(c, s + 1, last);
    return true;
}

/* The slots in which the candidate may matter, in runs. */
static bool offer_span(pbi_curve_maker *c, const pbi_candidate *p, const view *a, const view *b, span where)
{
    CELL fixed = (CELL)(p->fixed >> c->quantum);
    uint32_t s = where.from;
    while (s < where.to) {
        uint32_t from = s;
        for (; s < where.to; s++) {
            CELL low = (CELL)(fixed + (s < a->hi ? *cell_at(a, s) : a->tail) + (s < b->hi ? *cell_at(b, s) : b->tail));
            if (low >= c->limit[s])
                break;
        }
        if (from < s && !add_steps(c, p, from, s))
            return false;
        s += from == s;
    }
    return true;
}

bool pbi_curve_offer(pbi_curve_maker *c, const pbi_candidate *p)
{
    if (!is_possible(c, p))
        return true;
    /* The minimum in a slot is at its end: the next sample. */
    uint32_t held = (uint32_t)(p->held / c->slot), need = (uint32_t)(p->need / c->slot);
    view a = samples(p->a, held, 1), b = p->b ? samples(p->b, 0, 1) : samples(&nothing, 0, 0);
    span where = beaten(&c->lanes, c->limit, &a, &b, (CELL)(p->fixed >> c->quantum), (span){max(need, c->from), c->to});
    where.from = max(where.from, max(a.lo, b.lo));
    return where.from >= where.to || offer_span(c, p, &a, &b, where);
}

bool pbi_curve_offer_step(pbi_curve_maker *c, uint64_t need, uint64_t extra)
{
    if (need > c->memory)
        return true;
    uint64_t s = max((uint32_t)(need / c->slot), c->from);
    return s >= c->to || extra >> c->quantum >= c->limit[s] || add_point(c, need, extra);
}

/* ---- the end ---- */

static bool is_before(const pbi_curve_step *x, const pbi_curve_step *y)
{
    return x->need < y->need || (x->need == y->need && x->extra < y->extra);
}

/* Shell's sort: slots hold few steps. */
static void sort_steps(pbi_curve_step *step, size_t count)
{
    static const uint32_t gaps[] = {929, 505, 209, 109, 41, 19, 5, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t n = gaps[g]; n < count; n++) {
            pbi_curve_step moved = step[n];
            size_t to = n;
            for (; to >= gaps[g] && is_before(&moved, &step[to - gaps[g]]); to -= gaps[g])
                step[to] = step[to - gaps[g]];
            step[to] = moved;
        }
}

static bool sort_pool(pbi_curve_maker *c)
{
    void *items = c->sorted;
    if (!pbi_arena_reserve(c->arena, &items, &c->sorted_room, c->count, sizeof *c->sorted))
        return false;
    c->sorted = items;
    memset(c->place, 0, ((size_t)c->slots + 2) * sizeof *c->place);
    for (size_t n = 0; n < c->count; n++)
        c->place[c->pool[n].need / c->slot + 1]++;
    for (uint32_t s = 0; s <= c->slots; s++)
        c->place[s + 1] += c->place[s];
    for (size_t n = 0; n < c->count; n++)
        c->sorted[c->place[c->pool[n].need / c->slot]++] = c->pool[n];
    uint32_t from = 0; /* place[s] is now where slot s ends */
    for (uint32_t s = 0; s <= c->slots; s++) {
        sort_steps(c->sorted + from, c->place[s] - from);
        from = c->place[s];
    }
    return true;
}

static bool sample(pbi_curve_maker *c, pbi_curve *f)
{
    uint32_t n = 0;
    f->lo = f->hi = c->slots + 1;
    f->tail = NEVER;
    if (!f->count)
        return true;
    f->tail = (uint32_t)(f->step[f->count - 1].extra >> c->quantum);
    uint64_t first = f->step[0].need / c->slot + (f->step[0].need % c->slot != 0);
    f->lo = first <= c->slots ? (uint32_t)first : c->slots + 1;
    CELL *cell = c->limit; /* not used any more */
    for (uint32_t s = f->lo; s <= c->slots; s++) {
        while (n + 1 < f->count && f->step[n + 1].need <= c->edge[s])
            n++;
        cell[s] = (CELL)(f->step[n].extra >> c->quantum);
    }
    while (f->hi > f->lo && cell[f->hi - 1] == f->tail)
        f->hi--;
    f->cell = pb_arena_alloc(c->arena, f->hi - f->lo, sizeof *f->cell);
    if (!f->cell)
        return false;
    memcpy(f->cell, cell + f->lo, (f->hi - f->lo) * sizeof *f->cell);
    return true;
}

bool pbi_curve_end(pbi_curve_maker *c, pbi_curve *out)
{
    if (!sort_pool(c))
        return false;
    size_t count = 0;
    for (size_t n = 0; n < c->count; n++)
        if (!count || c->sorted[n].extra < c->sorted[count - 1].extra)
            c->sorted[count++] = c->sorted[n];
    *out = (pbi_curve){.count = (uint32_t)count, .step = pb_arena_alloc(c->arena, count, sizeof *out->step)};
    if (!out->step)
        return false;
    if (count)
        memcpy(out->step, c->sorted, count * sizeof *out->step);
    return sample(c, out);
}
