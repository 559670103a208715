/* infeasible.h -- a sentence that explains, from the bounds, why a cap is too small. */
#ifndef PBI_API_PIPELINE_INFEASIBLE_H
#define PBI_API_PIPELINE_INFEASIBLE_H

#include "pebble/bound.h"

/* False: the bounds do not prove that no plan fits, and `text` is unchanged. */
bool pbi_infeasible_text(const pb_game *game, const pb_bounds *b, char *text, size_t room);

#endif
