/* live_table.c -- see live_table.h. */
#include "plan/statespace/live_table.h"

#include <string.h>

#define TURN pbi_live_turn
#include "plan/statespace/turn_heap.h"

enum { FIRST_SLOTS = 1 << 10 };

static uint32_t hash(pbi_set set)
{
    uint64_t h = set.w[0] * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 29 ^ set.w[1]) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 32) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(h >> 32);
}

bool pbi_live_table_init(pbi_live_table *t, pb_arena *arena)
{
    *t = (pbi_live_table){.arena = arena, .slot_count = FIRST_SLOTS};
    t->slot = pb_arena_zero(arena, FIRST_SLOTS, sizeof *t->slot);
    return t->slot != NULL;
}

void pbi_live_table_clear(pbi_live_table *t)
{
    memset(t->slot, 0, t->slot_count * sizeof *t->slot);
    t->count = t->heap_count = 0;
}

uint64_t pbi_live_table_bytes(const pbi_live_table *t)
{
    return (uint64_t)t->count * (sizeof *t->state + 2 * sizeof *t->slot) + (uint64_t)t->heap_count * sizeof *t->heap;
}

/* The slot of a set, or the empty one where it belongs. */
static uint32_t slot_of(const pbi_live_table *t, pbi_set set)
{
    uint32_t at = hash(set) & (t->slot_count - 1);
    while (t->slot[at] && !pbi_set_equal(t->state[t->slot[at] - 1].set, set))
        at = (at + 1) & (t->slot_count - 1);
    return at;
}

uint32_t pbi_live_table_find(const pbi_live_table *t, pbi_set set)
{
    uint32_t at = slot_of(t, set);
    return t->slot[at] ? t->slot[at] - 1 : PBI_LIVE_NONE;
}

static bool widen(pbi_live_table *t)
{
    size_t old = t->slot_count * sizeof *t->slot;
    uint32_t *slot = pbi_arena_grow(t->arena, t->slot, old, old * 2);
    if (!slot)
        return false;
    memset(slot, 0, old * 2);
    t->slot = slot;
    t->slot_count *= 2;
    for (uint32_t i = 0; i < t->count; i++)
        t->slot[slot_of(t, t->state[i].set)] = i + 1;
    return true;
}

bool pbi_live_table_add(pbi_live_table *t, pbi_set set, uint32_t *out)
{
    void *states = t->state;
    if (t->count == PBI_LIVE_NONE - 1 || (t->count * 2 >= t->slot_count && !widen(t)) ||
        !pbi_arena_reserve(t->arena, &states, &t->room, t->count + 1, sizeof *t->state))
        return false;
    t->state = states;
    t->state[t->count] = (pbi_live_state){.set = set, .parent = PBI_LIVE_NONE};
    *out = t->count;
    t->slot[slot_of(t, set)] = ++t->count;
    return true;
}

bool pbi_live_table_push(pbi_live_table *t, uint32_t state, uint64_t tie)
{
    pbi_live_turn turn = {t->state[state].key, tie, state};
    return turn_push(t->arena, &t->heap, &t->heap_room, &t->heap_count, turn);
}

uint32_t pbi_live_table_pop(pbi_live_table *t)
{
    while (t->heap_count) {
        pbi_live_turn turn = turn_pop(t->heap, &t->heap_count);
        pbi_live_state *s = &t->state[turn.state];
        if (s->closed || s->key != turn.key) /* reached by a cheaper path since */
            continue;
        s->closed = true;
        return turn.state;
    }
    return PBI_LIVE_NONE;
}
