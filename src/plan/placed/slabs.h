/* slabs.h -- a block of memory with values at fixed addresses, in the order of addresses. */
#ifndef PBI_PLAN_PLACED_SLABS_H
#define PBI_PLAN_PLACED_SLABS_H

#include "pebble/graph.h"

typedef struct pbi_slab {
    uint64_t at, size;
    pb_node node;   /* PB_NO_NODE: fixed memory */
    uint32_t until; /* when it is expected to end */
} pbi_slab;

typedef struct pbi_slabs {
    pbi_slab *slab; /* ascending by address */
    uint32_t count;
    uint64_t size;
} pbi_slabs;

/* Where a value is put if several gaps are large enough. */
typedef enum pbi_fit {
    PBI_FIT_BEST_LOW,  /* the smallest gap, at its low end */
    PBI_FIT_LOW,       /* the lowest gap, at its low end */
    PBI_FIT_HIGH,      /* the highest gap, at its high end */
    PBI_FIT_BEST_HIGH, /* the smallest gap, at its high end */
    PBI_FIT_ALIKE,     /* next to the value that ends at about the same time */
    PBI_FIT_BY_LIFE,   /* long lives low, short ones high */
    PBI_FIT_BY_SIZE,   /* large values low, small ones high */
    PBI_FIT_COUNT
} pbi_fit;

/* What is to be placed. */
typedef struct pbi_slab_request {
    uint64_t size;
    uint32_t until;
    pbi_fit fit; /* not BY_LIFE, BY_SIZE: the caller has decided */
} pbi_slab_request;

/* An address in a gap; false if no gap is large enough. */
bool pbi_slab_find(const pbi_slabs *b, const pbi_slab_request *r, uint64_t *at);
/* The slabs first .. last-1, adjacent and cheapest together, whose removal makes a gap of this size. `cost` is by slab;
 * INFINITY: it must stay. False if there are none. */
bool pbi_slab_window(const pbi_slabs *b, uint64_t size, const double *cost, uint32_t *first, uint32_t *last);

void pbi_slab_insert(pbi_slabs *b, const pbi_slab *slab);
/* The slab at this address, which exists. */
uint32_t pbi_slab_index(const pbi_slabs *b, uint64_t at);
void pbi_slab_remove(pbi_slabs *b, uint32_t first, uint32_t last);
/* The gap above a slab. */
uint64_t pbi_slab_room_above(const pbi_slabs *b, uint32_t slab);

#endif
