/* arena.h -- arenas seen from inside the library: marks, growing arrays, the context's limits. */
#ifndef PBI_ARENA_H
#define PBI_ARENA_H

#include "pebble/base.h"

/* Where an arena stands; rewinding drops all that was taken since. In between nothing from before the mark may grow:
 * its block could move away from under the mark. */
typedef struct pbi_mark {
    struct pb_block *newest;
    size_t used;
} pbi_mark;

pbi_mark pbi_arena_mark(const pb_arena *arena);
void pbi_arena_rewind(pb_arena *arena, pbi_mark mark);

/* Everything in `from` belongs to `to` from now on, as if it had been taken from there just now; `from` is empty then. Both
 * are of one context. */
void pbi_arena_adopt(pb_arena *to, pb_arena *from);

/* Grow an array that pb_arena_alloc or this call returned (or NULL) to new_bytes, contents kept. Large arrays
 * move with the allocator's resize, so doubling one leaves no holes. NULL when memory is exhausted: the old
 * array is then still valid. */
void *pbi_arena_grow(pb_arena *arena, void *old, size_t old_bytes, size_t new_bytes);

/* Room for one more of `size` bytes in an array of *room entries, *items of them allocated so far. */
bool pbi_arena_reserve(pb_arena *arena, void **items, size_t *room, size_t need, size_t size);

#endif
