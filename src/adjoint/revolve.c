/* revolve.c -- binomial checkpointing as a stream: constant time and no search for each action.
 *
 * Problem. Reverse `length` steps with s slots for snapshots, the first of which has the segment's own start, in
 * the fewest forward steps and, among those schedules, with the fewest snapshots written.
 *
 * Idea. Advance by m, reverse the right part with s-1 slots, return to the start, reverse the left part of m steps
 * with s slots. With r from beta(s, r-1) < length <= beta(s, r) the fewest steps need beta(s, r-2) <= m <= beta(s,
 * r-1) and beta(s-1, r-1) <= length - m <= beta(s-1, r). The minimum of writes is constant up to star(s, r) =
 * beta(s, r-1) + beta(s-1, r-1) and grows by one per step from there, so both parts must be on the same side of
 * their own star as the whole is:
 *     length <= beta(s, r-2) + star(s-1, r):  m = beta(s, r-2)
 *     length <= beta(s, r-1) + star(s-1, r):  m = length - star(s-1, r)
 *     else                                    m = beta(s, r-1).
 *
 * Why it is fast. Each rule leaves at most one part of a length that is neither a beta (FULL) nor a star (STAR), so
 * there are at most s + r ODD segments in the whole stream, and they may be slow. A FULL segment splits into
 * FULL(s, r-1) and FULL(s-1, r), a STAR into STAR(s, r-1) and STAR(s-1, r), with m by a product of two or three
 * numbers if r or s is small, which is nearly always the case, and else by a division. The base cases are loops:
 *     one slot        return to the start for every step
 *     r = 1           store every state on the way up ("climb"), use them on the way down ("unwind")
 *     STAR, r = 2     the same with two steps for each snapshot
 *
 * Limits. With at most 10^15 steps every product below stays under 2^64: if r >= 5 and s >= 4 both are below 12,448.
 */
#include "adjoint/action_put.h"
#include "adjoint/binomial.h"
#include "base/context.h"

#include <inttypes.h>
#include <string.h>

enum { ENTER, CLIMB, UNWIND, CLIMB_TWOS, UNWIND_TWOS, RETURNS, POP, ENDING, OVER };
enum { ODD, FULL, STAR };
/* The max number of actions that are produced at once. */
enum { MIN_ROOM = PBI_MIN_ROOM };

static inline pb_action *keep(pb_action *out, uint64_t n0, uint64_t n1, uint32_t slot)
{
    return pbi_put_forward(out, n0, n1, PB_STORAGE_RAM, slot);
}

/* The first advance of a segment stores its start, unless it is already in its slot. */
static inline pb_action *first_forward(const pb_revolve *s, pb_action *out, uint64_t n1)
{
    return s->stored ? pbi_put_advance(out, s->start, n1) : keep(out, s->start, n1, s->at_slot);
}

static inline pb_action *load(pb_action *out, uint64_t n, uint32_t slot, pb_action_kind kind)
{
    return pbi_put_load(out, n, PB_STORAGE_RAM, slot, kind);
}

/* beta(s, r-1) for length = beta(s, r); s, r >= 2. */
static inline uint64_t full_split(uint64_t length, uint64_t s, uint64_t r)
{
    if (r == 2)
        return s + 1;
    if (r == 3)
        return (s + 1) * (s + 2) / 2;
    if (s == 2)
        return r * (r + 1) / 2;
    if (s == 3)
        return r * (r + 1) * (r + 2) / 6;
    if (r == 4)
        return (s + 1) * (s + 2) * (s + 3) / 6;
    return length * r / (s + r);
}

/* star(s, r-1) for length = star(s, r); s >= 2, r >= 3. */
static inline uint64_t star_split(uint64_t length, uint64_t s, uint64_t r)
{
    if (r == 3)
        return 2 * s + 1;
    if (r == 4)
        return (s + 1) * (s + 1);
    if (s == 2)
        return (r - 1) * (r + 2) / 2;
    if (s == 3)
        return (r - 1) * r * (r + 4) / 6;
    if (r == 5)
        return (s + 1) * (s + 2) * (2 * s + 3) / 6;
    uint64_t beta = length * (s + r - 1) / (2 * s + r - 1); /* beta(s, r-1) */
    beta = beta * (r - 1) / (s + r - 1);                    /* beta(s, r-2) */
    return beta * (2 * s + r - 2) / (s + r - 2);
}

static uint64_t star(int64_t s, int64_t r) { return pbi_beta(s, r - 1) + pbi_beta(s - 1, r - 1); }

static uint8_t shape_of(uint64_t length, int64_t s, int64_t r)
{
    return length == pbi_beta(s, r) ? FULL : length == star(s, r) ? STAR : ODD;
}

/* Splits an ODD segment with s, r >= 2: fills the level with the left part, leaves the right one. */
static void odd_split(pb_revolve *stream, struct pb_revolve_level *left, int64_t s)
{
    int64_t r = (int64_t)stream->reps;
    uint64_t lowest = pbi_beta(s, r - 2), highest = pbi_beta(s, r - 1), right = star(s - 1, r);
    *left = (struct pb_revolve_level){stream->start, lowest, (uint32_t)(r - 2), FULL};
    if (stream->length > highest + right) {
        left->length = highest;
        left->reps = (uint32_t)(r - 1);
    } else if (stream->length > lowest + right) {
        left->length = stream->length - right;
        left->reps = (uint32_t)(r - 1);
        left->shape = shape_of(left->length, s, r - 1);
    }
    stream->length -= left->length;
    stream->shape = shape_of(stream->length, s - 1, r);
}

/* Advances to the right part until a loop can take over. */
static pb_action *enter(pb_revolve *s, pb_action *out, const pb_action *end)
{
    for (; end - out >= MIN_ROOM; s->stored = false) {
        uint32_t slots = s->first_slot + s->slots - s->at_slot;
        s->place = 1;
        if (s->length == 1) {
            s->phase = POP;
            return pbi_put_reverse_last(out, s->start, s->steps);
        }
        if (slots == 1) {
            s->phase = RETURNS;
            out = first_forward(s, out, s->start + s->length - 1);
            return pbi_put_reverse_last(out, s->start + --s->length, s->steps);
        }
        if (s->reps == 1) {
            s->phase = CLIMB;
            return first_forward(s, out, s->start + 1);
        }
        if (s->reps == 2 && s->shape == STAR) {
            s->phase = CLIMB_TWOS;
            return first_forward(s, out, s->start + 2);
        }
        struct pb_revolve_level *left = &s->level[s->at_slot - s->first_slot];
        if (s->shape == ODD) {
            odd_split(s, left, slots);
        } else {
            uint64_t m =
                s->shape == FULL ? full_split(s->length, slots, s->reps) : star_split(s->length, slots, s->reps);
            *left = (struct pb_revolve_level){s->start, m, (uint32_t)s->reps - 1, s->shape};
            s->length -= m;
        }
        out = first_forward(s, out, s->start + left->length);
        s->start += left->length;
        s->at_slot++;
    }
    return out;
}

/* r = 1: stores states start+1 .. start+length-2 one by one, then reverses the last step. */
static pb_action *climb(pb_revolve *s, pb_action *out, const pb_action *end)
{
    uint64_t count = s->length - 1 - s->place, room = (uint64_t)(end - out) - 3;
    count = count < room ? count : room;
    uint64_t n = s->start + s->place, stop = n + count;
    uint32_t slot = s->at_slot + (uint32_t)s->place;
    while (n < stop) {
        out = keep(out, n, n + 1, slot++);
        n++;
    }
    s->place += count;
    if (s->place + 1 < s->length)
        return out;
    s->phase = UNWIND;
    return pbi_put_reverse_last(out, n, s->steps);
}

/* Reverses steps start+place-1 .. start, each from its own snapshot. */
static pb_action *unwind(pb_revolve *s, pb_action *out, const pb_action *end)
{
    uint64_t room = (uint64_t)(end - out) / 3, count = s->place < room ? s->place : room;
    uint64_t n = s->start + s->place, stop = n - count;
    uint32_t slot = s->at_slot + (uint32_t)s->place;
    while (n > stop) {
        out = load(out, --n, --slot, PB_ACTION_MOVE);
        out = pbi_put_reverse(out, n);
    }
    s->place -= count;
    if (s->place == 0)
        s->phase = POP;
    return out;
}

/* STAR, r = 2: a snapshot after every second step, and three steps for the last slot. */
static pb_action *climb_twos(pb_revolve *s, pb_action *out, const pb_action *end)
{
    uint32_t last = s->first_slot + s->slots - 1, slot = s->at_slot + (uint32_t)s->place;
    uint64_t n = s->start + 2 * s->place;
    for (; slot < last && out < end; n += 2)
        out = keep(out, n, n + 2, slot++);
    s->place = slot - s->at_slot;
    if (slot < last || end - out < MIN_ROOM)
        return out;
    out = keep(out, n, n + 2, slot);
    out = pbi_put_reverse_last(out, n + 2, s->steps);
    out = load(out, n, slot, PB_ACTION_COPY);
    out = pbi_put_advance(out, n, n + 1);
    out = pbi_put_reverse(out, n + 1);
    out = load(out, n, slot, PB_ACTION_MOVE);
    s->phase = UNWIND_TWOS;
    return pbi_put_reverse(out, n);
}

static pb_action *unwind_twos(pb_revolve *s, pb_action *out, const pb_action *end)
{
    uint64_t room = (uint64_t)(end - out) / 7, count = s->place < room ? s->place : room;
    uint64_t n = s->start + 2 * s->place, stop = n - 2 * count;
    uint32_t slot = s->at_slot + (uint32_t)s->place;
    while (n > stop) {
        n -= 2;
        out = load(out, n, --slot, PB_ACTION_COPY);
        out = pbi_put_advance(out, n, n + 1);
        out = pbi_put_reverse(out, n + 1);
        out = load(out, n, slot, PB_ACTION_MOVE);
        out = pbi_put_reverse(out, n);
    }
    s->place -= count;
    if (s->place == 0)
        s->phase = POP;
    return out;
}

/* One slot: the steps before start+length, the last first, each from the segment's start. */
static pb_action *returns(pb_revolve *s, pb_action *out, const pb_action *end)
{
    for (; s->length > 1; s->length--) {
        if (end - out < MIN_ROOM)
            return out;
        out = load(out, s->start, s->at_slot, PB_ACTION_COPY);
        out = pbi_put_advance(out, s->start, s->start + s->length - 1);
        out = pbi_put_reverse(out, s->start + s->length - 1);
    }
    if (end - out < MIN_ROOM)
        return out;
    s->phase = POP;
    out = load(out, s->start, s->at_slot, PB_ACTION_MOVE);
    return pbi_put_reverse(out, s->start);
}

/* A segment is done: returns to the left part that waits below it. */
static pb_action *pop(pb_revolve *s, pb_action *out, const pb_action *end)
{
    while (end - out >= MIN_ROOM) {
        if (s->at_slot == s->first_slot) {
            s->phase = s->ends ? ENDING : OVER;
            return out;
        }
        const struct pb_revolve_level *left = &s->level[--s->at_slot - s->first_slot];
        if (left->length > 1) {
            s->start = left->start;
            s->length = left->length;
            s->reps = left->reps;
            s->shape = left->shape;
            s->stored = true;
            s->phase = ENTER;
            return load(out, s->start, s->at_slot, PB_ACTION_COPY);
        }
        out = load(out, left->start, s->at_slot, PB_ACTION_MOVE);
        out = pbi_put_reverse(out, left->start);
    }
    return out;
}

/* At least one action, unless the stream is over; room is at least MIN_ROOM. */
static size_t produce(void *stream, pb_action *actions, size_t room)
{
    pb_revolve *s = stream;
    pb_action *out = actions, *end = actions + room;
    while (end - out >= MIN_ROOM && s->phase != OVER) {
        switch (s->phase) {
        case ENTER: out = enter(s, out, end); break;
        case CLIMB: out = climb(s, out, end); break;
        case UNWIND: out = unwind(s, out, end); break;
        case CLIMB_TWOS: out = climb_twos(s, out, end); break;
        case UNWIND_TWOS: out = unwind_twos(s, out, end); break;
        case RETURNS: out = returns(s, out, end); break;
        case POP: out = pop(s, out, end); break;
        default:
            out = pbi_put_end(out, s->steps, PB_ACTION_END_REVERSE);
            s->phase = OVER;
            break;
        }
    }
    return (size_t)(out - actions);
}

size_t pb_revolve_next_many(pb_revolve *stream, pb_action *actions, size_t room)
{
    return pbi_queue_read(&stream->queue, produce, stream, actions, room);
}

bool pb_revolve_fill(pb_revolve *stream) { return pbi_queue_fill(&stream->queue, produce, stream); }

void pbi_revolve_start(pb_revolve *s, uint64_t start, uint64_t length, uint32_t slots)
{
    uint64_t used = length - 1 < slots ? length - 1 : slots; /* more are never used */
    s->slots = used ? (uint32_t)used : 1;
    s->at_slot = s->first_slot;
    s->start = start;
    s->length = length;
    s->reps = pbi_binomial_of(length, s->slots).reps;
    s->shape = shape_of(length, s->slots, (int64_t)s->reps);
    s->stored = false;
    s->phase = ENTER;
}

pb_status pb_revolve_init(pb_context *ctx, uint64_t steps, uint64_t snapshots, pb_arena *arena, pb_revolve *out)
{
    pb_revolve_cost cost;
    pb_status status = pb_revolve_count(ctx, steps, snapshots, &cost);
    if (status != PB_OK)
        return status;
    uint64_t slots = snapshots < steps ? snapshots : steps;
    if (slots > UINT32_MAX)
        return pbi_fail(ctx, PB_ERANGE, "%" PRIu64 " snapshots are too many for a stream; use fewer than 2^32", slots);
    struct pb_revolve_level *level = NULL;
    if (cost.repetitions > 1 && !(level = pb_arena_alloc(arena, slots, sizeof *level)))
        return PB_ENOMEM;
    memset(out, 0, sizeof *out);
    out->steps = steps;
    out->level = level;
    out->ends = true;
    if (steps) {
        pbi_revolve_start(out, 0, steps, (uint32_t)slots);
        return PB_OK;
    }
    out->phase = ENDING;
    pbi_put_end(out->queue.action, steps, PB_ACTION_END_FORWARD);
    out->queue.count = 1;
    return PB_OK;
}
