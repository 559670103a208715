/* run_smaller.h -- suggests an option of the workload that makes its values smaller. */
#ifndef PEBBLE_APP_RUN_SMALLER_H
#define PEBBLE_APP_RUN_SMALLER_H

#include "run_print.h"

/* After a run, or when no plan was found: a note if the option fits the cap with less work. */
void suggest_smaller(app *a, const run_report *r, const pb_workload *w);

#endif
