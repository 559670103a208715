/* curves.h -- extra work as an exact function of memory, the minimum of many candidates.
 *
 * A curve is a list of (need, extra) with rising need and falling extra, and samples of it at the start of every
 * slot of memory, rounded down to quanta of work. Loops over the samples find the slots in which a sum of two curves
 * can matter; only there its steps are enumerated.
 *
 *     pbi_curve_begin(c, &frame);
 *     pbi_curve_expect(c, &candidate) for every candidate, then pbi_curve_offer(c, &candidate) for every one
 *     status = pbi_curve_end(c, &curve);
 */
#ifndef PBI_PLAN_BLOCKS_CURVES_H
#define PBI_PLAN_BLOCKS_CURVES_H

#include "pebble/base.h"

typedef struct pbi_curve_step {
    uint64_t need, extra;
} pbi_curve_step;

typedef struct pbi_curve {
    pbi_curve_step *step;
    uint32_t count;
    uint32_t *cell; /* samples of slots lo .. hi - 1; never below; `tail` from hi on */
    uint32_t lo, hi, tail;
} pbi_curve;

/* fixed + a(memory - held) + b(memory), if memory is at least `need`; b NULL counts as 0. */
typedef struct pbi_candidate {
    const pbi_curve *a, *b;
    uint64_t held, need, fixed;
} pbi_candidate;

typedef struct pbi_curve_maker pbi_curve_maker;

/* slot: memory of one slot. quantum: work of one quantum, a power of two; no curve has as many as UINT32_MAX / 3 - 8
 * of them. Memory for curves comes from `arena`. NULL when memory is exhausted. */
pbi_curve_maker *pbi_curve_maker_new(pb_arena *arena, uint64_t memory, uint64_t slot, uint64_t quantum);
/* Steps enumerated so far. */
uint64_t pbi_curve_work(const pbi_curve_maker *c);

/* The slots that matter, from <= s < to, and the quanta of work that no longer matter in them: limit[s] - rest[s]
 * and more, which must fall. */
typedef struct pbi_curve_frame {
    uint32_t from, to, limit;
    const uint32_t *rest;
} pbi_curve_frame;
void pbi_curve_begin(pbi_curve_maker *c, const pbi_curve_frame *frame);
/* First announce all candidates, then offer them. A single step, too. */
void pbi_curve_expect(pbi_curve_maker *c, const pbi_candidate *candidate);
bool pbi_curve_offer(pbi_curve_maker *c, const pbi_candidate *candidate);
bool pbi_curve_offer_step(pbi_curve_maker *c, uint64_t need, uint64_t extra);
bool pbi_curve_end(pbi_curve_maker *c, pbi_curve *out);

/* The extra work with this much memory, UINT64_MAX when it is too little. */
uint64_t pbi_curve_at(const pbi_curve *f, uint64_t memory);

#endif
