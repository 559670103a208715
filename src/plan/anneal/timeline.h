/* timeline.h -- a sequence of computations and loads that can be changed in the middle, with its memory kept up to
 * date.
 *
 * Time is a row of slots, most of them empty; an event, a computation or a load, is in a slot. A value is resident
 * from the slot that computes it to the last slot that reads it before it is recomputed. Inserting or removing one
 * event changes memory on a few ranges of slots (memory_slots.h).
 *
 *     pbi_timeline t;
 *     pbi_timeline_init(&t, ctx, game, arena, events);
 *     pbi_timeline_load(&t, events, count);
 *     if (pbi_timeline_insert(&t, v, slot)) ... t.work, t.profile.excess ...
 *
 * Given values are created in slot 0. Everything is a function of which event is in which slot, so a change is
 * undone by its reverse.
 */
#ifndef PBI_PLAN_ANNEAL_TIMELINE_H
#define PBI_PLAN_ANNEAL_TIMELINE_H

#include "plan/anneal/events.h"
#include "plan/anneal/memory_slots.h"

#define PBI_EMPTY UINT32_MAX

/* The copies of a value: the slot that computes each, ascending, and the last slot that reads it. A by-product has a
 * copy for each computation of its node; if that does not produce it, `last` is the slot before. */
typedef struct pbi_copies {
    uint32_t *slot, *last;
    uint32_t count, room;
} pbi_copies;

typedef struct pbi_timeline {
    pb_context *ctx;
    const pb_graph *g;
    pb_arena *arena;
    pbi_event_space events;
    pbi_memory_slots profile;
    uint32_t *event;  /* per slot: an event (events.h), PBI_EMPTY for none */
    int32_t *extra;   /* per slot: workspace of its computation, minus what is overwritten in place */
    pbi_copies *copy; /* per value */
    int32_t *size;    /* per value, in units of `unit`, rounded up */
    uint32_t *where;  /* slots with events, unordered */
    uint32_t *index;  /* per slot: its place in `where` */
    uint32_t filled;
    uint64_t work; /* work and io */
    bool fetches;  /* there may be loads or recipes */
    uint64_t unit; /* a common factor of all sizes, or larger if numbers would not fit */

    /* Slow memory; NULL without. */
    const pb_tier *tiers;
    uint8_t *tier;   /* per value, the tier that it is stored in */
    uint32_t *loads; /* per value */
    bool failed;     /* memory was exhausted: the timeline is unusable */
} pbi_timeline;

/* For up to `max_events` events at a time. False when memory is exhausted. */
bool pbi_timeline_init(pbi_timeline *t, pb_context *ctx, const pb_game *game, uint64_t cap, pb_arena *arena,
                       uint32_t max_events);

/* Replaces the contents by these events, evenly spread. False when memory is exhausted. */
bool pbi_timeline_load(pbi_timeline *t, const uint32_t *events, uint32_t count);
/* The events in order; `events` has room for `filled`. */
void pbi_timeline_read(const pbi_timeline *t, uint32_t *events);
/* Another cap for the same events. */
void pbi_timeline_set_cap(pbi_timeline *t, uint64_t cap);

/* Compute a value, or load it, in this empty slot. False, and nothing has changed, when an input (for a load or a
 * recipe: also the value) was not computed before or memory is exhausted. */
bool pbi_timeline_insert(pbi_timeline *t, uint32_t event, uint32_t slot);
/* Remove the event in this slot. False, and nothing has changed, when a reader needs it. */
bool pbi_timeline_remove(pbi_timeline *t, uint32_t slot);

/* Which copy of v does a reader at `slot` use? PBI_EMPTY: none. */
uint32_t pbi_timeline_copy(const pbi_timeline *t, pb_node v, uint32_t slot);
/* Is any result of the event in this slot read? */
bool pbi_timeline_is_read(const pbi_timeline *t, uint32_t slot);
/* The cost of loading v, with its store if it is the first load. */
uint64_t pbi_timeline_load_cost(const pbi_timeline *t, pb_node v);
/* A size in units, rounded up. */
int32_t pbi_timeline_units(const pbi_timeline *t, uint64_t size);
/* Peak memory, rounded up to multiples of `unit`. O(slots). */
uint64_t pbi_timeline_peak(const pbi_timeline *t);

#endif
