/* cadical.h -- propositional formulas, and the only file that passes them to CaDiCaL.
 *
 *     pbi_sat s;
 *     if (pbi_sat_open(&s, ctx, max_literals)) {
 *         int x = pbi_sat_new(&s), y = pbi_sat_new(&s);
 *         pbi_sat_two(&s, x, -y);                           x or not y
 *         status = pbi_sat_solve(&s, &conflicts, &answer);  and again after more clauses
 *         pbi_sat_close(&s);
 *     }
 *
 * The solver is optional when the library is built: without it pb_sat_version() is NULL and pbi_sat_open fails. It
 * does not use the context's allocator, so formulas have a size limit. Equal formulas and limits give equal answers.
 */
#ifndef PBI_PLAN_REVERSIBLE_SAT_CADICAL_H
#define PBI_PLAN_REVERSIBLE_SAT_CADICAL_H

#include "pebble/base.h"

typedef struct pbi_sat {
    void *solver;
    pb_context *ctx;
    int variables;
    uint64_t literals, max_literals; /* of all clauses */
    uint32_t calls;
    pb_status stopped; /* by the context */
} pbi_sat;

typedef enum pbi_sat_answer { PBI_SAT_UNKNOWN, PBI_SAT_YES, PBI_SAT_NO } pbi_sat_answer;

/* False: no solver, or its memory would exceed the context's limit. */
bool pbi_sat_open(pbi_sat *s, pb_context *ctx, uint64_t max_literals);
void pbi_sat_close(pbi_sat *s);

int pbi_sat_new(pbi_sat *s);
/* Clauses beyond the limit are dropped, and pbi_sat_full is then true: the formula is of no use. */
void pbi_sat_one(pbi_sat *s, int a);
void pbi_sat_two(pbi_sat *s, int a, int b);
void pbi_sat_three(pbi_sat *s, int a, int b, int c);
void pbi_sat_clause(pbi_sat *s, const int *literals, unsigned count);
static inline bool pbi_sat_full(const pbi_sat *s) { return s->literals > s->max_literals; }

/* Spends at most *conflicts, and subtracts what it spent. Polls the context, and counts effort there.
 *   returns PB_OK with *answer, unknown when the conflicts are spent; PB_ELIMIT, PB_ECANCELLED */
pb_status pbi_sat_solve(pbi_sat *s, uint64_t *conflicts, pbi_sat_answer *answer);
/* After PBI_SAT_YES. */
bool pbi_sat_value(const pbi_sat *s, int variable);

#endif
