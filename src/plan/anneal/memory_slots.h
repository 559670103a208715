/* memory_slots.h -- memory over a row of slots, most of them empty. Ranges are raised and lowered; the sum of what
 * is above the cap in used slots, and optionally the flux, are always up to date.
 *
 * Blocks of slots that are under the cap are changed as a whole. Memory is in 32-bit units so large that the sums of
 * a block fit in 32 bits: PBI_SLOTS_MAX in all.
 */
#ifndef PBI_PLAN_ANNEAL_MEMORY_SLOTS_H
#define PBI_PLAN_ANNEAL_MEMORY_SLOTS_H

#include "pebble/base.h"

#define PBI_SLOTS_MAX (UINT64_C(1) << 23)

typedef struct pbi_memory_slots {
    uint32_t slots, room; /* in use now, allocated; whole blocks */
    int32_t *memory;      /* per slot, without `shift` of its block; far below zero if the slot is empty */
    int32_t *shift;       /* per block of slots: to be added to each */
    int32_t *highest;     /* per block: an upper bound on its slots, without `shift` */
    double *time;         /* per slot: how long it lasts; NULL without flux */
    double *time_here;    /* per block: the sum */
    int32_t cap;
    uint64_t excess; /* sum over slots in use of the memory above the cap */
    double flux;     /* sum over slots in use of memory times time */
} pbi_memory_slots;

/* All slots empty, memory zero. `slots` is rounded up. False when memory is exhausted. */
bool pbi_slots_init(pbi_memory_slots *p, pb_arena *arena, uint32_t slots, bool with_flux);
/* Starts over with this many slots, or as many as are allocated. */
void pbi_slots_clear(pbi_memory_slots *p, uint32_t slots);
/* Takes the memory of each slot from p->memory, and which slots are used (used[slot] != UINT32_MAX, and slot 0), and
 * recomputes everything else. */
void pbi_slots_rebuild(pbi_memory_slots *p, const uint32_t *used);
void pbi_slots_set_cap(pbi_memory_slots *p, int32_t cap);

/* Adds to slots from .. to, both included; to one slot. */
void pbi_slots_add(pbi_memory_slots *p, uint32_t from, uint32_t to, int32_t add);
void pbi_slots_add_at(pbi_memory_slots *p, uint32_t slot, int32_t add);
/* A slot becomes used, lasting `time`; becomes empty. */
void pbi_slots_use(pbi_memory_slots *p, uint32_t slot, double time);
void pbi_slots_empty(pbi_memory_slots *p, uint32_t slot);

int32_t pbi_slots_peak(const pbi_memory_slots *p);
/* The first slot from .. to, both included, that is used and above the cap; UINT32_MAX when there is none. */
uint32_t pbi_slots_over(const pbi_memory_slots *p, uint32_t from, uint32_t to);

#endif
