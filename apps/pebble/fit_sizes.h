/* fit_sizes.h -- pebble fit for networks and models: the largest size that fits, without running anything. */
#ifndef PEBBLE_APP_FIT_SIZES_H
#define PEBBLE_APP_FIT_SIZES_H

#include "app.h"

enum { FIT_TICKS = 20000 }; /* of each plan, unless --ticks is given */

/* Whether the first argument is a family or a file, not a workload. */
bool fits_sizes(const app *a);
exit_code fit_sizes(app *a);

/* --max-overhead: "10%", "2.5%" or "forward". False after printing what is wrong. */
bool read_overhead(app *a, double *out);
/* --vary. */
const char *vary_option(const app *a);

#endif
