/* highs.h -- mixed-integer programs for HiGHS, if its library is found when the program runs. */
#ifndef PBI_PLAN_MILP_HIGHS_H
#define PBI_PLAN_MILP_HIGHS_H

#include "plan/milp/cbc.h"

/* Is there a libhighs.so.1? */
bool pbi_highs_found(void);

/* As pbi_program_solve. HiGHS polls the context, and watches the time itself. */
pb_status pbi_highs_solve(pb_context *ctx, const pbi_program *p, const pbi_program_limits *limits, pb_arena *arena,
                          pbi_program_answer *answer);

#endif
