/* infeasible.h -- what bounds say of a cap that is too small, as a sentence. */
#ifndef PBI_API_PIPELINE_INFEASIBLE_H
#define PBI_API_PIPELINE_INFEASIBLE_H

#include "pebble/bound.h"

/* False: they do not prove that nothing fits, and `text` is untouched. */
bool pbi_infeasible_text(const pb_game *game, const pb_bounds *b, char *text, size_t room);

#endif
