/* placed.h -- a plan for a block of memory: what is computed when, and where every value is.
 *
 * Problem     a plan within its cap as a sum of sizes may need a larger block, because of gaps between addresses.
 * Idea        play a known plan in a block of exactly the cap (placer.h): where no gap is large enough, evict adjacent
 *             values that are cheap to recompute. Vary placements at random and keep what does not cost more.
 * Invariants  the result's addresses are within the cap; the cheapest plan so far is kept; equal seed and effort give
 *             equal plans.
 * Cost        O(computations x values in memory) for each plan that is played; thousands of plans a second for hundreds
 *             of nodes.
 * Source      eviction of adjacent tensors and both ends of the block: Coop (Zhang et al., NeurIPS 2023), which plans
 *             during the run. Playing a known plan, and the search over placements, are ours.
 * Limits      the remat game without borrowed memory and recipes. Values are not moved, and the order of the plan that
 *             is played does not change.
 */
#ifndef PBI_PLAN_PLACED_PLACED_H
#define PBI_PLAN_PLACED_PLACED_H

#include "pebble/schedule.h"

typedef struct pbi_placed_options {
    uint64_t align; /* of addresses; a power of two */
    uint64_t seed;
    uint64_t effort; /* computations to play in all */
    uint64_t below;  /* only plans with less work than this; UINT64_MAX: any */
} pbi_placed_options;

typedef struct pbi_placed {
    bool any; /* a plan was found */
    pb_moves moves;
    uint64_t *offset; /* of each lifetime, in the order of pb_lifetimes_make */
    uint32_t count;
    uint64_t size, work; /* of the block, of all computations */
} pbi_placed;

/* Whether plans of this game can be placed. */
bool pbi_placed_applies(const pb_game *game);

/* Plans for a block of game->cap, from the computations of a legal plan, whose own cap may be larger or smaller.
 *   returns  PB_OK also if none was found, and after a stop with the best plan so far */
pb_status pbi_placed_search(pb_context *ctx, const pb_game *game, const pb_moves *start,
                            const pbi_placed_options *options, pb_arena *result, pbi_placed *out);

#endif
