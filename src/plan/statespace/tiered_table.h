/* tiered_table.h -- the states of the tiered game that a search has met, and a heap of those to expand. */
#ifndef PBI_PLAN_STATESPACE_TIERED_TABLE_H
#define PBI_PLAN_STATESPACE_TIERED_TABLE_H

#include "plan/statespace/tiered.h"

#define PBI_TIER_NO_STATE UINT32_MAX

typedef struct pbi_tier_met {
    uint64_t done; /* work and io from the start to this state */
    uint32_t parent;
    bool closed;
} pbi_tier_met;

typedef struct pbi_tier_turn {
    uint64_t key, tie;
    uint32_t state;
} pbi_tier_turn;

typedef struct pbi_tier_table {
    pb_arena *arena;
    unsigned words; /* of a state */
    uint64_t *word;
    pbi_tier_met *met;
    uint32_t count, heap_count;
    size_t word_room, room, heap_room;
    uint32_t *slot; /* state_slots.h */
    uint32_t slot_count;
    pbi_tier_turn *heap;
} pbi_tier_table;

/* False when memory is exhausted, here and below. */
bool pbi_tier_table_init(pbi_tier_table *t, unsigned tiers, pb_arena *arena);
uint64_t pbi_tier_table_bytes(const pbi_tier_table *t);
/* PBI_TIER_NO_STATE when it is not in the table. */
uint32_t pbi_tier_table_find(const pbi_tier_table *t, const pbi_tier_state *s);
/* Finds or adds the state; a new one has the maximum cost. */
bool pbi_tier_table_find_or_add(pbi_tier_table *t, const pbi_tier_state *s, uint32_t *out);
void pbi_tier_table_get(const pbi_tier_table *t, uint32_t state, pbi_tier_state *out);
/* Queue it: small keys first, of those small ties. */
bool pbi_tier_table_push(pbi_tier_table *t, uint32_t state, uint64_t key, uint64_t tie);
/* Removes and closes the next state; PBI_TIER_NO_STATE when there is none. */
uint32_t pbi_tier_table_pop(pbi_tier_table *t, uint64_t *key);

#endif
