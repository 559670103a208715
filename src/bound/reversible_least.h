/* reversible_least.h -- memory that every plan of a reversible game needs, whatever its work. docs/bounds.md. */
#ifndef PBI_REVERSIBLE_LEAST_H
#define PBI_REVERSIBLE_LEAST_H

#include "pebble/bound.h"

/* *least: no schedule of the game has a smaller peak; 0 if nothing is known. Exact for in-trees, which include chains,
 * of equal sizes and without workspaces, if only the root is final.
 *   returns  PB_OK, PB_ENOMEM, PB_ECANCELLED
 *   cost     nearly linear; not counted in ctx->ticks */
pb_status pbi_reversible_least(pb_context *ctx, const pb_game *game, uint64_t *least);

#endif
