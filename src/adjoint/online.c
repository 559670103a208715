/* online.c -- checkpointing while the number of steps is unknown.
 *
 * Problem. Keep at most s states during the forward pass so that, whenever it ends, it can be reversed without
 * running any step too often.
 *
 * Idea. The current state has a level: usually 0; that of state 0 is above all others. A snapshot is dispensable
 * while a later one, or the current state, has a higher level. Before each step the current state is stored: in a
 * free slot, or in that of the latest dispensable snapshot. If there is neither, it is skipped, and the next state
 * is one level up. The backward pass is offline: each gap between snapshots is reversed by binomial checkpointing
 * with all slots that are free by then.
 *
 * Invariants. Without dispensable snapshots, levels never increase with time. When the level of the current state
 * rises, the lower ones just before it become dispensable: a run of neighbours, which are then used up from its
 * end, one per step. No level rises meanwhile, so there is only one such run.
 *
 * Cost. Constant time per step on average: what a rise counts, later steps use up.
 *
 * Source. Wang, Moin and Iaccarino, SIAM J. Sci. Comput. 31 (2009): whenever the forward pass ends, the maximum
 * number of runs of a step is minimal. Counted as here: at most t runs without a tape, the first run included, for
 * the smallest t with steps + 1 <= C(s+t, s). It is steps + 1, not steps, since the last step is not taped when it
 * is first run: for a schedule the end is one more step that is taped at once. In the backward pass they continue
 * with the same rule.
 *
 * Limits. The sum of all steps is not minimal: less than a third more in all tests.
 */
#include "adjoint/action_put.h"
#include "adjoint/binomial.h"

#include "base/context.h"

#include <string.h>

enum { STEPPING, BACK, GAP, OVER };
#define NONE UINT32_MAX

/* One per slot, linked by time. */
struct pb_snapshot {
    uint64_t state;
    uint64_t level;
    uint32_t before, after;
};

static void append(pb_online *s, uint32_t slot, uint64_t level)
{
    s->snapshot[slot] = (struct pb_snapshot){s->steps, level, s->newest, NONE};
    if (s->newest != NONE)
        s->snapshot[s->newest].after = slot;
    s->newest = slot;
}

/* Removes the last dispensable snapshot from the list. They are before the one whose level has risen: that is the
 * current state (NONE) until it is stored. */
static uint32_t dispense(pb_online *s)
{
    uint32_t slot = s->climber == NONE ? s->newest : s->snapshot[s->climber].before, before = s->snapshot[slot].before;
    s->snapshot[before].after = s->climber; /* state 0 is never dispensable: there is one before */
    if (s->climber == NONE)
        s->newest = before;
    else
        s->snapshot[s->climber].before = before;
    s->dispensable--;
    return slot;
}

/* Skips the current state; the next one is one level up. */
static void climb(pb_online *s)
{
    s->level++;
    s->climber = NONE;
    for (uint32_t i = s->newest; s->snapshot[i].level < s->level; i = s->snapshot[i].before)
        s->dispensable++;
}

/* The slot for the current state, or NONE. */
static uint32_t slot_for_state(pb_online *s)
{
    uint32_t slot = NONE;
    if (s->used < s->slots)
        slot = s->used++;
    else if (s->dispensable)
        slot = dispense(s);
    if (slot == NONE) {
        climb(s);
        return NONE;
    }
    append(s, slot, s->level);
    s->level = 0;
    if (s->climber == NONE)
        s->climber = slot;
    return slot;
}

bool pb_online_step(pb_online *s, pb_action *action)
{
    if (s->phase != STEPPING || s->steps == PB_REVOLVE_MAX_STEPS)
        return false;
    uint32_t slot = slot_for_state(s);
    if (slot == NONE)
        pbi_put_advance(action, s->steps, s->steps + 1);
    else
        pbi_put_forward(action, s->steps, s->steps + 1, PB_STORAGE_RAM, slot);
    s->steps++;
    return true;
}

void pb_online_end(pb_online *s)
{
    if (s->phase != STEPPING)
        return;
    s->phase = BACK;
    s->end = s->steps;
    pbi_put_end(s->queue.action, s->steps, PB_ACTION_END_FORWARD);
    s->queue.count = 1;
    uint32_t place = s->used;
    for (uint32_t i = s->newest; i != NONE; i = s->snapshot[i].before)
        s->slot[--place] = i;
    for (uint32_t i = s->used; i < s->slots; i++)
        s->slot[i] = i;
}

/* The steps after the newest snapshot are next. */
static pb_action *next_gap(pb_online *s, pb_action *out)
{
    if (s->newest == NONE) {
        s->phase = OVER;
        return pbi_put_end(out, s->steps, PB_ACTION_END_REVERSE);
    }
    const struct pb_snapshot *p = &s->snapshot[s->newest];
    uint64_t length = s->end - p->state;
    uint32_t place = --s->used;
    out = pbi_put_load(out, p->state, PB_STORAGE_RAM, s->newest, length == 1 ? PB_ACTION_MOVE : PB_ACTION_COPY);
    s->end = p->state;
    s->newest = p->before;
    if (length == 1)
        return pbi_put_reverse(out, p->state);
    s->gap.first_slot = place;
    pbi_revolve_start(&s->gap, p->state, length, s->slots - place);
    s->gap.stored = true;
    s->phase = GAP;
    return out;
}

static size_t read_gap(pb_online *s, pb_action *actions, size_t room)
{
    size_t count = pb_revolve_next_many(&s->gap, actions, room);
    for (size_t i = 0; i < count; i++)
        if (actions[i].from == PB_STORAGE_RAM || actions[i].to == PB_STORAGE_RAM)
            actions[i].slot = s->slot[actions[i].slot];
    if (count < room)
        s->phase = BACK;
    return count;
}

static size_t produce(void *stream, pb_action *actions, size_t room)
{
    pb_online *s = stream;
    pb_action *out = actions, *end = actions + room;
    while (end - out >= PBI_MIN_ROOM && s->phase != OVER && s->phase != STEPPING)
        out = s->phase == GAP ? out + read_gap(s, out, (size_t)(end - out)) : next_gap(s, out);
    return (size_t)(out - actions);
}

size_t pb_online_next_many(pb_online *stream, pb_action *actions, size_t room)
{
    return pbi_queue_read(&stream->queue, produce, stream, actions, room);
}

bool pb_online_fill(pb_online *stream) { return pbi_queue_fill(&stream->queue, produce, stream); }

pb_status pb_online_init(pb_context *ctx, uint32_t snapshots, pb_arena *arena, pb_online *out)
{
    if (snapshots == 0)
        return pbi_fail(ctx, PB_EINVAL, "an online schedule needs at least one snapshot, for state 0; add one");
    struct pb_snapshot *snapshot = pb_arena_alloc(arena, snapshots, sizeof *snapshot);
    uint32_t *slot = pb_arena_alloc(arena, snapshots, sizeof *slot);
    struct pb_revolve_level *level = pb_arena_alloc(arena, snapshots, sizeof *level);
    if (!snapshot || !slot || !level)
        return PB_ENOMEM;
    memset(out, 0, sizeof *out);
    out->slots = snapshots;
    out->newest = out->climber = NONE;
    out->level = UINT64_MAX;
    out->snapshot = snapshot;
    out->slot = slot;
    out->gap.level = level;
    out->gap.steps = UINT64_MAX; /* the forward run has already ended */
    return PB_OK;
}
