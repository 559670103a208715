/* workload_spec.h -- what profile, run and fit share: NAME:key=value,... taken apart, times and memory as people read them. */
#ifndef PEBBLE_APP_WORKLOAD_SPEC_H
#define PEBBLE_APP_WORKLOAD_SPEC_H

#include "app.h"
#include "common/figures.h"

enum { MOST_WORKLOAD_OPTIONS = 32 };

typedef struct workload_spec {
    const char *text, *name;
    pb_option options[MOST_WORKLOAD_OPTIONS];
    uint32_t option_count;
} workload_spec;

/* False after telling what is wrong. The texts live in the application's arena. */
bool workload_parse(app *a, const char *text, workload_spec *out);
exit_code workload_open(app *a, const workload_spec *spec, pb_workload **out);
/* {"name":value,...} on standard output. */
void workload_print_options(const workload_spec *spec);

/* "12.3 ms" */
void duration_text(uint64_t ns, char text[FIGURE_ROOM]);
/* "+1.2 %" of `now` against `before`; "-" where that is 0. */
void change_text(double before, double now, char text[FIGURE_ROOM]);

/* Memory of this process that is in RAM, after giving back what it does not use; 0 where that is not known. */
uint64_t resident_bytes(bool give_back);
/* The most there was since resident_most_begin, which is false where the system keeps no such count. What a library takes inside a
 * kernel and gives back is part of it. */
bool resident_most_begin(void);
uint64_t resident_most(void);

/* Around what is measured: Ctrl-C waits for the end of a step, and --clock holds. */
void measuring(app *a, bool begins);
/* False after telling what is wrong with --clock. */
bool clock_option(app *a);

/* --time holds for planning alone: it begins now, or ends. Three seconds where nothing is said. */
void planning_time(app *a, bool begins);

#endif
