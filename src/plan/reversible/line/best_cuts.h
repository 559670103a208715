/* best_cuts.h -- the best cuts of a line: by slopes where all steps are alike, by intervals where they differ.
 *
 *     pbi_knill k;
 *     status = pbi_knill_init(ctx, &k, &line, effort, &scratch);
 *     if (pbi_knill_least(&k) <= line.budget)
 *         status = pbi_knill_play(&k, &r, line.budget, &scratch);
 *
 * A line with several stops is played stop by stop, each from the one before.
 */
#ifndef PBI_PLAN_REVERSIBLE_LINE_BEST_CUTS_H
#define PBI_PLAN_REVERSIBLE_LINE_BEST_CUTS_H

#include "plan/reversible/line/intervals.h"
#include "plan/reversible/line/slopes.h"

typedef struct pbi_knill {
    const pbi_line *line;
    bool exact;    /* one stop, equal sizes: no cheaper schedule is known, and exhaustive search knows none */
    bool proved;   /* costs and workspaces alike too: Knill's theorem says that none is cheaper */
    bool counts;   /* whether the chain fits is a matter of counting values: n <= 2^(k-1), whatever the costs */
    bool overflow; /* some work passed 64 bits */
    pbi_slopes slopes;
    pbi_intervals *intervals; /* one for each stop; NULL: slopes are used, all steps taken for the largest */
} pbi_knill;

/* line->count > 0. effort: of the intervals, see there; past it, slopes are used. */
pb_status pbi_knill_init(pb_context *ctx, pbi_knill *k, const pbi_line *line, uint64_t effort, pb_arena *arena);
/* The least memory that suffices, UINT64_MAX when more than the line's budget is needed. */
uint64_t pbi_knill_least(const pbi_knill *k);
/* Moves of the plan within `memory`; UINT64_MAX: not known beforehand. */
uint64_t pbi_knill_moves(const pbi_knill *k, uint64_t memory);
/* The least memory above `memory` that may give another plan, UINT64_MAX for none within the budget. */
uint64_t pbi_knill_next(const pbi_knill *k, uint64_t memory);
/* Play within `memory`, from the least to the line's budget. */
pb_status pbi_knill_play(const pbi_knill *k, pbi_reversible *r, uint64_t memory, pb_arena *arena);

#endif
