/* stages_bound.c -- lower bounds for pipelines; docs/bounds.md, "Pipelines", has the proofs and the names used here. */
#include "bound/stages_bound.h"

#include "base/checked.h"

enum { MOST_MICRO = 2000 };

typedef struct bounder {
    const pbi_stages *s;
    bool span;
} bounder;

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t above(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static bool alone(const pbi_stages *s, uint32_t c)
{
    for (uint32_t e = 0; e < s->parts; e++)
        if (e != c && s->part[e].device == s->part[c].device)
            return false;
    return true;
}

/* Before any F of the part can start. */
static uint64_t head(const pbi_stages *s, uint32_t c)
{
    uint64_t sum = 0;
    for (uint32_t e = 0; e < c; e++)
        sum += s->part[e].f + s->part[e].down.time;
    return sum;
}

/* After the end of a B of the part, until all that depends on it has ended. */
static uint64_t tail(const pbi_stages *s, uint32_t c)
{
    uint64_t sum = s->part[0].w;
    for (uint32_t e = 1; e <= c; e++)
        sum += s->part[e - 1].b + s->part[e].up.time;
    return sum;
}

/* From the start of an F to the start of its B. */
static uint64_t round_trip(const pbi_stages *s, uint32_t c)
{
    uint64_t sum = s->part[c].f;
    for (uint32_t e = c + 1; e < s->parts; e++)
        sum += s->part[e].f + s->part[e].b + s->part[e - 1].down.time + s->part[e].up.time;
    return sum;
}

static uint64_t saved(const pbi_stage_part *p) { return p->saved_b + p->saved_w; }

/* Room for what is saved while an F runs. */
static uint64_t room_in_forward(const pbi_stages *s, uint32_t c)
{
    const pbi_stage_part *p = &s->part[c];
    uint64_t taken = p->out + p->work_f + (c && s->part[c - 1].device != p->device ? s->part[c - 1].out : 0);
    return s->room[p->device] == UINT64_MAX ? UINT64_MAX : above(s->room[p->device], taken);
}

/* Micro-batches whose F saves fit at once: K. */
static uint64_t most_held(const pbi_stages *s, uint32_t c)
{
    uint64_t each = saved(&s->part[c]);
    return smaller(s->micro, each ? room_in_forward(s, c) / each : s->micro);
}

/* Ws that may be left after the last B: Q. */
static uint64_t most_weights(const pbi_stages *s, uint32_t c)
{
    const pbi_stage_part *p = &s->part[c];
    uint64_t room = s->room[p->device];
    if (!p->saved_w || room == UINT64_MAX)
        return s->micro;
    return smaller(s->micro, larger(1, above(room, p->saved_b + p->work_b) / p->saved_w));
}

static uint64_t work_of(const pbi_stages *s, uint32_t c)
{
    return s->micro * (s->part[c].f + s->part[c].b + s->part[c].w);
}

static uint64_t device_work(const pbi_stages *s, uint32_t d)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < s->parts; c++)
        sum += s->part[c].device == d ? work_of(s, c) : 0;
    return sum;
}

/* The first step of a device is an F of one of its parts. */
static uint64_t bound_work(const bounder *b)
{
    uint64_t most = 0;
    for (uint32_t d = 0; d < b->s->devices; d++) {
        uint64_t first = UINT64_MAX;
        for (uint32_t c = 0; c < b->s->parts; c++)
            if (b->s->part[c].device == d)
                first = smaller(first, head(b->s, c));
        if (first != UINT64_MAX)
            most = larger(most, device_work(b->s, d) + (b->span ? 0 : first));
    }
    return most;
}

/* ---- windows ---- */

/* Idle time before the first B: at most K of the Fs that run there need not run later. */
static uint64_t idle_before(const pbi_stages *s, uint32_t c)
{
    return above(round_trip(s, c), most_held(s, c) * s->part[c].f);
}

/* The most work of pending Bs and Ws when an F starts, without recomputation. */
static uint64_t most_pending(const pbi_stages *s, uint32_t c)
{
    const pbi_stage_part *p = &s->part[c];
    uint64_t room = room_in_forward(s, c), most = 0;
    for (uint64_t n = 1; n <= most_held(s, c); n++) {
        uint64_t left = room == UINT64_MAX ? UINT64_MAX : room - n * p->saved_b;
        uint64_t weights = p->saved_w ? smaller(s->micro, left / p->saved_w) : s->micro;
        most = larger(most, n * p->b + weights * p->w);
    }
    return most;
}

/* Idle time after the start of the last F, which comes after the first B if K < m. */
static uint64_t idle_after(const pbi_stages *s, uint32_t c)
{
    const pbi_stage_part *p = &s->part[c];
    if (s->recompute)
        return 0;
    return above(round_trip(s, c) + p->b + p->w, p->f + most_pending(s, c));
}

static uint64_t idle_windows(const pbi_stages *s, uint32_t c)
{
    uint64_t before = idle_before(s, c), after = idle_after(s, c);
    return most_held(s, c) < s->micro ? before + after : larger(before, after);
}

/* Of n pending Bs and q more pending Ws, those that memory cannot hold: each needs another F. */
static uint64_t not_held(const pbi_stages *s, uint32_t c, uint64_t n, uint64_t q)
{
    const pbi_stage_part *p = &s->part[c];
    uint64_t room = room_in_forward(s, c);
    if (room == UINT64_MAX || !saved(p))
        return 0;
    uint64_t weights = p->saved_w ? smaller(q, room / p->saved_w) : q;
    uint64_t both = smaller(n, (room - weights * p->saved_w) / saved(p));
    return n - both + q - weights;
}

/* After the start of the last first F. For large m this takes too long. */
static uint64_t idle_again(const pbi_stages *s, uint32_t c)
{
    const pbi_stage_part *p = &s->part[c];
    uint64_t trip = round_trip(s, c) + p->b + p->w, least = UINT64_MAX;
    if (s->micro > MOST_MICRO)
        return 0;
    for (uint64_t n = 1; n <= s->micro; n++)
        for (uint64_t q = 0; n + q <= s->micro; q++)
            least = smaller(least, larger(above(trip, p->f + n * p->b + (n + q) * p->w), not_held(s, c, n, q) * p->f));
    return least;
}

static uint64_t bound_windows(const bounder *b)
{
    const pbi_stages *s = b->s;
    uint64_t most = 0;
    for (uint32_t c = 0; c < s->parts; c++) {
        const pbi_stage_part *p = &s->part[c];
        if (!alone(s, c))
            continue;
        uint64_t idle = larger(idle_windows(s, c), s->recompute ? idle_again(s, c) : 0);
        most = larger(most, work_of(s, c) + idle + (b->span ? 0 : head(s, c)));
        if (!b->span)
            most = larger(most,
                          head(s, c) + s->micro * (p->f + p->b) + tail(s, c) + (s->recompute ? 0 : idle_before(s, c)));
    }
    return most;
}

/* ---- chains: F number j + K starts at least a round trip after F number j ---- */

static uint64_t bound_chain_of(const pbi_stages *s, uint32_t c)
{
    const pbi_stage_part *p = &s->part[c];
    uint64_t held = most_held(s, c), room = room_in_forward(s, c), most = 0;
    if (!held || held >= s->micro || room == UINT64_MAX)
        return 0;
    uint64_t left = room - held * saved(p);
    uint64_t more = p->saved_w && left < p->saved_w ? smaller(p->b, p->w) : 0;
    uint64_t each = round_trip(s, c) + p->b + more;
    for (uint64_t r = 0; r < held; r++) {
        uint64_t links = (s->micro - 1 - r) / held, last = r + links * held;
        most = larger(most, r * p->f + links * each + round_trip(s, c) + (s->micro - last) * (p->b + p->w));
    }
    return most;
}

static uint64_t bound_chain(const bounder *b)
{
    uint64_t most = 0;
    for (uint32_t c = 0; c < b->s->parts; c++)
        if (!b->s->recompute && alone(b->s, c))
            most = larger(most, bound_chain_of(b->s, c) + (b->span ? 0 : head(b->s, c)));
    return most;
}

/* ---- staircases ---- */

typedef struct stairs {
    uint64_t first, last; /* the least T and Z of the part after */
} stairs;

/* Takes one part of the staircases; false if the span cannot be this short. */
static bool take_stair(const pbi_stages *s, uint32_t c, uint64_t span, stairs *t)
{
    const pbi_stage_part *p = &s->part[c];
    bool end = c + 1 == s->parts;
    uint64_t work = work_of(s, c), held = most_held(s, c), trip = p->f;
    uint64_t after = held < s->micro ? idle_after(s, c) : 0, last = p->f + p->b;
    if (span < work + after)
        return false;
    uint64_t slack = span - work - after;
    if (!end) {
        uint64_t there = p->f + p->down.time + p[1].up.time;
        trip = t->first + there + p[1].b;
        last = t->last + there + p->b;
    }
    if (p->f) {
        uint64_t n = smaller(held, trip / p->f);
        if (trip - n * p->f > slack) {
            if (n == held)
                return false;
            trip = (n + 1) * p->f;
        }
    }
    uint64_t forced = above(trip, held * p->f);
    if (last > span)
        return false;
    uint64_t weights = p->w ? smaller(most_weights(s, c), (span - last) / p->w) : 1;
    if (!weights)
        return false;
    t->first = trip;
    t->last = larger(last, work + forced - weights * p->w);
    return t->last + weights * p->w <= span;
}

static bool possible(const pbi_stages *s, uint64_t span)
{
    stairs t = {0, 0};
    for (uint32_t c = s->parts; c-- > 0;)
        if (!take_stair(s, c, span, &t))
            return false;
    return true;
}

/* The least span that all staircases allow. */
static uint64_t bound_stairs(const bounder *b, uint64_t known)
{
    const pbi_stages *s = b->s;
    for (uint32_t c = 0; c < s->parts; c++)
        if (!alone(s, c))
            return known;
    if (!b->span || s->recompute || possible(s, known))
        return known;
    uint64_t low = known, high = known;
    do
        high += high / 4 + 1;
    while (!possible(s, high) && high < UINT64_MAX / 4);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (possible(s, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- memory over time, with recomputation ---- */

/* What one micro-batch holds over time, at least: size times time. Saturates. */
typedef struct energy {
    double kept, dropped, early, room;
} energy;

static energy energies(const pbi_stages *s, uint32_t c)
{
    const pbi_stage_part *p = &s->part[c];
    double trip = (double)round_trip(s, c), f = (double)p->f, b = (double)p->b, w = (double)p->w;
    double sb = (double)p->saved_b, sw = (double)p->saved_w;
    energy e = {.room = (double)s->room[p->device]};
    e.kept = sb * (trip + b) + sw * (trip + b + w);
    e.dropped = sb * (f + b) + sw * (f + w);
    e.early = sb * b + sw * (w + (f < b ? f : b));
    return e;
}

/* The least time after the first B, if u of the early micro-batches are still in memory then: d of the late ones are
 * computed twice, and what all of them hold must fit into memory times that time. */
static uint64_t time_after(const pbi_stages *s, uint32_t c, uint64_t early, uint64_t u)
{
    const pbi_stage_part *p = &s->part[c];
    const energy e = energies(s, c);
    double b = (double)p->b, w = (double)p->w, n = (double)u;
    double fixed = n * (n + 1) / 2 * b * (double)saved(p) + n * w * (double)p->saved_w + (double)(early - u) * e.early;
    uint64_t late = s->micro - early, base = (s->micro - u) * p->f + s->micro * (p->b + p->w), least = UINT64_MAX;
    for (uint64_t d = 0; d <= late && base + d * p->f < least; d++) {
        double time = (fixed + (double)(late - d) * e.kept + (double)d * e.dropped) / e.room * (1 - 1e-9);
        uint64_t held = time < 1e18 ? (uint64_t)time : UINT64_MAX / 4;
        least = smaller(least, larger(held, base + d * p->f));
    }
    return least;
}

static uint64_t bound_energy_of(const pbi_stages *s, uint32_t c)
{
    const pbi_stage_part *p = &s->part[c];
    uint64_t trip = round_trip(s, c), held = most_held(s, c), least = UINT64_MAX;
    if (!p->f || s->room[p->device] == UINT64_MAX || s->micro > MOST_MICRO / 8)
        return 0;
    for (uint64_t early = smaller(s->micro, trip / p->f); early <= s->micro; early++) {
        uint64_t first = larger(trip, early * p->f);
        for (uint64_t u = 0; u <= smaller(held, early); u++)
            least = smaller(least, first + time_after(s, c, early, u));
    }
    return least;
}

static uint64_t bound_energy(const bounder *b)
{
    uint64_t most = 0;
    for (uint32_t c = 0; c < b->s->parts; c++)
        if (b->s->recompute && alone(b->s, c))
            most = larger(most, bound_energy_of(b->s, c) + (b->span ? 0 : head(b->s, c)));
    return most;
}

uint64_t pbi_stages_bound(const pbi_stages *s, pb_objective objective)
{
    bounder b = {s, objective == PB_OBJECTIVE_SPAN};
    uint64_t most = bound_work(&b);
    most = larger(most, bound_windows(&b));
    most = larger(most, bound_chain(&b));
    most = larger(most, bound_energy(&b));
    return bound_stairs(&b, most);
}
