/* live_table.c -- see live_table.h. */
#include "plan/statespace/live_table.h"

#define TURN pbi_live_turn
#include "plan/statespace/turn_heap.h"

#define TABLE pbi_live_table
#define WORDS(t) 2
static inline const uint64_t *words_of(const TABLE *t, uint32_t state) { return t->state[state].set.w; }
#include "plan/statespace/state_slots.h"

bool pbi_live_table_init(pbi_live_table *t, pb_arena *arena)
{
    *t = (pbi_live_table){.arena = arena};
    return slots_init(t);
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

uint32_t pbi_live_table_find(const pbi_live_table *t, pbi_set set)
{
    uint32_t at = slot_of(t, set.w);
    return t->slot[at] ? t->slot[at] - 1 : PBI_LIVE_NONE;
}

bool pbi_live_table_add(pbi_live_table *t, pbi_set set, uint32_t *out)
{
    void *states = t->state;
    if (!slots_reserve(t) || !pbi_arena_reserve(t->arena, &states, &t->room, (size_t)t->count + 1, sizeof *t->state))
        return false;
    t->state = states;
    t->state[t->count] = (pbi_live_state){.set = set, .parent = PBI_LIVE_NONE};
    *out = t->count;
    t->slot[slot_of(t, set.w)] = ++t->count;
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
