/* cut.h -- the program as written, split at its peak: what to keep across the split, by a priced minimum cut.
 *
 * Every value made before the split and wanted behind it is kept, at a price for its size, or computed once more, at its
 * cost, and then its inputs are wanted too. For one price of memory the cheapest choice is a minimum cut.
 *
 *     pbi_cutter c;
 *     pbi_cutter_init(ctx, &c, game, arena);
 *     pbi_cutter_anchor(&c, 4);
 *     pbi_cutter_run(&c, price, &done);      -> c.kept
 *     pbi_cutter_replay(&c, &sequence);
 */
#ifndef PBI_PLAN_CUT_CUT_H
#define PBI_PLAN_CUT_CUT_H

#include "bound/cut_flow.h"
#include "plan/sequence/sequence.h"

typedef struct pbi_cutter {
    pb_context *ctx;
    const pb_game *game;
    uint32_t split;     /* places of the order before it are in front, the peak the last of them */
    uint32_t *place;    /* per node: of its maker in the order; UINT32_MAX: given or not needed */
    pbi_flow flow;      /* vertex 2v: v is wanted behind the split; 2v + 1: node v is computed there once more */
    int64_t *base;      /* rooms before any flow and without prices */
    uint32_t *keep_arc; /* per value in front: wanted -> its maker computed once more */
    double scale;       /* work is scaled by it */

    pb_node *anchor; /* values that alone cross a place in front */
    uint32_t anchor_count;
    uint64_t *anchor_cost; /* work since the anchor before */

    uint8_t *fixed;   /* per node in front: may not be computed once more */
    uint8_t *asked;   /* per value in front: a node behind the split reads it, or it stays */
    uint8_t *at_peak; /* per value: the peak's computation makes or reads it, so that it is there then anyway */
    uint8_t *kept;    /* per value: the answer of the last cut */
    uint8_t *done;    /* of the replay, per node in front: computed once more by now */
    uint32_t *stack, *next;
    size_t front_events; /* of the replay: those in front of the split */
} pbi_cutter;

pb_status pbi_cutter_init(pb_context *ctx, pbi_cutter *c, const pb_game *game, pb_arena *arena);
/* Of each `every` anchors one may not be computed once more, so that what is rebuilt at a time is short; 0: all may. */
void pbi_cutter_anchor(pbi_cutter *c, uint32_t every);
/* The cheapest choice for this price of memory, in work for a unit of size; values made early are taken to be larger by
 * up to the share `tilt`. *done is false when the price is beyond sense. PB_OK, PB_ECANCELLED. */
pb_status pbi_cutter_run(pbi_cutter *c, double price, double tilt, bool *done);
/* The choice for a price without limit: nothing is kept that can be computed once more. */
void pbi_cutter_drop(pbi_cutter *c);
/* The computations of that choice: the order as written, where a node behind the split finds what it reads, which is
 * made right before. */
pb_status pbi_cutter_replay(pbi_cutter *c, pbi_sequence *out);

#endif
