/* table.h -- the states that one side of a search has met, and a heap of those to expand. */
#ifndef PBI_PLAN_REVERSIBLE_EXACT_TABLE_H
#define PBI_PLAN_REVERSIBLE_EXACT_TABLE_H

#include "base/arena.h"
#include "plan/reversible/exact/exact.h"

#define PBI_REV_NO_STATE UINT32_MAX

typedef struct pbi_rev_state {
    uint64_t set, done; /* done: work from this side's end to this state */
    uint32_t parent;
    uint32_t closed; /* 0 or 1 */
} pbi_rev_state;

typedef struct pbi_rev_turn {
    uint64_t key;
    uint32_t tie, state;
} pbi_rev_turn;

typedef struct pbi_rev_table {
    pb_arena *arena;
    pbi_rev_state *state;
    size_t room, heap_room;
    uint32_t count, heap_count;
    uint32_t *slot; /* plan/statespace/state_slots.h */
    uint32_t slot_count;
    pbi_rev_turn *heap;
} pbi_rev_table;

/* False when memory is exhausted, here and below. */
bool pbi_rev_table_init(pbi_rev_table *t, pb_arena *arena);
uint64_t pbi_rev_table_bytes(const pbi_rev_table *t);
/* PBI_REV_NO_STATE when it is not in the table. */
uint32_t pbi_rev_table_find(const pbi_rev_table *t, uint64_t set);
/* Prefetches the slots of all these states at once, so that the processor waits for memory once instead of for each.
 * The result has no meaning. */
uint32_t pbi_rev_table_prefetch(const pbi_rev_table *t, const pbi_rev_move *moves, unsigned count);
/* Finds or adds the state; a new one has the maximum work. */
bool pbi_rev_table_find_or_add(pbi_rev_table *t, uint64_t set, uint32_t *out);
/* Queue it; of equal keys the one with the most work done is next. */
bool pbi_rev_table_push(pbi_rev_table *t, uint32_t state, uint64_t key);
/* The next state, and its key; PBI_REV_NO_STATE when there is none. It is not removed. */
uint32_t pbi_rev_table_next(pbi_rev_table *t, uint64_t *key);
/* Removes and closes it. */
void pbi_rev_table_close(pbi_rev_table *t);

#endif
