/* state_slots.h -- finds states by their words: a hash table with open addressing.
 * Included by the table of each exact search, which defines TABLE, a struct with arena, count, slot and slot_count; the
 * number of words of a state, WORDS(table); and words_of(table, state). */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 10 };

static inline uint32_t hash_words(const uint64_t *words, unsigned count)
{
    uint64_t h = 0;
    for (unsigned i = 0; i < count; i++) {
        h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return (uint32_t)(h * UINT64_C(0xbf58476d1ce4e5b9) >> 32);
}

static inline bool same_words(const uint64_t *a, const uint64_t *b, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* A slot has a state + 1, or 0. There is a power of two of them, at most two thirds full. */
static inline bool slots_init(TABLE *t)
{
    t->slot_count = FIRST_SLOTS;
    t->slot = pb_arena_zero(t->arena, FIRST_SLOTS, sizeof *t->slot);
    return t->slot != NULL;
}

/* The slot of a state, or the empty one where it belongs. */
static inline uint32_t slot_of(const TABLE *t, const uint64_t *words)
{
    uint32_t at = hash_words(words, WORDS(t)) & (t->slot_count - 1);
    while (t->slot[at] && !same_words(words_of(t, t->slot[at] - 1), words, WORDS(t)))
        at = (at + 1) & (t->slot_count - 1);
    return at;
}

/* Makes room for one more state. False when memory is exhausted. */
static inline bool slots_reserve(TABLE *t)
{
    if (t->count < t->slot_count / 3 * 2)
        return true;
    size_t old = t->slot_count * sizeof *t->slot;
    uint32_t *slot = t->slot_count > UINT32_MAX / 2 ? NULL : pbi_arena_grow(t->arena, t->slot, old, old * 2);
    if (!slot)
        return false;
    memset(slot, 0, old * 2);
    t->slot = slot;
    t->slot_count *= 2;
    for (uint32_t i = 0; i < t->count; i++)
        t->slot[slot_of(t, words_of(t, i))] = i + 1;
    return true;
}
