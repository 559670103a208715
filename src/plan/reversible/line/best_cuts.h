/* best_cuts.h -- the best cuts of a line: by slopes if all steps are alike, by intervals if they differ.
 *
 *     pbi_best_cuts k;
 *     status = pbi_best_cuts_init(ctx, &k, &line, effort, &scratch);
 *     if (pbi_best_cuts_min_memory(&k) <= line.budget)
 *         status = pbi_best_cuts_play(&k, &r, line.budget, &scratch);
 *
 * A line with several stops is played stop by stop, each from the one before.
 */
#ifndef PBI_PLAN_REVERSIBLE_LINE_BEST_CUTS_H
#define PBI_PLAN_REVERSIBLE_LINE_BEST_CUTS_H

#include "plan/reversible/line/intervals.h"
#include "plan/reversible/line/slopes.h"

typedef struct pbi_best_cuts {
    const pbi_line *line;
    bool exact;    /* one stop, equal sizes: no cheaper schedule is known, and exhaustive search found none */
    bool proved;   /* costs and workspaces alike too: by Knill's theorem no schedule is cheaper */
    bool counts;   /* whether the chain fits depends on the number of values alone: n <= 2^(k-1), whatever the costs */
    bool overflow; /* some work exceeded 64 bits */
    pbi_slopes slopes;
    pbi_intervals *intervals; /* one for each stop; NULL: slopes are used, and all steps count as the largest */
} pbi_best_cuts;

/* line->count > 0. effort: of the intervals, see there; beyond it, slopes are used. */
pb_status pbi_best_cuts_init(pb_context *ctx, pbi_best_cuts *k, const pbi_line *line, uint64_t effort, pb_arena *arena);
/* The least memory that suffices, UINT64_MAX when more than the line's budget is needed. */
uint64_t pbi_best_cuts_min_memory(const pbi_best_cuts *k);
/* Moves of the plan within `memory`; UINT64_MAX: not known beforehand. */
uint64_t pbi_best_cuts_moves(const pbi_best_cuts *k, uint64_t memory);
/* The smallest memory above `memory` that may give another plan, UINT64_MAX for none within the budget. */
uint64_t pbi_best_cuts_next_memory(const pbi_best_cuts *k, uint64_t memory);
/* Play within `memory`, from the least to the line's budget. */
pb_status pbi_best_cuts_play(const pbi_best_cuts *k, pbi_reversible *r, uint64_t memory, pb_arena *arena);

#endif
