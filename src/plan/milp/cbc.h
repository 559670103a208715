/* cbc.h -- linear and mixed-integer programs, and the only file that passes them to Cbc and Clp.
 *
 *     pbi_program p;
 *     pbi_program_init(&p, &arena);
 *     int x = pbi_program_column(&p, (pbi_column){.high = 1, .price = 3, .whole = true});
 *     pbi_program_row(&p, 1, HUGE_VAL);      x + y >= 1
 *     pbi_program_entry(&p, x, 1);
 *     pbi_program_entry(&p, y, 1);
 *     if (pbi_program_solve(ctx, &p, &limits, &arena, &answer) == PB_OK && answer.end == PBI_SOLVED) ...
 *
 * The solvers are optional when the library is built: without them pb_solver_version() is NULL and nothing may be
 * solved. They count in floating point, so the caller must check the answer. They do not use the context's
 * allocator; pbi_program_bytes estimates their memory, for a caller to compare with the context's limit.
 */
#ifndef PBI_PLAN_MILP_CBC_H
#define PBI_PLAN_MILP_CBC_H

#include "pebble/base.h"

typedef struct pbi_column {
    double low, high, price;
    bool whole; /* integers only */
} pbi_column;

typedef struct pbi_row {
    double low, high;
    size_t start; /* of its entries */
} pbi_row;

typedef struct pbi_entry {
    int column;
    double factor;
} pbi_entry;

/* Minimise the sum of price times column, each row's sum of factor times column within its bounds. */
typedef struct pbi_program {
    pb_arena *arena;
    pbi_column *column;
    pbi_row *row;
    pbi_entry *entry;
    size_t columns, rows, entries;
    size_t column_room, row_room, entry_room;
    bool failed; /* out of memory */
} pbi_program;

void pbi_program_init(pbi_program *p, pb_arena *arena);
/* Its index; after a failure 0, and p->failed is set. */
int pbi_program_column(pbi_program *p, pbi_column column);
void pbi_program_row(pbi_program *p, double low, double high);
void pbi_program_entry(pbi_program *p, int column, double factor);

typedef enum pbi_program_end {
    PBI_UNSOLVED,  /* the solver failed, for example for lack of precision */
    PBI_SOLVED,    /* x is optimal, or within the gap */
    PBI_NO_ANSWER, /* proved: no solution within the bounds, or below `below` */
    PBI_OUT_OF_TICKS,
    PBI_STOPPED /* by the context's stop callback */
} pbi_program_end;

typedef struct pbi_program_limits {
    double below;            /* stop when no solution can have a smaller value; HUGE_VAL: never */
    bool has_answer;         /* the caller knows that there is a solution */
    uint64_t ticks;          /* max effort, 0: no limit */
    uint64_t ticks_per_poll; /* effort of each poll: for a part of the search, or a batch of simplex steps */
    uint64_t end_ns;         /* 0, or when the context will stop, by its clock: Cbc may poll too late */
    double gap;              /* stop when the best solution is proved to be within this of the least value */
} pbi_program_limits;

typedef struct pbi_program_answer {
    pbi_program_end end;
    bool found;      /* x is valid: the best so far if the end is not PBI_SOLVED */
    double value;    /* of x */
    const double *x; /* per column, in the arena of the call */
    uint64_t ticks;  /* effort spent */
} pbi_program_answer;

/* Estimated memory of the solvers. */
uint64_t pbi_program_bytes(const pbi_program *p);

/* Integer columns as they are (Cbc), or relaxed (Clp). Both poll the context and count effort, which they add to
 * *answer but not to the context; deterministic if nothing stops them.
 *   returns PB_OK, whatever the end; PB_ENOMEM */
pb_status pbi_program_solve(pb_context *ctx, const pbi_program *p, const pbi_program_limits *limits, pb_arena *arena,
                            pbi_program_answer *answer);
pb_status pbi_program_relax(pb_context *ctx, const pbi_program *p, const pbi_program_limits *limits, pb_arena *arena,
                            pbi_program_answer *answer);

#endif
