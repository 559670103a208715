/* memory_slots.h -- memory over a row of slots, most of them empty: ranges are raised and lowered, and the sum of what
 * is above the cap in slots that are in use, and on wish the flux, are always known.
 *
 * Blocks of slots that stay under the cap are changed as a whole. Memory is in 32-bit units so large that the sums of a
 * block stay in 32 bits: PBI_SLOTS_MAX in all.
 */
#ifndef PBI_PLAN_ANNEAL_MEMORY_SLOTS_H
#define PBI_PLAN_ANNEAL_MEMORY_SLOTS_H

#include "pebble/base.h"

#define PBI_SLOTS_MAX (UINT64_C(1) << 23)

typedef struct pbi_memory_slots {
    uint32_t slots, room; /* in use now, at most; whole blocks */
    int32_t *memory;      /* per slot, without what its block has in `shift`; far below zero where the slot is empty */
    int32_t *shift;       /* per block of slots: to be added to each */
    int32_t *highest;     /* per block: no slot of it is above this, without `shift` */
    double *time;         /* per slot: how long it lasts; NULL when flux is not asked for */
    double *time_here;    /* per block: the sum */
    int32_t cap;
    uint64_t excess; /* sum over slots in use of the memory above the cap */
    double flux;     /* sum over slots in use of memory times time */
} pbi_memory_slots;

/* All slots empty, memory zero. `slots` is rounded up. False when memory is exhausted. */
bool pbi_slots_init(pbi_memory_slots *p, pb_arena *arena, uint32_t slots, bool with_flux);
/* Starts over with so many slots, or as many as there is room for. */
void pbi_slots_clear(pbi_memory_slots *p, uint32_t slots);
/* Takes the memory of each slot as it was written to p->memory, and which slots are in use (used[slot] != UINT32_MAX, and
 * slot 0), and finds everything else anew. */
void pbi_slots_settle(pbi_memory_slots *p, const uint32_t *used);
void pbi_slots_set_cap(pbi_memory_slots *p, int32_t cap);

/* Adds to slots from .. to, both included; to one slot. */
void pbi_slots_add(pbi_memory_slots *p, uint32_t from, uint32_t to, int32_t add);
void pbi_slots_add_at(pbi_memory_slots *p, uint32_t slot, int32_t add);
/* A slot comes into use, lasting `time`; goes out of use. */
void pbi_slots_use(pbi_memory_slots *p, uint32_t slot, double time);
void pbi_slots_empty(pbi_memory_slots *p, uint32_t slot);

int32_t pbi_slots_peak(const pbi_memory_slots *p);
/* The first slot from .. to, both included, that is in use and above the cap; UINT32_MAX when there is none. */
uint32_t pbi_slots_over(const pbi_memory_slots *p, uint32_t from, uint32_t to);

#endif
