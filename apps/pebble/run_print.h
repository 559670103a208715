/* run_print.h -- the output of `pebble run`: a table, or JSON. */
#ifndef PEBBLE_APP_RUN_PRINT_H
#define PEBBLE_APP_RUN_PRINT_H

#include "workload_spec.h"

typedef struct run_report {
    workload_spec spec;
    pb_game game;
    pb_profiled profiled; /* of this time; repeats 0: costs from a file */
    pb_plan_result planned;
    pb_packing packing; /* of the plan that was made; offset NULL: the engine makes one */
    double planning_seconds;
    pb_run_figures measured, reference;        /* reference.steps 0: not run */
    uint64_t differs;                          /* the first step with other results; UINT64_MAX: none */
    uint64_t resident_before, resident_growth; /* of the process, around the run; before 0: not known */
    bool resident_max;                         /* the growth is the maximum, not that at the ends of steps */
    bool was_checked;
    pb_run_checked checked; /* of --check */
} run_report;

/* False if out of memory. */
bool run_print_text(app *a, const run_report *r);
/* Why there is no plan, and what to try. */
void run_print_missing(app *a, const run_report *r);
/* What --check found: as text, or the fields of a JSON object. */
void run_print_checked(const run_report *r);
void run_json_checked(const run_report *r);
/* measured.steps 0: there was no plan to run. */
void run_print_json(const run_report *r);

#endif
