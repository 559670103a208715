/* cut_network.h -- the state of memory at a node's first computation, as a cut. docs/bounds.md has the proof.
 *
 * At the first computation of z every other needed value is absent, kept, made again later, or not made before. Each
 * value has a vertex `there` (kept or made later), each node that is computed a vertex `again` (computed later) and a
 * vertex `fresh` (not computed before). A vertex on the roots' side of the cut is true. What one choice forces on
 * another is an arc without limit; keeping costs the price of memory, computing again costs work.
 */
#ifndef PBI_CUT_NETWORK_H
#define PBI_CUT_NETWORK_H

#include "bound/cut_flow.h"
#include "bound/cut_rate.h"
#include "pebble/game.h"

/* What is settled about a value at the first computation of z. */
enum { PBI_CUT_OPEN, PBI_CUT_HELD, PBI_CUT_GONE };

typedef struct pbi_cut_network {
    const pb_game *game;
    pbi_flow flow;
    uint32_t *keep_arc; /* of a value that is computed: there -> again of its maker */
    uint32_t *work_arc; /* of a node that is computed: again -> fresh */
    int64_t *base;      /* rooms before any flow; keep and work arcs aside */
    int64_t *work;      /* scaled cost of each node; PBI_FLOW_INF: it cannot be computed again */
    int64_t total_work; /* no labelling does more; PBI_FLOW_INF: unknown */
    int bits;           /* no sum of scaled work has more */
    int shift;          /* work is scaled by 2^shift */
    int64_t unit;       /* every labelling's scaled work is a multiple of it */
    uint8_t *settled;   /* of each value, PBI_CUT_* */
    uint8_t *side;      /* of each node, what z is to it */
    pb_node *stack;

    pb_node z;
    pb_node until;       /* what is made and read until its first computation is all that counts; PB_NO_NODE: all */
    uint8_t *within;     /* of each node: it is wanted for `until` */
    uint64_t free_size;  /* of the cap, beside z, its inputs and workspace; in place it is taken to save all it can */
    uint64_t saved;      /* what that is */
    uint64_t asked_size; /* of all values that must be kept or made again */
    bool fits;           /* false: not even z's working set does */

    /* Of linked networks, NULL in others. */
    uint32_t *link_arc; /* of each needed value: from a root of its own to `there` */
    int64_t *toll;      /* of each value: the price of keeping it, beside that of memory; 0 to 2^bits */
    int64_t *bounty;    /* of each value: the price of its not being there; 0 to 2^bits */
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
/* Look at the first computation of z, which is needed and computed. All other values are open, but those larger than
 * what is free are gone. A node other than PB_NO_NODE in `until` must depend on z. */
void pbi_cut_network_at(pbi_cut_network *net, pb_node z);
/* Does v depend on z, or z on v? */
bool pbi_cut_network_after(const pbi_cut_network *net, pb_node v);
bool pbi_cut_network_before(const pbi_cut_network *net, pb_node v);
/* Sets marks[x] to 1 for the values that may be wanted after z, to 0 for others. */
void pbi_cut_network_mark_wanted(pbi_cut_network *net, uint8_t *marks);
/* Is x there or not as the labelling likes, and is being there not for nothing? */
bool pbi_cut_network_chooses(const pbi_cut_network *net, pb_node x);
/* x must be there from now on; undo with the number of roots before. */
void pbi_cut_network_want(pbi_cut_network *net, pb_node x);
/* Is x there in the labelling of a full flow? */
bool pbi_cut_network_there(const pbi_cut_network *net, pb_node x);
/* Rooms for a price, no flow. */
void pbi_cut_network_price(pbi_cut_network *net, pbi_rate rate);
/* Rooms for a higher price, the flow stays. */
void pbi_cut_network_raise(pbi_cut_network *net, pbi_rate from, pbi_rate to);
/* Rooms for counting what cannot be computed again: sizes in units of 2^size_shift, all other work is free. */
void pbi_cut_network_weigh(pbi_cut_network *net, unsigned size_shift);
/* Read the labelling of a full flow; kept[v] is set to 1 for the values kept and to 0 for the others. */
void pbi_cut_network_read(const pbi_cut_network *net, pbi_rate rate, pbi_cut *cut, uint8_t *kept);
/* Scaled work rounded up to a possible one. */
int64_t pbi_cut_network_round(const pbi_cut_network *net, int64_t scaled);
/* Scaled work at the graph's scale, rounded up. */
uint64_t pbi_cut_network_work(const pbi_cut_network *net, int64_t scaled);

#endif
