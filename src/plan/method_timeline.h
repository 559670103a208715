/* method_timeline.h -- a sequence of computations that can be changed in the middle, with its memory kept up to date.
 *
 * Time is a row of slots, most of them empty; a computation sits in a slot. A value is there from the slot that makes it
 * to the last slot that reads it before its node is computed again. Inserting or removing one computation
 * changes memory on a few ranges of slots; blocks of slots that stay under the cap are changed as a whole.
 *
 *     pbi_timeline t;
 *     pbi_timeline_init(&t, ctx, game, arena, computations);
 *     pbi_timeline_load(&t, events, count);
 *     if (pbi_timeline_insert(&t, v, slot)) ... t.work, t.excess ...
 *
 * Given values are made in slot 0. Everything is a function of which node sits in which slot, so a change is undone by
 * its reverse.
 */
#ifndef PBI_METHOD_TIMELINE_H
#define PBI_METHOD_TIMELINE_H

#include "plan/strategy.h"

#define PBI_EMPTY UINT32_MAX

/* The slots of one node, ascending; `last` are the last slots that read the value made there. A by-product shares its
 * node's slots; its last is the slot before when it is not made at all. */
typedef struct pbi_copies {
    uint32_t *slot, *last;
    uint32_t count, room;
} pbi_copies;

typedef struct pbi_timeline {
    pb_context *ctx;
    const pb_graph *g;
    pb_arena *arena;
    uint32_t slots;
    pb_node *event;   /* per slot, PBI_EMPTY for none */
    int32_t *memory;  /* per slot, without what its block has in `shift`; far below zero where nothing is computed */
    int32_t *extra;   /* per slot: workspace of its computation, less what runs in place */
    int32_t *shift;   /* per block of slots: to be added to each */
    int32_t *highest; /* per block: no slot of it is above this, without `shift` */
    pbi_copies *copy; /* per node */
    int32_t *size;    /* per node, in units of `unit`, rounded up */
    uint32_t *where;  /* slots with computations, in no order */
    uint32_t *index;  /* per slot: its place in `where` */
    uint32_t filled;
    int32_t cap;
    uint64_t excess; /* sum over computations of the memory above the cap */
    uint64_t work;
    uint64_t unit; /* what all sizes are multiples of, or larger where numbers would not fit */
    bool failed;   /* memory was exhausted: nothing can be done any more */
} pbi_timeline;

/* For up to `most` computations at a time. False when memory is exhausted. */
bool pbi_timeline_init(pbi_timeline *t, pb_context *ctx, const pb_game *game, uint64_t cap, pb_arena *arena,
                       uint32_t most);

/* Replaces what is there by these computations, evenly spread. False when memory is exhausted. */
bool pbi_timeline_load(pbi_timeline *t, const pb_node *events, uint32_t count);
/* The computations in order; `events` has room for `filled`. */
void pbi_timeline_read(const pbi_timeline *t, pb_node *events);
/* Another cap for the same computations. */
void pbi_timeline_set_cap(pbi_timeline *t, uint64_t cap);

/* Compute v in this empty slot. False, and nothing has changed, when an input was not made before or memory is
 * exhausted. */
bool pbi_timeline_insert(pbi_timeline *t, pb_node v, uint32_t slot);
/* Remove the computation in this slot. False, and nothing has changed, when a reader would be left without it. */
bool pbi_timeline_remove(pbi_timeline *t, uint32_t slot);

/* Which copy of v (or of its node) is there for a reader at `slot`? PBI_EMPTY: none. */
uint32_t pbi_timeline_copy(const pbi_timeline *t, pb_node v, uint32_t slot);
/* Peak memory, rounded up to multiples of `unit`. O(slots). */
uint64_t pbi_timeline_peak(const pbi_timeline *t);

#endif
