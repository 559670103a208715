/* cut_network.h -- the state of memory at a node's first computation, as a cut. docs/bounds.md has the proof.
 *
 * At the first computation of z every other needed value is absent, kept, recomputed later, or not computed before.
 * Each value has a vertex `there` (kept or computed later), each computed node has a vertex `again` (computed
 * later) and a vertex `fresh` (not computed before). A vertex on the roots' side of the cut is true. An implication
 * between two of them is an arc without limit; keeping costs the price of memory, recomputing costs work.
 */
#ifndef PBI_CUT_NETWORK_H
#define PBI_CUT_NETWORK_H

#include "bound/cut_flow.h"
#include "bound/cut_rate.h"
#include "pebble/game.h"

/* What is decided about a value at the first computation of z. */
enum { PBI_CUT_OPEN, PBI_CUT_HELD, PBI_CUT_GONE };

typedef struct pbi_cut_network {
    const pb_game *game;
    pbi_flow flow;
    uint32_t *keep_arc; /* of a computed value: there -> again of its maker */
    uint32_t *work_arc; /* of a computed node: again -> fresh */
    int64_t *base;      /* rooms before any flow, except of keep and work arcs */
    int64_t *work;      /* scaled cost of each node; PBI_FLOW_INF: it cannot be recomputed */
    int64_t total_work; /* no labelling does more; PBI_FLOW_INF: unknown */
    int bits;           /* max bits of a sum of scaled work */
    int shift;          /* work is scaled by 2^shift */
    int64_t unit;       /* the scaled work of every labelling is a multiple of it */
    uint8_t *settled;   /* of each value, PBI_CUT_* */
    uint8_t *side;      /* of each node: its relation to z */
    pb_node *stack;

    pb_node z;
    pb_node until;      /* only what is computed and read up to its first computation counts; PB_NO_NODE: everything */
    uint8_t *within;    /* of each node: it is needed for `until` */
    uint64_t free_size; /* of the cap, minus z, its inputs and workspace; assumes the largest in-place saving */
    uint64_t saved;     /* that saving */
    uint64_t required_size; /* of all values that must be kept or recomputed */
    bool fits;              /* false: not even the working set of z fits */

    /* Of linked networks, NULL in others. */
    uint32_t *link_arc; /* of each needed value: from its own root to `there` */
    int64_t *toll;      /* of each value: the price of keeping it, in addition to that of memory; 0 to 2^bits */
    int64_t *bounty;    /* of each value: the price of its absence; 0 to 2^bits */
} pbi_cut_network;

/* One labelling: its scaled work and the size of what it keeps. */
typedef struct pbi_cut {
    int64_t work;
    uint64_t size;
} pbi_cut;

/* The game's cap may be PB_UNLIMITED. PB_ENOMEM, PB_ECANCELLED. */
pb_status pbi_cut_network_init(pb_context *ctx, pbi_cut_network *net, pb_arena *arena, const pb_game *game);
/* The same with tolls and bounties, all 0. For games of up to PBI_CUT_LINKED nodes; work is scaled less. */
#define PBI_CUT_LINKED 8192
pb_status pbi_cut_network_init_linked(pb_context *ctx, pbi_cut_network *net, pb_arena *arena, const pb_game *game);
/* Selects the first computation of z, which is needed and computed. All other values are undecided, except that
 * those larger than the free memory are gone. `until` is PB_NO_NODE or must depend on z. */
void pbi_cut_network_at(pbi_cut_network *net, pb_node z);
/* Whether v depends on z, or z on v. */
bool pbi_cut_network_after(const pbi_cut_network *net, pb_node v);
bool pbi_cut_network_before(const pbi_cut_network *net, pb_node v);
/* Sets marks[x] to 1 for the values that may be needed after z, to 0 for others. */
void pbi_cut_network_mark_needed(pbi_cut_network *net, uint8_t *marks);
/* Whether x is needed and `there` of x is not fixed. */
bool pbi_cut_network_chooses(const pbi_cut_network *net, pb_node x);
/* `there` of x must be true from now on; undo by restoring the number of roots. */
void pbi_cut_network_require(pbi_cut_network *net, pb_node x);
/* Whether `there` of x is true in the labelling of a full flow. */
bool pbi_cut_network_there(const pbi_cut_network *net, pb_node x);
/* Sets the rooms for a price, without flow. */
void pbi_cut_network_price(pbi_cut_network *net, pbi_rate rate);
/* Sets the rooms for a higher price, keeping the flow. */
void pbi_cut_network_raise(pbi_cut_network *net, pbi_rate from, pbi_rate to);
/* Sets the rooms for counting what cannot be recomputed: sizes in units of 2^size_shift, all other work is free. */
void pbi_cut_network_weigh(pbi_cut_network *net, unsigned size_shift);
/* Reads the labelling of a full flow; kept[v] becomes 1 for kept values, 0 for the others. */
void pbi_cut_network_read(const pbi_cut_network *net, pbi_rate rate, pbi_cut *cut, uint8_t *kept);
/* Scaled work, rounded up to a possible value. */
int64_t pbi_cut_network_round(const pbi_cut_network *net, int64_t scaled);
/* Work at the graph's scale, rounded up. */
uint64_t pbi_cut_network_work(const pbi_cut_network *net, int64_t scaled);

#endif
