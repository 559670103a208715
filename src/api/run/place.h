/* place.h -- a plan for a block of memory, from one that fits as a sum of sizes only. */
#ifndef PBI_API_RUN_PLACE_H
#define PBI_API_RUN_PLACE_H

#include "pebble/api.h"

typedef struct pbi_place_options {
    const pb_game *game;
    uint64_t align, seed;
    const pb_schedule *first; /* its bounds and proof are those of the game */
} pbi_place_options;

typedef struct pbi_placed_plan {
    bool any;
    pb_plan_result planned;
    pb_packing packing;
    uint32_t count; /* of addresses */
} pbi_placed_plan;

/* Plays `base` in a block of the game's cap (plan/placed/placed.h). Not out->any: there is no such plan. The plan is
 * verified, and its addresses are checked. */
pb_status pbi_place_plan(pb_context *ctx, const pb_plan_result *base, const pbi_place_options *options,
                         pb_arena *result, pbi_placed_plan *out);

#endif
