/* tiered_table.c -- see tiered_table.h. */
#include "plan/statespace/tiered_table.h"

#include "base/arena.h"

#include <string.h>

#define TURN pbi_tier_turn
#include "plan/statespace/turn_heap.h"

enum { FIRST_SLOTS = 1 << 10 };

bool pbi_tier_table_init(pbi_tier_table *t, unsigned tiers, pb_arena *arena)
{
    *t = (pbi_tier_table){.arena = arena, .words = 2 + tiers, .slot_count = FIRST_SLOTS};
    t->slot = pb_arena_zero(arena, FIRST_SLOTS, sizeof *t->slot);
    return t->slot != NULL;
}

uint64_t pbi_tier_table_bytes(const pbi_tier_table *t)
{
    uint64_t each = t->words * sizeof *t->word + sizeof *t->met + 2 * sizeof *t->slot;
    return t->count * each + t->heap_count * (uint64_t)sizeof *t->heap;
}

static void write_words(const pbi_tier_table *t, const pbi_tier_state *s, uint64_t *out)
{
    out[0] = s->fast;
    out[1] = s->ever;
    memcpy(out + 2, s->slow, (t->words - 2) * sizeof *out);
}

/* The slot of a state, or the empty one where it belongs. */
static uint32_t slot_of(const pbi_tier_table *t, const uint64_t *words)
{
    uint64_t h = 0;
    for (unsigned i = 0; i < t->words; i++) {
        h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    uint32_t at = (uint32_t)(h >> 20) & (t->slot_count - 1);
    size_t bytes = t->words * sizeof *words;
    while (t->slot[at] && memcmp(t->word + (size_t)(t->slot[at] - 1) * t->words, words, bytes) != 0)
        at = (at + 1) & (t->slot_count - 1);
    return at;
}

static bool widen(pbi_tier_table *t)
{
    size_t old = t->slot_count * sizeof *t->slot;
    uint32_t *slot = t->slot_count > UINT32_MAX / 2 ? NULL : pbi_arena_grow(t->arena, t->slot, old, old * 2);
    if (!slot)
        return false;
    memset(slot, 0, old * 2);
    t->slot = slot;
    t->slot_count *= 2;
    for (uint32_t i = 0; i < t->count; i++)
        t->slot[slot_of(t, t->word + (size_t)i * t->words)] = i + 1;
    return true;
}

static bool reserve(pbi_tier_table *t)
{
    void *word = t->word, *met = t->met;
    bool ok = pbi_arena_reserve(t->arena, &word, &t->word_room, ((size_t)t->count + 1) * t->words, sizeof *t->word);
    t->word = ok ? word : t->word;
    ok = ok && pbi_arena_reserve(t->arena, &met, &t->room, (size_t)t->count + 1, sizeof *t->met);
    t->met = ok ? met : t->met;
    return ok;
}

uint32_t pbi_tier_table_find(const pbi_tier_table *t, const pbi_tier_state *s)
{
    uint64_t words[2 + PB_MAX_TIERS];
    write_words(t, s, words);
    uint32_t at = slot_of(t, words);
    return t->slot[at] ? t->slot[at] - 1 : PBI_TIER_NO_STATE;
}

bool pbi_tier_table_find_or_add(pbi_tier_table *t, const pbi_tier_state *s, uint32_t *out)
{
    uint64_t words[2 + PB_MAX_TIERS];
    write_words(t, s, words);
    uint32_t at = slot_of(t, words);
    if (t->slot[at]) {
        *out = t->slot[at] - 1;
        return true;
    }
    if (t->count >= t->slot_count / 3 * 2) {
        if (!widen(t))
            return false;
        at = slot_of(t, words);
    }
    if (!reserve(t))
        return false;
    memcpy(t->word + (size_t)t->count * t->words, words, t->words * sizeof *words);
    t->met[t->count] = (pbi_tier_met){.done = PBI_TIER_NEVER, .parent = PBI_TIER_NO_STATE};
    *out = t->count;
    t->slot[at] = ++t->count;
    return true;
}

void pbi_tier_table_get(const pbi_tier_table *t, uint32_t state, pbi_tier_state *out)
{
    const uint64_t *words = t->word + (size_t)state * t->words;
    *out = (pbi_tier_state){.fast = words[0], .ever = words[1]};
    memcpy(out->slow, words + 2, (t->words - 2) * sizeof *words);
}

bool pbi_tier_table_push(pbi_tier_table *t, uint32_t state, uint64_t key, uint64_t tie)
{
    return turn_push(t->arena, &t->heap, &t->heap_room, &t->heap_count, (pbi_tier_turn){key, tie, state});
}

/* A state that was reached again by a cheaper path has a new entry before its older ones, so they find it closed. */
uint32_t pbi_tier_table_pop(pbi_tier_table *t, uint64_t *key)
{
    while (t->heap_count) {
        pbi_tier_turn first = turn_pop(t->heap, &t->heap_count);
        if (t->met[first.state].closed)
            continue;
        t->met[first.state].closed = true;
        *key = first.key;
        return first.state;
    }
    return PBI_TIER_NO_STATE;
}
