/* slopes.c -- see slopes.h. */
#include "plan/reversible/line/slopes.h"

#include "base/arena.h"
#include "base/context.h"

uint32_t pbi_slopes_min_pebbles(uint64_t n)
{
    uint32_t k = 1;
    while (k < 64 && UINT64_C(1) << (k - 1) < n)
        k++;
    return k;
}

/* A place in a list of runs. */
typedef struct cursor {
    size_t run;
    uint32_t taken; /* slopes before the place */
} cursor;

typedef struct merger {
    pbi_slopes *s;
    pb_arena *arena;
    size_t room, count;   /* of s->run */
    size_t first, last;   /* runs of one pebble less */
    uint32_t total;       /* slopes so far */
    uint32_t moved;       /* of them, those that move the cut */
    cursor plain;         /* F(., k - 1) */
    cursor twice, thrice; /* the same place in F(., k - 1) and in F(., k): their sum */
} merger;

static pb_status append(merger *m, uint64_t slope, uint32_t count, bool moves)
{
    pbi_slope_run *last = m->count > m->last ? &m->s->run[m->count - 1] : NULL;
    bool grows =
        last && last->slope == slope && (m->count - 1 > m->last ? (last->moved > last[-1].moved) == moves : !moves);
    m->total += count;
    m->moved += moves ? count : 0;
    if (!grows) {
        void *items = m->s->run;
        if (!pbi_arena_reserve(m->arena, &items, &m->room, m->count + 1, sizeof *m->s->run))
            return PB_ENOMEM;
        m->s->run = items;
        last = &m->s->run[m->count++];
        last->slope = slope;
    }
    last->end = m->total;
    last->moved = m->moved;
    return PB_OK;
}

/* How many slopes are left in the run at a cursor. */
static uint32_t left(const merger *m, const cursor *c) { return m->s->run[c->run].end - c->taken; }

static void advance(const merger *m, cursor *c, uint32_t count, size_t end)
{
    c->taken += count;
    if (c->run < end && c->taken == m->s->run[c->run].end)
        c->run++;
}

static uint32_t min_of(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The slopes for one pebble more than those in runs first..last-1. */
static pb_status merge(merger *m, uint32_t length)
{
    pb_status status = length ? append(m, 2, 1, false) : PB_OK; /* F(2) - F(1) */
    m->plain = m->twice = (cursor){m->first, 0};
    m->thrice = (cursor){m->last, 0};
    while (status == PB_OK && m->total < length) {
        const pbi_slope_run *run = m->s->run;
        advance(m, &m->thrice, 0, m->count - 1); /* the newest run may have grown, or got a successor */
        bool has_plain = m->plain.run < m->last, has_sum = m->twice.run < m->last;
        uint64_t plain = has_plain ? run[m->plain.run].slope : UINT64_MAX;
        uint64_t sum = has_sum ? run[m->twice.run].slope + run[m->thrice.run].slope : UINT64_MAX;
        uint32_t count = length - m->total;
        if (plain < sum) { /* on ties the cut moves on: it keeps less for a shorter time */
            count = min_of(count, left(m, &m->plain));
            status = append(m, plain, count, false);
            advance(m, &m->plain, count, m->last);
        } else {
            count = min_of(count, min_of(left(m, &m->twice), left(m, &m->thrice)));
            status = append(m, sum, count, true);
            advance(m, &m->twice, count, m->last);
            m->thrice.taken += count;
        }
    }
    return status;
}

pb_status pbi_slopes_init(pb_context *ctx, pbi_slopes *s, uint32_t longest, uint32_t pebbles, pb_arena *arena)
{
    merger m = {.s = s, .arena = arena};
    *s = (pbi_slopes){.longest = longest, .pebbles = pebbles};
    s->start = pb_arena_alloc(arena, (size_t)pebbles + 2, sizeof *s->start);
    if (!s->start)
        return PB_ENOMEM;
    s->start[0] = s->start[1] = 0;
    pb_status status = PB_OK;
    for (uint32_t k = 1; k <= pebbles && status == PB_OK; k++) {
        uint64_t max = k > 32 ? UINT32_MAX : (UINT64_C(1) << (k - 1)) - 1;
        m.first = s->start[k - 1];
        m.last = s->start[k];
        m.total = m.moved = 0;
        status = merge(&m, longest - 1 < max ? longest - 1 : (uint32_t)max);
        s->start[k + 1] = m.count;
        if (status == PB_OK)
            status = pbi_tick(ctx, 1 + m.count - m.last);
    }
    return status;
}

uint64_t pbi_slopes_moves(const pbi_slopes *s, uint32_t n, uint32_t k)
{
    uint64_t moves = 1;
    uint32_t before = 0;
    for (size_t i = s->start[k]; i < s->start[k + 1] && before < n - 1; i++) {
        moves += s->run[i].slope * (min_of(s->run[i].end, n - 1) - before);
        before = s->run[i].end;
    }
    return moves;
}

uint32_t pbi_slopes_cut(const pbi_slopes *s, uint32_t n, uint32_t k)
{
    size_t low = s->start[k], high = s->start[k + 1] - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->run[middle].end < n - 1)
            low = middle + 1;
        else
            high = middle;
    }
    bool moves = s->run[low].moved > (low > s->start[k] ? s->run[low - 1].moved : 0);
    return 1 + s->run[low].moved - (moves ? s->run[low].end - (n - 1) : 0);
}
