/* arena.h -- arenas for use inside the library: marks, growing arrays, the context's limits. */
#ifndef PBI_ARENA_H
#define PBI_ARENA_H

#include "pebble/base.h"

/* A position in an arena; rewinding releases everything allocated since. In between nothing from before the mark may
 * grow: its block could move. */
typedef struct pbi_mark {
    struct pb_block *newest;
    size_t used;
} pbi_mark;

pbi_mark pbi_arena_mark(const pb_arena *arena);
void pbi_arena_rewind(pb_arena *arena, pbi_mark mark);

/* Everything in `from` belongs to `to` from now on, as if it had been taken from there just now; `from` is empty then.
 * Both are of one context. */
void pbi_arena_adopt(pb_arena *to, pb_arena *from);

/* Grows an array that pb_arena_alloc or this call returned (or NULL) to new_bytes, keeping its content. Large arrays
 * move with the allocator's resize, so doubling one leaves no holes. NULL if memory is exhausted: the old array is
 * then still valid. */
void *pbi_arena_grow(pb_arena *arena, void *old, size_t old_bytes, size_t new_bytes);

/* Room for `need` entries of `size` bytes in an array that has *room entries allocated. */
bool pbi_arena_reserve(pb_arena *arena, void **items, size_t *room, size_t need, size_t size);

#endif
