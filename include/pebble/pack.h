/* pack.h -- addresses for values whose lifetimes are known.
 *
 * A plan that fits as a sum of sizes still needs addresses: values that live at the same time must not overlap in the
 * block of memory. The block may have to be larger than the plan's peak. pb_pack searches for a small block, and
 * reports when it is proved to be the smallest.
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

/* Default alignment of addresses: a cache line, which also suits vector instructions. */
#define PB_ALIGN_DEFAULT 64u

/* `size` bytes at times from .. to-1. */
typedef struct pb_lifetime {
    uint64_t from, to, size;
    /* Lifetimes of one place have one offset: a value and the one that overwrites it; both are in memory during that
     * move. */
    uint32_t place;
    pb_node node; /* whose value it is; PB_NO_NODE: workspace or fixed memory */
} pb_lifetime;

typedef struct pb_lifetimes {
    pb_lifetime *life; /* in the order of `from` */
    uint32_t count, place_count;
    uint64_t align; /* offsets are multiples of it; a power of two */
} pb_lifetimes;

/* The lifetimes of a legal schedule. Move k has the time k + 1. Fixed memory and given values live from time 0, in the
 * order of nodes; what is in memory at the end lives to time count + 1. A value that a move removes is still in memory
 * during it. Results of one move are in the order node, by-products, workspace (PB_NO_NODE). A value that overwrites
 * another one shares its place. Sizes are rounded up to multiples of `align`, a power of two. Values without a size
 * have no lifetime, nor have values in borrowed memory. In the timed game: in the memory of its one
 * processor; what a computation holds only while it runs lives until the first later move that starts when it has
 * ended. With `align` 1 the sizes at the time of a move add up to
 * the verifier's memory during it.
 *   returns PB_ERANGE if a size cannot be rounded up, or there are 2^32 lifetimes */
pb_status pb_lifetimes_make(pb_context *ctx, const pb_game *game, const pb_moves *moves, uint64_t align,
                            pb_arena *result, pb_lifetimes *out);
/* The same for the values in borrowed memory, which have separate addresses. */
pb_status pb_lifetimes_borrowed(pb_context *ctx, const pb_game *game, const pb_moves *moves, uint64_t align,
                                pb_arena *result, pb_lifetimes *out);

typedef struct pb_pack_options {
    uint64_t cap;    /* stop at the first packing within it; PB_UNLIMITED or 0: search for the smallest */
    uint64_t effort; /* steps of the search, some hundred million a second; 0: as many as are likely to pay off */
    uint64_t seed;
} pb_pack_options;

typedef struct pb_packing {
    uint64_t *offset;     /* of each lifetime */
    uint64_t size;        /* of the block */
    uint64_t lower_bound; /* the largest sum of sizes at any time */
    bool minimal;         /* proved: no packing is smaller */
} pb_packing;

/* Offsets for all lifetimes, in a small block. If the first lifetime covers all times, as fixed memory does, its offset
 * is 0.
 *   returns PB_ERANGE if the sizes of all lifetimes together pass 2^63
 *           PB_EINVAL if lifetimes are not as above, or a size is not a multiple of the alignment
 * A stop keeps the best packing so far. Equal seed and effort give equal offsets. */
pb_status pb_pack(pb_context *ctx, const pb_lifetimes *lives, const pb_pack_options *options, pb_arena *result,
                  pb_packing *out);

/* Checks that no two lifetimes overlap. If not *good: *a and *b overlap, or belong to one place and have two
 * offsets, or *a == *b is not aligned or passes the size. Shares no code with pb_pack.
 *   returns PB_EINVAL if a lifetime has no place, or ends before it begins */
pb_status pb_packing_check(pb_context *ctx, const pb_lifetimes *lives, const pb_packing *packing, bool *good,
                           uint32_t *a, uint32_t *b);

#ifdef __cplusplus
}
#endif
#endif
