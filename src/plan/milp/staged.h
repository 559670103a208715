/* staged.h -- recomputation in program order, as a mixed-integer program: Checkmate's stages.
 *
 * Stage t computes the t-th needed node of the order for the first time. Before that it may recompute earlier ones,
 * each at most once and in the order. The unknowns are R(t, i), whether stage t computes node i, and S(t, j),
 * whether value j is resident when stage t begins; everything else follows from them. docs/strategies/milp.md has
 * the rows.
 */
#ifndef PBI_PLAN_MILP_STAGED_H
#define PBI_PLAN_MILP_STAGED_H

#include "base/rng.h"
#include "plan/milp/cbc.h"
#include "plan/sequence/sequence.h"

enum { PBI_STAGED_ZERO = -1, PBI_STAGED_ONE = -2 }; /* columns with a known value */

typedef struct pbi_staged {
    const pb_game *game;
    pb_arena *arena;
    uint32_t stages; /* needed nodes that are computed */
    pb_node *node;   /* per stage */
    uint32_t *place; /* per node of the graph: the stage that computes it, or its owner; UINT32_MAX for given values */
    uint32_t values; /* values that are computed, or by-products, or given, and needed */
    pb_node *value;
    uint32_t *value_of; /* per node of the graph; UINT32_MAX: not needed */
    uint32_t *until;    /* per value: the last stage at whose start it may be resident; `stages`: the end */
    uint32_t *read_start;
    uint32_t *reader; /* per value: stages whose node reads it, ascending */
    bool *wide;       /* per stage: its node may be recomputed while its value is resident, for a by-product */

    int *computed; /* R, stages x stages, columns */
    int *kept;     /* S, (stages + 1) x values */
    double unit;   /* size units per unit of a memory column */
    double price;  /* work per unit of the program's value; needed work is left out */
    double step;   /* values of plans differ by at least this */
    pbi_program program;
} pbi_staged;

/* An estimate of the number of entries of the program; cheap. */
uint64_t pbi_staged_entries(const pb_graph *g);

/* What in the game the program cannot express: a clause, or NULL. */
const char *pbi_staged_misfit(const pb_game *game);

/* The program for a cap, which may be smaller than the game's. PB_ENOMEM, PB_ECANCELLED. */
pb_status pbi_staged_init(pbi_staged *m, pb_context *ctx, const pb_game *game, double cap, pb_arena *arena);

static inline int pbi_staged_r(const pbi_staged *m, uint32_t t, uint32_t i)
{
    return m->computed[(size_t)t * m->stages + i];
}
static inline int pbi_staged_s(const pbi_staged *m, uint32_t t, uint32_t j)
{
    return m->kept[(size_t)t * m->values + j];
}

/* The computations in x, each stage's in the order. */
pb_status pbi_staged_sequence(const pbi_staged *m, const double *x, pbi_sequence *s);

/* Two-phase rounding: values are kept if S is above `threshold`, or with `rng` with probability S; then whatever is
 * read and not resident is computed. */
pb_status pbi_staged_round(const pbi_staged *m, const double *x, double threshold, pbi_rng *rng, pbi_sequence *s);

/* The moves of another plan put into stages, each stage's computations once and in the order: *fits is whether it
 * follows the order. The memory that it needs may differ. */
pb_status pbi_staged_adopt(const pbi_staged *m, const pb_moves *moves, pbi_sequence *s, bool *fits);

/* The cheapest plan so far that fits the cap, counted exactly. */
typedef struct pbi_staged_best {
    const pb_game *game;
    pbi_sequence sequence;
    uint64_t work; /* UINT64_MAX: there is none */
} pbi_staged_best;

void pbi_staged_best_init(pbi_staged_best *best, const pb_game *game, pb_arena *arena);
pb_status pbi_staged_consider(pbi_staged_best *best, const pbi_sequence *s, bool *fits);
/* Program order, each node once. */
pb_status pbi_staged_program(pbi_staged_best *best, pb_arena *arena);

/* Does the game suit, has the program at most this many entries (or those of option `size`)? Else
 * the plan has given up. */
pb_status pbi_staged_gate(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, uint64_t max_entries,
                          pbi_plan *plan, bool *open);
/* PB_ENOMEM if the solver would exceed the context's memory limit. */
pb_status pbi_staged_memory(pb_context *ctx, const pbi_staged *m);

#endif
