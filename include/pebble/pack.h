/* pack.h -- addresses for values whose lifetimes are known.
 *
 * A plan that fits as a sum of sizes needs places that do not overlap: values that live at the same time, at offsets of one
 * block of memory. What a plan needs as addresses may be more than its peak; pb_pack finds little, and says when it is the least.
 *
 *     pb_lifetimes lives;
 *     pb_packing packing;
 *     pb_lifetimes_make(ctx, game, moves, PB_ALIGN_DEFAULT, arena, &lives);
 *     pb_pack(ctx, &lives, &(pb_pack_options){.cap = cap}, arena, &packing);   // packing.offset[i] of lives.life[i]
 */
#ifndef PEBBLE_PACK_H
#define PEBBLE_PACK_H

#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Alignment of addresses unless a caller asks for another: a cache line, and what vector instructions want. */
#define PB_ALIGN_DEFAULT 64u

/* `size` bytes at times from .. to-1. */
typedef struct pb_lifetime {
    uint64_t from, to, size;
    uint32_t
        place; /* lifetimes of one place have one offset: a value and what is made over it; both are there during that move */
    pb_node node; /* whose value it is; PB_NO_NODE: workspace or fixed memory */
} pb_lifetime;

typedef struct pb_lifetimes {
    pb_lifetime *life; /* in the order of `from` */
    uint32_t count, place_count;
    uint64_t align; /* offsets are multiples of it; a power of two */
} pb_lifetimes;

/* The lifetimes of a legal schedule. Move k has the time k + 1; fixed memory and what is given are there from time 0, in the order
 * of nodes; what is there at the end lives to time count + 1. What a move takes away is there during it. What one move makes stands
 * in the order node, by-products, workspace (PB_NO_NODE). A value that is made over another one shares its place. Sizes are
 * rounded up to multiples of `align`, a power of two. Values without a size have no lifetime, and those in borrowed memory
 * neither: they are elsewhere. With `align` 1 the sizes at the time of a move sum up to the verifier's memory during it.
 *   returns PB_ERANGE where a size cannot be rounded up, or there are 2^32 lifetimes */
pb_status pb_lifetimes_make(pb_context *ctx, const pb_game *game, const pb_moves *moves, uint64_t align,
                            pb_arena *result, pb_lifetimes *out);
/* The same for the values in borrowed memory, which have addresses of their own. */
pb_status pb_lifetimes_borrowed(pb_context *ctx, const pb_game *game, const pb_moves *moves, uint64_t align,
                                pb_arena *result, pb_lifetimes *out);

typedef struct pb_pack_options {
    uint64_t cap;    /* stop at the first packing within it; PB_UNLIMITED or 0: go on to the least */
    uint64_t effort; /* steps of the search, some hundred millions in a second; 0: as many as are likely to pay */
    uint64_t seed;
} pb_pack_options;

typedef struct pb_packing {
    uint64_t *offset;     /* of each lifetime */
    uint64_t size;        /* of the block */
    uint64_t lower_bound; /* the largest sum of sizes at any time */
    bool least;           /* proved: no packing is smaller */
} pb_packing;

/* Offsets for all lifetimes, in little memory. A first lifetime that is there at all times, as fixed memory is, has the offset 0.
 *   returns PB_ERANGE where the sizes of all lifetimes together pass 2^63
 *           PB_EINVAL where lifetimes are not as above, or a size is no multiple of the alignment
 * A stop keeps the best so far. Equal seed and effort give equal offsets. */
pb_status pb_pack(pb_context *ctx, const pb_lifetimes *lives, const pb_pack_options *options, pb_arena *result,
                  pb_packing *out);

/* Do the offsets keep all lifetimes apart? Where not: *a and *b overlap, or are of one place and have two offsets, or *a == *b is not
 * aligned or passes the size. Shares no code with what makes them.
 *   returns PB_EINVAL where a lifetime is in no place, or ends before it begins */
pb_status pb_packing_check(pb_context *ctx, const pb_lifetimes *lives, const pb_packing *packing, bool *good,
                           uint32_t *a, uint32_t *b);

#ifdef __cplusplus
}
#endif
#endif
