/* table.c -- see table.h. */
#include "plan/reversible/exact/table.h"

#include <string.h>

#define TURN pbi_rev_turn
#include "plan/statespace/turn_heap.h"

enum { FIRST_SLOTS = 1 << 10 };

static uint32_t hash(uint64_t set)
{
    set = (set ^ set >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    set = (set ^ set >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(set >> 32);
}

bool pbi_rev_table_init(pbi_rev_table *t, pb_arena *arena)
{
    *t = (pbi_rev_table){.arena = arena, .slot_count = FIRST_SLOTS};
    t->slot = pb_arena_zero(arena, FIRST_SLOTS, sizeof *t->slot);
    return t->slot != NULL;
}

uint64_t pbi_rev_table_bytes(const pbi_rev_table *t)
{
    return (uint64_t)t->count * (sizeof *t->state + 2 * sizeof *t->slot) + (uint64_t)t->heap_count * sizeof *t->heap;
}

/* The slot of a set, or the empty one where it belongs. */
static uint32_t slot_of(const pbi_rev_table *t, uint64_t set)
{
    uint32_t at = hash(set) & (t->slot_count - 1);
    while (t->slot[at] && t->state[t->slot[at] - 1].set != set)
        at = (at + 1) & (t->slot_count - 1);
    return at;
}

uint32_t pbi_rev_table_find(const pbi_rev_table *t, uint64_t set)
{
    uint32_t at = slot_of(t, set);
    return t->slot[at] ? t->slot[at] - 1 : PBI_REV_NO_STATE;
}

static bool widen(pbi_rev_table *t)
{
    size_t old = t->slot_count * sizeof *t->slot;
    uint32_t *slot = t->slot_count > UINT32_MAX / 2 ? NULL : pbi_arena_grow(t->arena, t->slot, old, old * 2);
    if (!slot)
        return false;
    memset(slot, 0, old * 2);
    t->slot = slot;
    t->slot_count *= 2;
    for (uint32_t i = 0; i < t->count; i++)
        t->slot[slot_of(t, t->state[i].set)] = i + 1;
    return true;
}

bool pbi_rev_table_find_or_add(pbi_rev_table *t, uint64_t set, uint32_t *out)
{
    uint32_t at = slot_of(t, set);
    if (t->slot[at]) {
        *out = t->slot[at] - 1;
        return true;
    }
    if (t->count >= t->slot_count / 3 * 2) {
        if (!widen(t))
            return false;
        at = slot_of(t, set);
    }
    void *states = t->state;
    if (!pbi_arena_reserve(t->arena, &states, &t->room, (size_t)t->count + 1, sizeof *t->state))
        return false;
    t->state = states;
    t->state[t->count] = (pbi_rev_state){.set = set, .done = UINT64_MAX, .parent = PBI_REV_NO_STATE};
    *out = t->count;
    t->slot[at] = ++t->count;
    return true;
}

bool pbi_rev_table_push(pbi_rev_table *t, uint32_t state, uint64_t key)
{
    uint64_t done = t->state[state].done;
    pbi_rev_turn turn = {key, done < UINT32_MAX ? UINT32_MAX - (uint32_t)done : 0, state};
    return turn_push(t->arena, &t->heap, &t->heap_room, &t->heap_count, turn);
}

/* A state that was reached again by a cheaper path has a new entry before its older ones, so they find it closed. */
uint32_t pbi_rev_table_next(pbi_rev_table *t, uint64_t *key)
{
    while (t->heap_count && t->state[t->heap[0].state].closed)
        turn_pop(t->heap, &t->heap_count);
    if (!t->heap_count)
        return PBI_REV_NO_STATE;
    *key = t->heap[0].key;
    return t->heap[0].state;
}

void pbi_rev_table_close(pbi_rev_table *t)
{
    t->state[t->heap[0].state].closed = 1;
    turn_pop(t->heap, &t->heap_count);
}

uint32_t pbi_rev_table_prefetch(const pbi_rev_table *t, const pbi_rev_move *moves, unsigned count)
{
    uint32_t at[PBI_REV_BITS], sum = 0;
    count = count < PBI_REV_BITS ? count : PBI_REV_BITS;
    for (unsigned i = 0; i < count; i++)
        at[i] = t->slot[hash(moves[i].next) & (t->slot_count - 1)];
    for (unsigned i = 0; i < count; i++)
        sum += at[i] ? t->state[at[i] - 1].closed : 0;
    return sum;
}
