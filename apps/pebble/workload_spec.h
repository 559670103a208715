/* workload_spec.h -- what profile, run and fit share: parsing NAME:key=value,..., texts of times, measuring memory. */
#ifndef PEBBLE_APP_WORKLOAD_SPEC_H
#define PEBBLE_APP_WORKLOAD_SPEC_H

#include "app.h"
#include "common/figures.h"

enum { MAX_WORKLOAD_OPTIONS = 32 };

typedef struct workload_spec {
    const char *text, *name;
    pb_option options[MAX_WORKLOAD_OPTIONS];
    uint32_t option_count;
} workload_spec;

/* False after printing an error. The texts are in the application's arena. */
bool workload_parse(app *a, const char *text, workload_spec *out);
exit_code workload_open(app *a, const workload_spec *spec, pb_workload **out);
/* {"name":value,...} on standard output. */
void workload_print_options(const workload_spec *spec);

/* "12.3 ms" */
void duration_text(uint64_t ns, char text[FIGURE_ROOM]);
/* "+1.2 %": `now` compared with `before`; "-" if `before` is 0. */
void change_text(double before, double now, char text[FIGURE_ROOM]);

/* Memory of this process in RAM; with `give_back`, after returning unused memory to the system. 0 if not known. */
uint64_t resident_bytes(bool give_back);
/* The maximum since resident_max_begin, which is false if the system does not count it. It includes memory that a
 * library allocates and frees inside a kernel. */
bool resident_max_begin(void);
uint64_t resident_max(void);

/* Call before and after measuring: meanwhile Ctrl-C waits for the end of a step, and --clock applies. */
void measuring(app *a, bool begins);
/* False after printing what is wrong with --clock. */
bool clock_option(app *a);

/* --time is for planning only: the limit starts now, or ends. The default is three seconds. */
void planning_time(app *a, bool begins);

#endif
