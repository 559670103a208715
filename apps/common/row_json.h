/* row_json.h -- the JSON of compare and info on a stream, where the server adds fields of its own. */
#ifndef PEBBLE_COMMON_ROW_JSON_H
#define PEBBLE_COMMON_ROW_JSON_H

#include "pebble/full.h"

#include <stdio.h>

/* The fields of one row of `pebble compare --json`, without the braces. `base` is the game if the row has none. */
void json_row_fields(FILE *out, const pb_plan_result *p, const pb_game *base);
/* The fields of `pebble info --json`, without the braces. */
void json_info_fields(FILE *out, const pb_info *f);

#endif
