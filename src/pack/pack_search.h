/* pack_search.h -- shared by the files of the search: fixed tables, orders, and the state of the placement. */
#ifndef PBI_PACK_SEARCH_H
#define PBI_PACK_SEARCH_H

#include "base/rng.h"
#include "pack/pack_parts.h"

#define PBI_NO_PLACE UINT32_MAX

/* A neighbour of a place lives at the same time somewhere, so one of the two is above the other: */
typedef struct pbi_neighbour {
    uint32_t place;
    uint64_t over;  /* it is at least this much above the offset of the one whose neighbour it is, */
    uint64_t under; /* or that one is at least this much above its own */
} pbi_neighbour;

typedef struct pbi_pack_tables {
    uint32_t *neighbour_start; /* by place, count + 1 */
    pbi_neighbour *neighbour;
    uint32_t *member_start, *member; /* by section: places */
    uint32_t *kind;                  /* by place: the first one with the same times and sizes */
} pbi_pack_tables;

/* *fit is false if there are too many neighbours for a search. */
pb_status pbi_pack_tables_make(pb_context *ctx, const pbi_places *p, pb_arena *arena, pbi_pack_tables *out, bool *fit);

/* What is placed, and what is known about the other places. */
typedef struct pbi_pack_state {
    const pbi_places *p;
    const pbi_pack_tables *t;
    uint64_t cap;
    uint32_t *order, *rank; /* places in the order in which they are tried at one offset, and the rank of each */
    uint32_t *twin;         /* the equal place that must be placed before, or PBI_NO_PLACE */
    uint8_t *placed;
    uint8_t *late;       /* unplaced, and its turn at `support` is over: it must lie on another unplaced one */
    uint64_t *support;   /* the offset at which a place would lie on those placed; of placed ones: their offset */
    uint64_t *low;       /* unplaced: no offset below this is possible */
    uint64_t *to_come;   /* by section: sizes of unplaced places */
    uint64_t *conflicts; /* by section: how often it was too full */
    uint64_t steps;      /* places, neighbours and sections examined: the effort */
} pbi_pack_state;

/* A part of the unplaced places: those of some sections that are independent of all others. All are above `floor`,
 * or at it and later in the order than `after`. */
typedef struct pbi_pack_part {
    const uint32_t *place;
    uint32_t count, first, last; /* sections first .. last-1 */
    uint64_t floor;
    uint32_t after; /* a rank */
} pbi_pack_part;

/* Whether the part can be solved, by quick tests. False is proved. */
bool pbi_pack_can_fit(pbi_pack_state *s, const pbi_pack_part *part);

/* ---- one order at a time ---- */

typedef struct pbi_ranked_place {
    double key[3];
    uint32_t place;
} pbi_ranked_place;

typedef struct pbi_pack_span {
    uint32_t from, to;    /* in the pool: places, in the order in which they are tried */
    uint32_t first, last; /* sections */
} pbi_pack_span;

/* A part, and the place that is tried first in it. The remaining ones are then split into parts again, which are
 * solved one after the other. Solved parts remain on the stack, so the stack has one pbi_pack_frame per placed
 * place. */
typedef struct pbi_pack_frame {
    uint32_t parent; /* on the stack */
    pbi_pack_span part;
    uint32_t chosen;                       /* the place that is being tried */
    uint64_t tried_at;                     /* its offset, */
    uint32_t tried_rank;                   /* and its rank: candidates come after both */
    uint64_t ceiling;                      /* candidates are below it */
    uint32_t children, child_count, child; /* of `children`: the remaining parts, and the current one */
    uint32_t pool_at, children_at, change_at;
} pbi_pack_frame;

/* The previous value of a support. */
typedef struct pbi_pack_change {
    uint32_t place;
    uint64_t support;
} pbi_pack_change;

typedef struct pbi_pack_finder {
    pb_context *ctx;
    pb_arena *arena;
    pbi_pack_state s;
    pbi_pack_frame *stack;
    uint32_t depth;
    uint32_t *pool;
    pbi_pack_span *children;
    pbi_pack_change *log; /* supports before they changed; at most as many as neighbours */
    uint32_t pool_count, children_count, log_count;
    size_t pool_room, children_room;
    uint32_t *crossing;       /* by section: unplaced places that continue to the next one */
    uint32_t *cut;            /* the same for all places */
    pbi_ranked_place *ranked; /* scratch */
} pbi_pack_finder;

/* Solves the sections with the current order, within limits on placements and on steps. PBI_PACKED: `support` has
 * the offsets. */
pb_status pbi_pack_run(pbi_pack_finder *f, const pbi_pack_span *sections, uint64_t limit, uint64_t most_steps,
                       pbi_packed *out);

/* Marks where a place continues from a section to the next, and counts such places for sections first .. last-1. */
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
/* The order number `which`: the first ones are plain, later ones randomized. `scratch` has an entry per place. */
void pbi_pack_order(pbi_pack_state *s, uint32_t which, pbi_rng *rng, pbi_ranked_place *scratch);

#endif
