/* equal.h -- the tables for adjoint chains of equal steps. For the parts of chain/equal only.
 *
 * A segment is `length` steps from its left end x_i on, with gradients i+length-1 .. i still to be computed. A table
 * row has the least cost of every length for one state:
 *     held    values in fast memory to the left of the segment, including its left end if that is held to the end
 *     layer   values in each slow tier that has a cap, in the same way, as one number
 *     left    where the left end is: held; or in a slow tier and also in fast memory now (copied) or not (stored)
 *     kind    where the right end is, which only matters if a gradient reads its output
 * If no right end is worth a load, values in slow memory come before those that are held (docs/proofs/chain.md):
 * then the rows of held values need no slow memory, and those of a left end in slow memory are for held = 0 only.
 * Every part of a split is a segment in such a state, so rows are computed from rows; the plan is found by
 * backtracking.
 */
#ifndef PBI_PLAN_CHAIN_EQUAL_H
#define PBI_PLAN_CHAIN_EQUAL_H

#include "plan/chain/chain.h"
#include "plan/sequence/sequence.h"

#define PBI_EQUAL_NEVER (UINT64_MAX / 4)

/* The right end is not in memory; not in memory and there is no gradient yet; in fast memory; then for each tier: in
 * that tier, or in both memories. */
enum { PBI_RIGHT_BARE, PBI_RIGHT_FIRST, PBI_RIGHT_HELD, PBI_RIGHT_AWAY, PBI_RIGHT_BOTH };
enum { PBI_RIGHT_KINDS = PBI_RIGHT_AWAY + 2 * PB_MAX_TIERS };
/* Held; then for each tier copied and stored: first such that the value may leave the tier once it is held, then
 * such that it stays in the tier to be the right end of the part in front. */
enum { PBI_LEFT_HELD, PBI_LEFT_COPIED, PBI_LEFT_STORED, PBI_LEFT_KINDS = 1 + 4 * PB_MAX_TIERS };

typedef struct pbi_equal_tier {
    uint64_t store, load; /* price of a value */
    uint32_t slots;       /* values that fit; UINT32_MAX: no cap */
    uint32_t stride;      /* what one value adds to the layer; 0 without a cap */
    uint8_t number;       /* in the game, from 1 */
    bool serves_right;    /* loading a right end is cheaper than recomputing it */
} pbi_equal_tier;

/* How far a row has a shape that saves work: it is convex before length `bend` and never falls before length `fall`. */
typedef struct pbi_equal_form {
    uint32_t bend, fall;
} pbi_equal_form;

typedef struct pbi_equal {
    pb_context *ctx;
    pbi_chain c;
    uint64_t room;     /* cap without fixed_size */
    uint32_t max_held; /* values that fit at once and are useful */
    bool origin;       /* x_0 in a slow tier has rows of its own, at held = max_held + 1: it cannot be overwritten */
    bool sorted;       /* behind a held value nothing is stored: no right end is worth a load */
    uint32_t tier_count, layers;
    pbi_equal_tier tiers[PB_MAX_TIERS];

    int16_t row[PBI_LEFT_KINDS][PBI_RIGHT_KINDS]; /* its place in a block, -1: not used */
    uint32_t held_rows, slow_rows;                /* in a block of `held` values, and in one of none */
    uint64_t **block;                             /* by held and layer */
    pbi_equal_form **form;                        /* by held and layer, then row */
    uint64_t cost;                                /* of the whole chain, without its gradients */
    uint64_t work;                                /* number of splits tried */
    uint64_t limit;                               /* on `work` */
} pbi_equal;

/* One way to split a segment: the part behind gets row `behind`, the part in front row `before`. */
typedef struct pbi_equal_split {
    const uint64_t *behind, *before;
    const pbi_equal_form *behind_form, *before_form;
    uint64_t price;                          /* of storing the value at the split */
    uint32_t at;                             /* the best place to split the previous length */
    bool one_step;                           /* only the first step can be run */
    uint8_t behind_left, before_left, right; /* their states; right: of the part in front */
    uint32_t behind_held, behind_layer;
} pbi_equal_split;
enum { PBI_EQUAL_SPLITS = 1 + 2 * PB_MAX_TIERS };

/* ---- states (equal_state.c) ---- */

/* Are there rows of this left end in the block? */
bool pbi_equal_has(const pbi_equal *t, uint32_t held, uint32_t left, uint32_t kind);
uint32_t pbi_equal_rows(const pbi_equal *t, uint32_t held);
uint32_t pbi_equal_layers(const pbi_equal *t, uint32_t held);
uint32_t pbi_equal_longest(const pbi_equal *t, uint32_t held);
uint64_t *pbi_equal_row(const pbi_equal *t, uint32_t held, uint32_t layer, uint32_t left, uint32_t kind);
pbi_equal_form *pbi_equal_form_of(const pbi_equal *t, uint32_t held, uint32_t layer, uint32_t left, uint32_t kind);
/* Does the state occur: are its ends possible with these numbers of values, within the caps of their tiers? */
bool pbi_equal_occurs(const pbi_equal *t, uint32_t held, uint32_t layer, uint32_t left, uint32_t kind);
/* The cost of a single step whose left end is held. */
uint64_t pbi_equal_one_step(const pbi_equal *t, uint32_t held, uint32_t kind);
/* Can a stored left end be loaded? */
bool pbi_equal_can_load(const pbi_equal *t, uint32_t held, uint32_t kind);
/* The kinds that a right end can become when one memory frees it. Returns their number, at most 2. */
uint32_t pbi_equal_freed_kinds(const pbi_equal *t, uint32_t kind, uint32_t less[2]);
/* Updates held and layer for a copied left end that is held to the end from now on. */
void pbi_equal_hold(const pbi_equal *t, uint32_t *held, uint32_t *layer, uint32_t left);
/* All ways to split a segment of two steps or more. */
uint32_t pbi_equal_splits(const pbi_equal *t, uint32_t held, uint32_t layer, uint32_t left, uint32_t kind,
                          pbi_equal_split out[PBI_EQUAL_SPLITS]);
static inline uint32_t pbi_equal_tier_of(uint32_t left) { return (left - PBI_LEFT_COPIED) / 4; }
static inline bool pbi_equal_is_stored(uint32_t left) { return left && (left - PBI_LEFT_COPIED) % 2; }

/* ---- the tables (equal_fill.c) ---- */

/* Lays out and fills all rows. PB_ELIMIT when the work passes t->limit. */
pb_status pbi_equal_fill(pbi_equal *t, pb_arena *arena);
/* Can a split of `length` steps cost `target`, if none costs less? Then split->at is its place. */
bool pbi_equal_meets(pbi_equal *t, pbi_equal_split *split, uint32_t length, uint64_t target);

/* ---- the plan (equal_walk.c) ---- */

/* The cost of the whole chain, and where x_0 is kept at first. */
uint64_t pbi_equal_cost(const pbi_equal *t, uint32_t *left, uint32_t *held, uint32_t *layer);
pb_status pbi_equal_walk(pbi_equal *t, pb_arena *arena, uint8_t *tier_of, pbi_sequence *s);

/* ---- Revolve's own case (equal_closed.c) ---- */

/* Steps in place, gradients that read inputs only and take no room, no slow memory. */
bool pbi_equal_is_closed(const pbi_equal *t);
/* Its plan by closed form, for a cap that allows one. */
pb_status pbi_equal_closed(pbi_equal *t, const pb_graph *g, pbi_plan *plan);

#endif
