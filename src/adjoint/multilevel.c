/* multilevel.c -- executes a plan for several storage levels as a stream of actions.
 *
 * A segment is at a level k with c free slots there: multilevel.h explains the decisions in its row. If a segment
 * is left to the pool of levels that cost nothing, a stream of binomial checkpointing produces its actions.
 * Segments whose start is stored in a slot wait on a stack; the right part of each comes first.
 */
#include "adjoint/multilevel.h"
#include "adjoint/action_put.h"
#include "adjoint/binomial.h"

#include "base/context.h"

#include <inttypes.h>
#include <string.h>

enum { ENTER, POOL, POP, OVER };

/* The remaining part of a segment whose start is in slot c of level k, counted from the last. */
struct pb_waiting {
    uint64_t start, length, c;
    uint32_t k;
};

static uint32_t split_of(const pbi_levels *levels, uint32_t k, uint64_t c, uint64_t length)
{
    return pbi_levels_row(levels, k, c)[length] & ~PBI_STORE_HERE;
}

/* Slots are used in order from the first; c of them are free. */
static uint32_t slot_of(const pbi_levels *levels, uint32_t k, uint64_t c)
{
    return (uint32_t)(levels->plan[k].slots - c);
}

static pb_action *split(pb_multilevel *s, pb_action *out, bool stored)
{
    const pbi_levels *levels = s->levels;
    uint64_t j = split_of(levels, s->k, s->c, s->length);
    out = stored
              ? pbi_put_advance(out, s->start, s->start + j)
              : pbi_put_forward(out, s->start, s->start + j, levels->plan[s->k].storage, slot_of(levels, s->k, s->c));
    s->waiting[s->depth++] = (struct pb_waiting){s->start, j, s->c, s->k};
    s->start += j;
    s->length -= j;
    s->c--;
    s->phase = ENTER;
    return out;
}

/* Leaves the segment to the next faster level, finally to the pool. */
static void go_faster(pb_multilevel *s)
{
    s->phase = ENTER;
    if (s->k > 1) {
        s->c = s->levels->plan[--s->k].slots;
        return;
    }
    pbi_revolve_start(&s->pool, s->start, s->length, (uint32_t)s->levels->pool_slots);
    s->phase = POOL;
}

/* A segment whose start is not stored. */
static pb_action *enter(pb_multilevel *s, pb_action *out)
{
    if (s->length == 1) {
        s->phase = POP;
        return pbi_put_reverse_last(out, s->start, s->steps);
    }
    if (s->k && s->c && pbi_levels_row(s->levels, s->k, s->c)[s->length] & PBI_STORE_HERE)
        return split(s, out, false);
    go_faster(s);
    return out;
}

/* Returns to the waiting segment: reads its start, for the last time if the slot is no longer needed. */
static pb_action *pop(pb_multilevel *s, pb_action *out)
{
    if (s->depth == 0) {
        s->phase = OVER;
        return pbi_put_end(out, s->steps, PB_ACTION_END_REVERSE);
    }
    const struct pb_waiting *w = &s->waiting[--s->depth];
    s->start = w->start;
    s->length = w->length;
    s->k = w->k;
    s->c = w->c;
    bool last = s->length == 1 || split_of(s->levels, s->k, s->c, s->length) == 0;
    out = pbi_put_load(out, s->start, s->levels->plan[s->k].storage, slot_of(s->levels, s->k, s->c),
                       last ? PB_ACTION_MOVE : PB_ACTION_COPY);
    if (s->length == 1)
        return pbi_put_reverse(out, s->start);
    if (!last)
        return split(s, out, true);
    go_faster(s);
    return out;
}

/* The pool's slots belong to one level after the other. */
static void name_storage(const pb_multilevel *s, pb_action *a)
{
    uint8_t *storage = a->from == PB_STORAGE_RAM ? &a->from : a->to == PB_STORAGE_RAM ? &a->to : NULL;
    for (uint32_t i = 0; storage && i + 1 < s->levels->pool_levels && a->slot >= s->pool_slots[i]; i++) {
        a->slot -= (uint32_t)s->pool_slots[i];
        ++*storage;
    }
}

static size_t read_pool(pb_multilevel *s, pb_action *actions, size_t room)
{
    size_t count = pb_revolve_next_many(&s->pool, actions, room);
    for (size_t i = 0; i < count && s->levels->pool_levels > 1; i++)
        name_storage(s, &actions[i]);
    if (count < room)
        s->phase = POP;
    return count;
}

static size_t produce(void *stream, pb_action *actions, size_t room)
{
    pb_multilevel *s = stream;
    pb_action *out = actions, *end = actions + room;
    while (end - out >= PBI_MIN_ROOM && s->phase != OVER)
        out = s->phase == POOL  ? out + read_pool(s, out, (size_t)(end - out))
              : s->phase == POP ? pop(s, out)
                                : enter(s, out);
    return (size_t)(out - actions);
}

size_t pb_multilevel_next_many(pb_multilevel *stream, pb_action *actions, size_t room)
{
    return pbi_queue_read(&stream->queue, produce, stream, actions, room);
}

bool pb_multilevel_fill(pb_multilevel *stream) { return pbi_queue_fill(&stream->queue, produce, stream); }

static pb_status take_memory(pb_context *ctx, const pb_multilevel_spec *spec, pb_arena *arena, pb_multilevel *s)
{
    uint64_t waiting = 0, steps = spec->steps;
    for (uint32_t k = 1; k <= s->levels->count; k++)
        waiting += s->levels->plan[k].slots;
    waiting = waiting < steps ? waiting : steps; /* they start at different states */
    if (s->levels->pool_slots > UINT32_MAX)
        return pbi_fail(ctx, PB_ERANGE, "%" PRIu64 " slots are too many for a stream; use fewer than 2^32",
                        s->levels->pool_slots);
    /* If every state has a slot nothing waits; one record, so that no allocation is empty. */
    uint64_t pool = s->levels->pool_slots + 1 < steps ? s->levels->pool_slots : 0;
    s->waiting = pb_arena_alloc(arena, waiting + 1, sizeof *s->waiting);
    s->pool.level = pb_arena_alloc(arena, pool + 1, sizeof *s->pool.level);
    return s->waiting && s->pool.level ? PB_OK : PB_ENOMEM;
}

pb_status pb_multilevel_init(pb_context *ctx, const pb_multilevel_spec *spec, pb_arena *arena, pb_multilevel *out)
{
    pbi_levels *levels = pb_arena_alloc(arena, 1, sizeof *levels);
    if (!levels)
        return PB_ENOMEM;
    pb_status status = pbi_levels_plan(ctx, spec, arena, levels);
    if (status != PB_OK)
        return status;
    pb_multilevel s = {.cost = levels->cost, .steps = spec->steps, .length = spec->steps, .levels = levels};
    status = take_memory(ctx, spec, arena, &s);
    if (status != PB_OK)
        return status;
    s.pool.steps = spec->steps;
    for (uint32_t i = 0; i < levels->pool_levels; i++)
        s.pool_slots[i] = spec->level[i].slots;
    s.k = levels->count;
    s.c = s.k ? levels->plan[s.k].slots : 0;
    *out = s;
    if (spec->steps == 0) {
        out->phase = POP;
        pbi_put_end(out->queue.action, 0, PB_ACTION_END_FORWARD);
        out->queue.count = 1;
    }
    return PB_OK;
}
