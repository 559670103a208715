/* multilevel.h -- the decisions of a plan with several storage levels.
 *
 * Levels that cost nothing are one pool, planned by binomial checkpointing. The others are numbered 1, 2.. from fast to
 * slow; 0 is the pool. For each of them and each number c of free slots there is a row with an entry for each
 * length of a segment:
 *   bit 31        store the start of a segment here if it is not stored (else: continue with the next faster level)
 *   bits 0 .. 30  where to split a segment whose start is stored here; 0: leave it to the next faster level
 */
#ifndef PBI_MULTILEVEL_H
#define PBI_MULTILEVEL_H

#include "pebble/adjoint.h"

#define PBI_STORE_HERE (UINT32_C(1) << 31)

typedef struct pbi_level_plan {
    uint8_t storage;
    bool endless;    /* slots never run out: one row is for every c */
    uint64_t slots;  /* slots that are useful */
    uint32_t **rows; /* [c - 1] */
} pbi_level_plan;

typedef struct pb_level_plans {
    uint64_t cost;
    uint64_t pool_slots; /* slots that are useful */
    uint32_t pool_levels;
    uint32_t count;                         /* levels that cost something and have slots */
    pbi_level_plan plan[PB_MAX_LEVELS + 1]; /* 1 .. count */
} pbi_levels;

/* The row of level k with c free slots. */
static inline const uint32_t *pbi_levels_row(const pbi_levels *levels, uint32_t k, uint64_t c)
{
    return levels->plan[k].rows[levels->plan[k].endless ? 0 : c - 1];
}

/* Solves the dynamic program; rows live in `arena`. Fails as pb_multilevel_init. */
pb_status pbi_levels_plan(pb_context *ctx, const pb_multilevel_spec *spec, pb_arena *arena, pbi_levels *out);

#endif
