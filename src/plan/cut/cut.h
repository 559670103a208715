/* cut.h -- program order, split at its peak: what to keep across the split, by a priced minimum cut.
 *
 * Every value computed before the split and needed behind it is either kept, at a price for its size, or recomputed,
 * at its cost, and then its inputs are needed too. For one price of memory the cheapest choice is a minimum cut.
 *
 * With recipes, each value in front has one way to come back: from its own inputs, or by its cheapest recipe.
 *
 *     pbi_cutter c;
 *     pbi_cutter_init(ctx, &c, game, arena);
 *     pbi_cutter_use(&c, PBI_CUTTER_ALL_RECIPES);
 *     pbi_cutter_anchor(&c, 4);
 *     pbi_cutter_run(&c, price, &done);      -> c.kept
 *     pbi_cutter_replay(&c, &sequence);
 */
#ifndef PBI_PLAN_CUT_CUT_H
#define PBI_PLAN_CUT_CUT_H

#include "bound/cut_flow.h"
#include "plan/sequence/sequence.h"

/* Which values come back by recipe. */
typedef enum pbi_cutter_recipes {
    PBI_CUTTER_FEW_RECIPES, /* those that cannot be recomputed */
    PBI_CUTTER_ALL_RECIPES  /* all that have one */
} pbi_cutter_recipes;

typedef struct pbi_cutter {
    pb_context *ctx;
    const pb_game *game;
    uint32_t split;     /* places of the order before it are in front; the last of them has the peak */
    uint32_t *place;    /* per node: place of its producer in the order; UINT32_MAX: given or not needed */
    pb_arena *arena;    /* of the network */
    uint8_t *by;        /* per value in front: the recipe by which it comes back, 0: none */
    uint8_t *stuck;     /* per node or value with a recipe: not recomputed, or others could not come back */
    pbi_flow flow;      /* vertex 2v: v is needed behind the split; 2v + 1: v or its node is recomputed there */
    int64_t *base;      /* capacities before any flow and without prices */
    uint32_t *keep_arc; /* per value in front: needed -> its producer is recomputed */
    double scale;       /* factor applied to work */

    pb_node *anchor; /* values that alone cross a place in front */
    uint32_t anchor_count;
    uint64_t *anchor_cost; /* work since the anchor before */

    uint8_t *fixed;   /* per node in front: may not be recomputed */
    uint8_t *asked;   /* per value in front: a node behind the split reads it, or it is kept to the end */
    uint8_t *at_peak; /* per value: the computation at the peak produces or reads it, so it is resident then anyway */
    uint8_t *kept;    /* per value: the result of the last cut */
    uint8_t *done;    /* of the replay, per node or value with a recipe in front: recomputed by now */
    uint32_t *stack, *next;
    size_t front_events; /* of the replay: those in front of the split */
} pbi_cutter;

pb_status pbi_cutter_init(pb_context *ctx, pbi_cutter *c, const pb_game *game, pb_arena *arena);
/* Chooses the recipes, before anything else is called. */
pb_status pbi_cutter_use(pbi_cutter *c, pbi_cutter_recipes which);
/* One in every `every` anchors may not be recomputed, to limit what is rebuilt at a time; 0: all may. */
void pbi_cutter_anchor(pbi_cutter *c, uint32_t every);
/* The cheapest choice for this price of memory, in work per unit of size; early values count as larger by up to the
 * fraction `tilt`. *done is false when the price is absurdly high. PB_OK, PB_ECANCELLED. */
pb_status pbi_cutter_run(pbi_cutter *c, double price, double tilt, bool *done);
/* The choice for an unlimited price: keeps nothing that can be recomputed. */
void pbi_cutter_drop(pbi_cutter *c);
/* The computations of that choice: program order, with what a node behind the split needs recomputed right before
 * it. */
pb_status pbi_cutter_replay(pbi_cutter *c, pbi_sequence *out);

#endif
