/* memory_slots.c -- see memory_slots.h. */
#include "plan/anneal/memory_slots.h"

#include <string.h>

enum { BLOCK = 128 };

#define ABSENT (INT32_C(1) << 28)     /* subtracted from empty slots, so that they are never above the cap */
#define NOTHING (-(INT32_C(1) << 30)) /* lower than the memory of any slot */

/* Not with ThreadSanitizer, which is not initialized yet when the loader chooses a clone. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define WIDE_LANES __attribute__((target_clones("avx2", "default")))
#else
#define WIDE_LANES
#endif

static int32_t above(int32_t x) { return x > 0 ? x : 0; }

static int32_t memory_at(const pbi_memory_slots *p, uint32_t slot) { return p->memory[slot] + p->shift[slot / BLOCK]; }

static uint64_t excess_at(const pbi_memory_slots *p, uint32_t slot)
{
    return (uint64_t)above(memory_at(p, slot) - p->cap);
}

/* Adds to the slots of one block; returns the change of excess. */
static inline int32_t add_here(int32_t *memory, uint32_t n, int32_t add, int32_t room, int32_t *highest)
{
    int32_t change = 0, top = *highest;
    for (uint32_t i = 0; i < n; i++) {
        int32_t was = memory[i], now = was + add;
        change += above(now - room) - above(was - room);
        top = now > top ? now : top;
        memory[i] = now;
    }
    *highest = top;
    return change;
}

static double time_between(const pbi_memory_slots *p, uint32_t low, uint32_t high)
{
    double sum = 0;
    for (uint32_t s = low; s <= high; s++)
        sum += p->time[s];
    return sum;
}

void pbi_slots_add_at(pbi_memory_slots *p, uint32_t slot, int32_t add)
{
    uint32_t b = slot / BLOCK;
    int32_t was = p->memory[slot], now = was + add, room = p->cap - p->shift[b];
    p->memory[slot] = now;
    p->excess += (uint64_t)(int64_t)(above(now - room) - above(was - room));
    p->highest[b] = now > p->highest[b] ? now : p->highest[b];
    if (p->time)
        p->flux += add * p->time[slot];
}

/* The whole loop in one function: a call for each block would cost as much as its slots. */
WIDE_LANES static void add_range(pbi_memory_slots *p, uint32_t from, uint32_t to, int32_t add)
{
    for (uint32_t b = from / BLOCK, end = to / BLOCK; b <= end; b++) {
        uint32_t first = b * BLOCK, last = first + BLOCK - 1, low = from > first ? from : first,
                 high = to < last ? to : last;
        bool whole = low == first && high == last;
        int32_t room = p->cap - p->shift[b];
        if (p->time)
            p->flux += add * (whole ? p->time_here[b] : time_between(p, low, high));
        if (whole && p->highest[b] + above(add) <= room) {
            p->shift[b] += add;
            continue;
        }
        if (whole)
            p->highest[b] = NOTHING; /* recomputed below */
        p->excess += (uint64_t)(int64_t)add_here(p->memory + low, high - low + 1, add, room, &p->highest[b]);
    }
}

void pbi_slots_add(pbi_memory_slots *p, uint32_t from, uint32_t to, int32_t add)
{
    if (from <= to && add)
        add_range(p, from, to, add);
}

void pbi_slots_use(pbi_memory_slots *p, uint32_t slot, double time)
{
    uint32_t b = slot / BLOCK;
    p->memory[slot] += ABSENT;
    p->excess += excess_at(p, slot);
    p->highest[b] = p->memory[slot] > p->highest[b] ? p->memory[slot] : p->highest[b];
    if (p->time) {
        p->time[slot] = time;
        p->time_here[b] += time;
        p->flux += memory_at(p, slot) * time;
    }
}

void pbi_slots_empty(pbi_memory_slots *p, uint32_t slot)
{
    p->excess -= excess_at(p, slot);
    if (p->time) {
        p->flux -= memory_at(p, slot) * p->time[slot];
        p->time_here[slot / BLOCK] -= p->time[slot];
        p->time[slot] = 0;
    }
    p->memory[slot] -= ABSENT;
}

static void find_excess(pbi_memory_slots *p)
{
    p->excess = 0;
    for (uint32_t b = 0; b < p->slots / BLOCK; b++)
        p->highest[b] = NOTHING;
    for (uint32_t s = 0; s < p->slots; s++) {
        int32_t *top = &p->highest[s / BLOCK];
        *top = p->memory[s] > *top ? p->memory[s] : *top;
        p->excess += excess_at(p, s);
    }
}

static void find_flux(pbi_memory_slots *p, const uint32_t *used)
{
    p->flux = 0;
    memset(p->time_here, 0, p->slots / BLOCK * sizeof *p->time_here);
    for (uint32_t s = 0; s < p->slots; s++) {
        p->time_here[s / BLOCK] += p->time[s];
        p->flux += used[s] == UINT32_MAX ? 0 : p->memory[s] * p->time[s];
    }
}

void pbi_slots_rebuild(pbi_memory_slots *p, const uint32_t *used)
{
    memset(p->shift, 0, p->slots / BLOCK * sizeof *p->shift);
    if (p->time)
        find_flux(p, used);
    for (uint32_t s = 1; s < p->slots; s++)
        p->memory[s] -= used[s] == UINT32_MAX ? ABSENT : 0;
    find_excess(p);
}

void pbi_slots_set_cap(pbi_memory_slots *p, int32_t cap)
{
    p->cap = cap;
    find_excess(p);
}

static uint32_t whole_blocks(uint32_t slots) { return (slots + BLOCK - 1) / BLOCK * BLOCK; }

void pbi_slots_clear(pbi_memory_slots *p, uint32_t slots)
{
    slots = whole_blocks(slots);
    p->slots = slots < p->room ? slots : p->room;
    memset(p->memory, 0, p->slots * sizeof *p->memory);
    if (p->time)
        memset(p->time, 0, p->slots * sizeof *p->time);
}

bool pbi_slots_init(pbi_memory_slots *p, pb_arena *arena, uint32_t slots, bool with_flux)
{
    *p = (pbi_memory_slots){.room = whole_blocks(slots)};
    size_t blocks = p->room / BLOCK;
    p->memory = pb_arena_alloc(arena, p->room, sizeof *p->memory);
    p->shift = pb_arena_zero(arena, blocks, sizeof *p->shift);
    p->highest = pb_arena_zero(arena, blocks, sizeof *p->highest);
    if (with_flux) {
        p->time = pb_arena_alloc(arena, p->room, sizeof *p->time);
        p->time_here = pb_arena_zero(arena, blocks, sizeof *p->time_here);
    }
    if (!p->memory || !p->shift || !p->highest || (with_flux && (!p->time || !p->time_here)))
        return false;
    pbi_slots_clear(p, slots);
    return true;
}

int32_t pbi_slots_peak(const pbi_memory_slots *p)
{
    int32_t peak = 0;
    for (uint32_t s = 0; s < p->slots; s++)
        peak = memory_at(p, s) > peak ? memory_at(p, s) : peak;
    return peak;
}

uint32_t pbi_slots_over(const pbi_memory_slots *p, uint32_t from, uint32_t to)
{
    for (uint32_t b = from / BLOCK; b <= to / BLOCK && p->excess; b++) {
        uint32_t first = b * BLOCK, last = first + BLOCK - 1;
        if (p->highest[b] + p->shift[b] <= p->cap)
            continue;
        for (uint32_t s = first < from ? from : first; s <= last && s <= to; s++)
            if (memory_at(p, s) > p->cap)
                return s;
    }
    return UINT32_MAX;
}
