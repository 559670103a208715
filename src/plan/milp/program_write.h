/* program_write.h -- Checkmate's program as text for other solvers, and a solver's solution read back. */
#ifndef PBI_PLAN_MILP_PROGRAM_WRITE_H
#define PBI_PLAN_MILP_PROGRAM_WRITE_H

#include "plan/milp/staged.h"

/* Columns are named R_t_i, S_t_j (staged.h), and X_n for the rest. */
pb_status pbi_staged_write(pb_context *ctx, const pbi_staged *m, bool lp, pb_sink sink);

/* Values by column in `x`, 0 where the text has none.
 *   returns PB_EFORMAT the text has no column of this program: it is not a solution, or of another one */
pb_status pbi_staged_read(pb_context *ctx, const pbi_staged *m, const char *text, size_t length, double *x);

#endif
