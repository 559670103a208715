/* run_compare.h -- pebble run --compare: plans of several strategies, each of them run. */
#ifndef PEBBLE_APP_RUN_COMPARE_H
#define PEBBLE_APP_RUN_COMPARE_H

#include "run_print.h"

/* Plans r->game with every strategy of request->strategy (NULL: a usual choice), runs the plans for `steps` (0: half a
 * second) and prints the table, or JSON. */
exit_code run_compare(app *a, run_report *r, pb_workload *w, const pb_request *request, uint64_t steps);

/* The default number of steps: about half a second of them. */
uint64_t run_default_steps(uint64_t step_ns);

#endif
