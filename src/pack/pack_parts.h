/* pack_parts.h -- shared by the packing methods: places with their pieces on a compressed time axis. */
#ifndef PBI_PACK_PARTS_H
#define PBI_PACK_PARTS_H

#include "pebble/pack.h"

/* Part of a place: `size` bytes in the sections from .. to-1. Within a section nothing starts or ends. */
typedef struct pbi_piece {
    uint32_t from, to;
    uint64_t size;
} pbi_piece;

typedef struct pbi_places {
    uint32_t count, section_count;
    pbi_piece *piece;
    uint32_t *piece_start; /* by place, count + 1 entries: its first piece */
    uint64_t *load;        /* by section: the sum of sizes */
    uint64_t *length;      /* by section: its duration */
    uint64_t *size;        /* by place: of its largest piece */
    uint64_t most_load;
} pbi_places;

/* PB_ERANGE: sums of sizes pass 2^63. */
pb_status pbi_places_make(pb_context *ctx, const pb_lifetimes *lives, pb_arena *arena, pbi_places *out);

static inline uint32_t pbi_place_from(const pbi_places *p, uint32_t place)
{
    return p->piece[p->piece_start[place]].from;
}
static inline uint32_t pbi_place_to(const pbi_places *p, uint32_t place)
{
    return p->piece[p->piece_start[place + 1] - 1].to;
}

/* Offsets by place, and the size of the block. Keeps them if they are better than the current ones: *size is the
 * minimum so far. */
pb_status pbi_pack_greedy(pb_context *ctx, const pbi_places *p, uint64_t *offset, uint64_t *size);
/* Along the time axis into the best-fitting gap: for many places. */
pb_status pbi_pack_along(pb_context *ctx, const pbi_places *p, uint64_t *offset, uint64_t *size);

typedef enum pbi_packed { PBI_PACKED, PBI_PACK_NONE, PBI_PACK_UNKNOWN } pbi_packed;

typedef struct pbi_pack_goal {
    uint64_t cap, seed;
    uint64_t effort; /* placements to try; the search subtracts those it tried */
} pbi_pack_goal;

/* Whether there is a packing within goal->cap. PBI_PACK_NONE: it is proved that there is none. */
pb_status pbi_pack_search(pb_context *ctx, const pbi_places *p, pbi_pack_goal *goal, uint64_t *offset, pbi_packed *out);

#endif
