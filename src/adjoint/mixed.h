/* mixed.h -- the decisions of a plan that stores states and tapes.
 *
 * A row is a combination of free room in each level, in units of the sizes' greatest common divisor; a level without a
 * limit does not count. Each row has an entry for each length of a segment.
 */
#ifndef PBI_ADJOINT_MIXED_H
#define PBI_ADJOINT_MIXED_H

#include "pebble/adjoint.h"

#define PBI_KEEP_STATE (UINT32_C(1) << 31)
#define PBI_MIXED_IMPOSSIBLE (UINT64_C(1) << 61) /* as a cost: no schedule */

/* What is done at the start of a segment that is not stored: nothing is needed for one step; else its tape or state is
 * written to a level. */
enum { PBI_MIXED_LAST, PBI_MIXED_TAPE, PBI_MIXED_STATE };

typedef struct pb_mixed_plans {
    pb_mixed_spec spec;
    uint64_t n;                           /* the longest segment */
    uint64_t state, tape;                 /* sizes in units */
    uint64_t room[PB_MAX_MIXED_LEVELS];   /* units that are useful */
    uint64_t stride[PB_MAX_MIXED_LEVELS]; /* of rows; 0: no limit */
    uint64_t rows, top;                   /* `top`: the row in which everything is free */
    uint64_t *cost;                       /* of a segment whose start is in the working state only */
    uint8_t *first;                       /* PBI_MIXED_* + 4 * level */
    /* By level, for segments whose start is stored there: where to split (0: impossible); bit 31: it stays stored when
     * the segment is entered again, else it is moved. */
    uint32_t *split[PB_MAX_MIXED_LEVELS];
} pbi_mixed_plans;

static inline uint64_t pbi_mixed_at(const pbi_mixed_plans *p, uint64_t row, uint64_t length)
{
    return row * (p->n + 1) + length;
}

/* Checks the specification, and chooses units. `n` is the longest segment. */
pb_status pbi_mixed_check(pb_context *ctx, const pb_mixed_spec *spec);
/* Solves the dynamic program; tables live in `arena`. */
pb_status pbi_mixed_solve(pb_context *ctx, const pb_mixed_spec *spec, uint64_t n, pb_arena *arena,
                          pbi_mixed_plans *out);
/* The cost of a segment whose start is stored in level k, when it is entered again, without reading it; `row` counts
 * the room of that state as free. */
uint64_t pbi_mixed_again(const pbi_mixed_plans *p, uint32_t k, uint64_t row, uint64_t length);

#endif
