/* walk.h -- iterates over a certified schedule move by move, for all reports.
 *
 *     pbi_walk w;
 *     if (pbi_walk_init(&w, certificate, &scratch) != PB_OK) ...
 *     while (pbi_walk_next(&w))
 *         use(w.step, w.move, w.during);
 *
 * The schedule is known to be legal, so nothing is checked here.
 */
#ifndef PBI_WALK_H
#define PBI_WALK_H

#include "base/out.h"
#include "pebble/verify.h"

#define PBI_NO_STEP UINT64_MAX

typedef struct pbi_walk {
    const pb_game *game;
    const pb_graph *graph;
    const pb_moves *moves;
    bool *borrowed; /* by node; NULL if nothing is borrowed */
    bool *resident; /* in fast memory: after the move, or before the first one */

    /* The current move. */
    pb_step step;
    pb_move move;
    uint64_t cost;       /* its work or io */
    bool io;             /* the cost is io */
    bool makes;          /* its node became resident (a computation that only makes by-products: false) */
    const pb_node *also; /* by-products made */
    uint32_t also_count;
    pb_node removes;                /* what stopped being resident, or PB_NO_NODE */
    uint64_t before, during, after; /* fast memory */
    uint64_t slow;                  /* all slow tiers, after the move */
    uint64_t start, end;            /* the time of the move: work and io so far */
    uint64_t work;                  /* work so far, this move included */
    pb_u128 flux;                   /* likewise */
} pbi_walk;

pb_status pbi_walk_init(pbi_walk *w, const pb_certificate *c, pb_arena *scratch);
/* The same for moves that a replay has found legal up to the cap, which the last one may exceed. */
pb_status pbi_walk_moves(pbi_walk *w, const pb_game *game, const pb_moves *moves, pb_arena *scratch);
bool pbi_walk_next(pbi_walk *w);

/* The values that a move reads: the inputs of a node that it computes or uncomputes, else none. */
const pb_node *pbi_walk_reads(const pb_graph *g, const pb_move *move, uint32_t *count);

/* The consequences of each move, by one backward pass. One entry per move:
 *   again  of what the move removes: the move that recomputes or loads it, or PBI_NO_STEP
 *   use    of what the move makes or loads: the first move that reads it, or PBI_NO_STEP */
typedef struct pbi_links {
    pb_step *again, *use;
} pbi_links;
pb_status pbi_links_make(pb_context *ctx, const pb_certificate *c, pb_arena *scratch, pbi_links *out);

/* " by inverse" or " by recipe 1", if the move computes its value by a recipe. */
void pbi_recipe_text(pbi_out *out, const pb_graph *g, const pb_move *move);

#endif
