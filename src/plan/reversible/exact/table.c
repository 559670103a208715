/* table.c -- see table.h. */
#include "plan/reversible/exact/table.h"

#define TURN pbi_rev_turn
#include "plan/statespace/turn_heap.h"

#define TABLE pbi_rev_table
#define WORDS(t) 1
static inline const uint64_t *words_of(const TABLE *t, uint32_t state) { return &t->state[state].set; }
#include "plan/statespace/state_slots.h"

bool pbi_rev_table_init(pbi_rev_table *t, pb_arena *arena)
{
    *t = (pbi_rev_table){.arena = arena};
    return slots_init(t);
}

uint64_t pbi_rev_table_bytes(const pbi_rev_table *t)
{
    return (uint64_t)t->count * (sizeof *t->state + 2 * sizeof *t->slot) + (uint64_t)t->heap_count * sizeof *t->heap;
}

uint32_t pbi_rev_table_find(const pbi_rev_table *t, uint64_t set)
{
    uint32_t at = slot_of(t, &set);
    return t->slot[at] ? t->slot[at] - 1 : PBI_REV_NO_STATE;
}

bool pbi_rev_table_find_or_add(pbi_rev_table *t, uint64_t set, uint32_t *out)
{
    void *states = t->state;
    if (!slots_reserve(t) || !pbi_arena_reserve(t->arena, &states, &t->room, (size_t)t->count + 1, sizeof *t->state))
        return false;
    t->state = states;
    uint32_t at = slot_of(t, &set);
    if (!t->slot[at]) {
        t->state[t->count] = (pbi_rev_state){.set = set, .done = UINT64_MAX, .parent = PBI_REV_NO_STATE};
        t->slot[at] = ++t->count;
    }
    *out = t->slot[at] - 1;
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
        at[i] = t->slot[hash_words(&moves[i].next, 1) & (t->slot_count - 1)];
    for (unsigned i = 0; i < count; i++)
        sum += at[i] ? t->state[at[i] - 1].closed : 0;
    return sum;
}
