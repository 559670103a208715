/* live_table.h -- the states that a search has met: a hash table by content, and a heap of those to expand. */
#ifndef PBI_PLAN_STATESPACE_LIVE_TABLE_H
#define PBI_PLAN_STATESPACE_LIVE_TABLE_H

#include "base/arena.h"
#include "plan/statespace/set.h"

#define PBI_LIVE_NONE UINT32_MAX

typedef struct pbi_live_state {
    pbi_set set;
    uint64_t done; /* work from the start to this state */
    uint64_t key;  /* priority: small keys are expanded first */
    uint32_t parent;
    uint8_t node; /* the computation that led here */
    bool closed;
} pbi_live_state;

typedef struct pbi_live_turn {
    uint64_t key, tie;
    uint32_t state;
} pbi_live_turn;

typedef struct pbi_live_table {
    pb_arena *arena;
    pbi_live_state *state;
    size_t room, heap_room;
    uint32_t count, heap_count;
    uint32_t *slot; /* state_slots.h */
    uint32_t slot_count;
    pbi_live_turn *heap;
} pbi_live_table;

/* False when memory is exhausted, here and below. */
bool pbi_live_table_init(pbi_live_table *t, pb_arena *arena);
/* Forgets all states, keeps the memory. */
void pbi_live_table_clear(pbi_live_table *t);
uint64_t pbi_live_table_bytes(const pbi_live_table *t);

/* PBI_LIVE_NONE when it is not in the table. */
uint32_t pbi_live_table_find(const pbi_live_table *t, pbi_set set);
/* Adds a state that is not in the table. */
bool pbi_live_table_add(pbi_live_table *t, pbi_set set, uint32_t *out);
/* Queue it under its key; small ties first. */
bool pbi_live_table_push(pbi_live_table *t, uint32_t state, uint64_t tie);
/* The next state to expand, now closed; PBI_LIVE_NONE when there is none. */
uint32_t pbi_live_table_pop(pbi_live_table *t);

#endif
