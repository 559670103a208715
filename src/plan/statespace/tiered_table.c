/* tiered_table.c -- see tiered_table.h. */
#include "plan/statespace/tiered_table.h"

#define TURN pbi_tier_turn
#include "plan/statespace/turn_heap.h"

#define TABLE pbi_tier_table
#define WORDS(t) ((t)->words)
static inline const uint64_t *words_of(const TABLE *t, uint32_t state) { return t->word + (size_t)state * t->words; }
#include "plan/statespace/state_slots.h"

bool pbi_tier_table_init(pbi_tier_table *t, unsigned tiers, pb_arena *arena)
{
    *t = (pbi_tier_table){.arena = arena, .words = 2 + tiers};
    return slots_init(t);
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

static bool reserve(pbi_tier_table *t)
{
    void *word = t->word, *met = t->met;
    bool ok = slots_reserve(t) &&
              pbi_arena_reserve(t->arena, &word, &t->word_room, ((size_t)t->count + 1) * t->words, sizeof *t->word);
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
    if (!reserve(t))
        return false;
    write_words(t, s, words);
    uint32_t at = slot_of(t, words);
    if (!t->slot[at]) {
        memcpy(t->word + (size_t)t->count * t->words, words, t->words * sizeof *words);
        t->met[t->count] = (pbi_tier_met){.done = PBI_TIER_NEVER, .parent = PBI_TIER_NO_STATE};
        t->slot[at] = ++t->count;
    }
    *out = t->slot[at] - 1;
    return true;
}

void pbi_tier_table_get(const pbi_tier_table *t, uint32_t state, pbi_tier_state *out)
{
    const uint64_t *words = words_of(t, state);
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
