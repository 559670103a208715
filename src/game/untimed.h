/* untimed.h -- for code that follows moves one after the other. */
#ifndef PBI_UNTIMED_H
#define PBI_UNTIMED_H

#include "pebble/game.h"

/* PB_EINVAL with a sentence that begins with `what` if the game is timed. */
pb_status pbi_untimed(pb_context *ctx, const pb_game *game, const char *what);

#endif
