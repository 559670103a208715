/* pack_search.h -- what the files of the search share: tables that stay, orders, and the state of what is placed. */
#ifndef PBI_PACK_SEARCH_H
#define PBI_PACK_SEARCH_H

#include "base/rng.h"
#include "pack/pack_parts.h"

#define PBI_NO_PLACE UINT32_MAX

/* Two places that live at the same time somewhere: the one with the lower offset has to leave the other one that much room. */
typedef struct pbi_neighbour {
    uint32_t place;
    uint64_t over;  /* it lies at least this much above the offset of the one whose neighbour it is, */
    uint64_t under; /* or that one lies at least this much above its own */
} pbi_neighbour;

typedef struct pbi_pack_tables {
    uint32_t *neighbour_start; /* per place, count + 1 */
    pbi_neighbour *neighbour;
    uint32_t *member_start, *member; /* per section: places */
    uint32_t *kind;                  /* per place: the first one of the same times and sizes */
} pbi_pack_tables;

/* *fit is false where there are so many neighbours that a search makes no sense. */
pb_status pbi_pack_tables_make(pb_context *ctx, const pbi_places *p, pb_arena *arena, pbi_pack_tables *out, bool *fit);

/* What is placed, and what is known of the rest. */
typedef struct pbi_pack_state {
    const pbi_places *p;
    const pbi_pack_tables *t;
    uint64_t cap;
    uint32_t *order, *rank; /* places in the order in which they are tried at one offset, and where each stands there */
    uint32_t *twin;         /* the place of the same kind that must be placed before, or PBI_NO_PLACE */
    uint8_t *placed;
    uint8_t *late;     /* to come, and its turn at `rest` is over: it must rest on something that is to come as well */
    uint64_t *rest;    /* where a place would rest on those placed; of those placed: their offset */
    uint64_t *low;     /* to come: no offset below this is possible */
    uint64_t *to_come; /* per section: sizes of what is not placed */
    uint64_t *conflicts; /* per section: how often it was too full */
    uint64_t steps;      /* places, neighbours and sections looked at: the effort */
} pbi_pack_state;

/* Part of what is to come: places of some sections that nothing else to come lives in. All of it lies above `floor`, or at it and
 * later in the order than `after`. */
typedef struct pbi_pack_part {
    const uint32_t *place;
    uint32_t count, first, last; /* sections first .. last-1 */
    uint64_t floor;
    uint32_t after; /* a rank */
} pbi_pack_part;

/* Can the part be solved, as far as is easily seen? False is proved. */
bool pbi_pack_can_fit(pbi_pack_state *s, const pbi_pack_part *part);

/* ---- one order at a time ---- */

typedef struct pbi_ranked_place {
    double key[3];
    uint32_t place;
} pbi_ranked_place;

typedef struct pbi_pack_span {
    uint32_t from, to;    /* of the pool: places, in the order in which they are tried */
    uint32_t first, last; /* sections */
} pbi_pack_span;

/* A part at hand, and the place that is tried first in it. Then the rest falls into parts again, solved one after the other; those that
 * are solved stay on the stack, so that the stack has one pbi_pack_frame for each place that has its offset. */
typedef struct pbi_pack_frame {
    uint32_t parent; /* on the stack */
    pbi_pack_span part;
    uint32_t chosen;                       /* the place that is being tried */
    uint64_t tried_at;                     /* its offset, */
    uint32_t tried_rank;                   /* and its rank: candidates come after both */
    uint64_t ceiling;                      /* candidates are below it */
    uint32_t children, child_count, child; /* of `children`: the parts that are left, and the one at hand */
    uint32_t pool_at, children_at, change_at;
} pbi_pack_frame;

/* What a rest was before it changed. */
typedef struct pbi_pack_change {
    uint32_t place;
    uint64_t rest;
} pbi_pack_change;

typedef struct pbi_pack_finder {
    pb_context *ctx;
    pb_arena *arena;
    pbi_pack_state s;
    pbi_pack_frame *stack;
    uint32_t depth;
    uint32_t *pool;
    pbi_pack_span *children;
    pbi_pack_change *log; /* rests before they changed; no more than there are neighbours */
    uint32_t pool_count, children_count, log_count;
    size_t pool_room, children_room;
    uint32_t *crossing;       /* per section: places that go on to the next one, of what is to come */
    uint32_t *cut;            /* the same of all places */
    pbi_ranked_place *ranked; /* scratch */
} pbi_pack_finder;

/* The sections by the order at hand, with a limit on placements and on steps. PBI_PACKED: `rest` has the offsets. */
pb_status pbi_pack_run(pbi_pack_finder *f, const pbi_pack_span *sections, uint64_t limit, uint64_t most_steps,
                       pbi_packed *out);

/* Marks where a place goes on from a section to the next, and counts such places for sections first .. last-1. */
static inline void pbi_crossing_add(const pbi_places *p, uint32_t place, uint32_t *crossing)
{
    crossing[pbi_place_from(p, place)]++;
    crossing[pbi_place_to(p, place) - 1]--;
}
static inline void pbi_crossing_sum(uint32_t *crossing, uint32_t first, uint32_t last)
{
    for (uint32_t s = first + 1; s < last; s++)
        crossing[s] += crossing[s - 1];
}

/* ---- orders ---- */

enum { PBI_PACK_ORDERS = 14 };
/* The order number `which`: the first ones plain, later ones blurred at random. `scratch` has an entry for each place. */
void pbi_pack_order(pbi_pack_state *s, uint32_t which, pbi_rng *rng, pbi_ranked_place *scratch);

#endif
