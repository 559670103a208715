/* range_max.h -- a row of numbers with fast range maximum and range addition.
 *
 *     pbi_range_max t;
 *     if (!pbi_range_max_init(&t, arena, number, count)) ...
 *     if (pbi_range_max_find(&t, 3, 9) <= limit - 5)
 *         pbi_range_max_add(&t, 3, 9, 5);
 *
 * Places can be removed: their numbers no longer count. Every call is O(log count). A number that counts is always
 * from 0 to 2^64 - 1; intermediate sums wrap, so lowering is adding the negative.
 */
#ifndef PBI_RANGE_MAX_H
#define PBI_RANGE_MAX_H

#include "pebble/base.h"

typedef struct pbi_range_max {
    uint32_t count, leaves; /* places; blocks of places, a power of two */
    uint64_t *number;       /* by place, without what the nodes above it add */
    uint8_t *out;           /* by place: removed */
    /* By node of the tree over the blocks: added to all below; the largest of them, including it. */
    uint64_t *add, *top;
    uint8_t *some; /* by node: some place below it counts */
} pbi_range_max;

/* Takes over `number`, which must live as long as the tree. False if memory is exhausted. */
bool pbi_range_max_init(pbi_range_max *t, pb_arena *arena, uint64_t *number, uint32_t count);
/* Adds to places from .. to, inclusive; does nothing if `to` is before `from`. */
void pbi_range_max_add(pbi_range_max *t, uint32_t from, uint32_t to, uint64_t add);
/* The largest number at places from .. to, 0 if none counts. */
uint64_t pbi_range_max_find(const pbi_range_max *t, uint32_t from, uint32_t to);
/* The number at a place that counts. */
uint64_t pbi_range_max_at(const pbi_range_max *t, uint32_t place);
void pbi_range_max_take_out(pbi_range_max *t, uint32_t place);

#endif
