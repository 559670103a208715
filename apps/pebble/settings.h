/* settings.h -- options turned into the library's records. Each returns false after printing what is wrong. */
#ifndef PEBBLE_APP_SETTINGS_H
#define PEBBLE_APP_SETTINGS_H

#include "app.h"

/* A size from an option; left alone when it is not given. */
bool setting_size(app *a, option_id id, const pb_graph *g, uint64_t *size);
/* --weights; left alone when not given. */
bool setting_weights(app *a, pb_weights *weights);
/* The tier options; left alone when none is given. *given says whether any was. */
bool setting_tiers(app *a, const pb_graph *g, pb_game *game, bool *given);
/* --game; *given false when it is not there. */
bool setting_game(app *a, pb_game_kind *kind, bool *given);
/* --strategy, --policy, --seed, --threads, and --ticks and --time in the context. */
bool setting_request(app *a, pb_request *request);
/* --time and --ticks alone. */
bool setting_limits(app *a);

/* "--cap is missing": the same words everywhere. */
exit_code missing_cap(app *a);

#endif
