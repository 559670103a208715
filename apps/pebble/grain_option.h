/* grain_option.h -- which steps become one: --by, --nodes and --small of coarsen, --grain of plan and compare. */
#ifndef PEBBLE_APP_GRAIN_OPTION_H
#define PEBBLE_APP_GRAIN_OPTION_H

#include "app.h"

/* --by, --nodes and --small. False after printing what is wrong. */
bool coarsen_options(app *a, const pb_graph *g, pb_coarsen_options *out);
/* One entry of --grain: a name, with a number of steps as in region:200, or with a size as in size:4MiB. `length` bytes
 * of `text` count. */
bool grain_option(app *a, const pb_graph *g, const char *text, size_t length, pb_coarsen_options *out);

/* pebble compare --grain: one row for each level, and the best plan. */
exit_code compare_grains(app *a, const pb_game *game, const pb_request *request, uint64_t program_peak);

#endif
