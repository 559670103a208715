/* adjoint_search.c -- Dijkstra over (working state, contents of each level, steps left), one queue for each cost.
 *
 * Moves: run a step; run the next step to be reversed onto the tape and reverse it, which leaves no working state;
 * write the working state into a free slot of a level, or over one that is there; read any stored state.
 */
#include "support/adjoint_search.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 10, NO_STATE = 15, FIRST_SIZE = 1 << 14, MOST_COST = 40000 };

typedef struct search {
    const pb_multilevel_spec *spec;
    uint64_t size, used;
    uint64_t *key; /* open addressing, 0 is empty */
    uint64_t *cost;
    uint32_t *next;  /* in the queue of its cost */
    uint32_t *queue; /* heads by cost, 0: empty; entries are 1 + index of a copy */
    uint64_t *copy;  /* states in the queues */
    uint32_t copies, room;
} search;

/* A state: bits 0-3 working state, 4-7 steps left, then BITS bits for each level; bit 63 so that it is never 0. */
static uint64_t pack(unsigned work, unsigned left, const unsigned held[3])
{
    return UINT64_C(1) << 63 | work | left << 4 | (uint64_t)held[0] << 8 | (uint64_t)held[1] << (8 + BITS) |
           (uint64_t)held[2] << (8 + 2 * BITS);
}

static uint64_t place_of(const search *s, uint64_t key)
{
    uint64_t at = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
    for (at %= s->size; s->key[at] && s->key[at] != key;)
        at = (at + 1) % s->size;
    return at;
}

static void grow(search *s)
{
    search old = *s;
    s->size *= 2;
    s->key = calloc(s->size, sizeof *s->key);
    s->cost = malloc(s->size * sizeof *s->cost);
    for (uint64_t i = 0; i < old.size; i++)
        if (old.key[i]) {
            uint64_t at = place_of(s, old.key[i]);
            s->key[at] = old.key[i];
            s->cost[at] = old.cost[i];
        }
    free(old.key);
    free(old.cost);
}

static uint64_t *cost_slot(search *s, uint64_t key)
{
    uint64_t at = place_of(s, key);
    if (s->key[at])
        return &s->cost[at];
    if (s->used > s->size / 2) {
        grow(s);
        at = place_of(s, key);
    }
    s->used++;
    s->key[at] = key;
    s->cost[at] = UINT64_MAX;
    return &s->cost[at];
}

static void offer(search *s, uint64_t key, uint64_t cost)
{
    uint64_t *known = cost_slot(s, key);
    if (*known <= cost || cost >= MOST_COST)
        return;
    *known = cost;
    if (s->copies + 1 >= s->room) {
        s->room = s->room * 2;
        s->copy = realloc(s->copy, s->room * sizeof *s->copy);
        s->next = realloc(s->next, s->room * sizeof *s->next);
    }
    s->copies++;
    s->copy[s->copies] = key;
    s->next[s->copies] = s->queue[cost];
    s->queue[cost] = s->copies;
}

static unsigned count_bits(unsigned x)
{
    unsigned count = 0;
    for (; x; x &= x - 1)
        count++;
    return count;
}

static void store_moves(search *s, unsigned work, unsigned left, const unsigned held[3], uint64_t cost)
{
    for (uint32_t k = 0; k < s->spec->level_count; k++) {
        const pb_level *level = &s->spec->level[k];
        unsigned now[3] = {held[0], held[1], held[2]};
        if (held[k] >> work & 1 || !level->slots)
            continue;
        if (count_bits(held[k]) < level->slots) {
            now[k] = held[k] | 1u << work;
            offer(s, pack(work, left, now), cost + level->write_cost);
            continue;
        }
        for (unsigned x = 0; x < BITS; x++)
            if (held[k] >> x & 1) {
                now[k] = (held[k] & ~(1u << x)) | 1u << work;
                offer(s, pack(work, left, now), cost + level->write_cost);
            }
    }
}

static void expand(search *s, uint64_t key, uint64_t cost)
{
    unsigned work = key & 15, left = key >> 4 & 15, held[3];
    const pb_multilevel_spec *spec = s->spec;
    for (unsigned k = 0; k < 3; k++)
        held[k] = (unsigned)(key >> (8 + k * BITS)) & ((1u << BITS) - 1);
    for (uint32_t k = 0; k < spec->level_count; k++)
        for (unsigned x = 0; x < BITS; x++)
            if (held[k] >> x & 1 && x != work)
                offer(s, pack(x, left, held), cost + spec->level[k].read_cost);
    if (work == NO_STATE)
        return;
    store_moves(s, work, left, held, cost);
    if (work + 1 < left) {
        offer(s, pack(work + 1, left, held), cost + spec->forward_cost);
    } else { /* states from the reversed step on are of no use */
        for (unsigned k = 0; k < 3; k++)
            held[k] &= (1u << work) - 1;
        offer(s, pack(NO_STATE, left - 1, held), cost + spec->forward_cost + spec->reverse_cost);
    }
}

uint64_t adjoint_search(const pb_multilevel_spec *spec)
{
    search s = {.spec = spec, .room = FIRST_SIZE, .size = FIRST_SIZE};
    s.key = calloc(s.size, sizeof *s.key);
    s.cost = malloc(s.size * sizeof *s.cost);
    s.queue = calloc(MOST_COST, sizeof *s.queue);
    s.copy = malloc(s.room * sizeof *s.copy);
    s.next = malloc(s.room * sizeof *s.next);
    unsigned nothing[3] = {0};
    uint64_t found = UINT64_MAX;
    offer(&s, pack(spec->steps ? 0 : NO_STATE, (unsigned)spec->steps, nothing), 0);
    for (uint64_t cost = 0; cost < MOST_COST && found == UINT64_MAX; cost++)
        while (s.queue[cost] && found == UINT64_MAX) {
            uint64_t key = s.copy[s.queue[cost]];
            s.queue[cost] = s.next[s.queue[cost]];
            if (*cost_slot(&s, key) != cost)
                continue;
            if ((key >> 4 & 15) == 0)
                found = cost;
            else
                expand(&s, key, cost);
        }
    free(s.key);
    free(s.cost);
    free(s.queue);
    free(s.copy);
    free(s.next);
    return found;
}
