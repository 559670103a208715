/* settings.h -- options as the library's settings. Each returns false after printing what is wrong. */
#ifndef PEBBLE_APP_SETTINGS_H
#define PEBBLE_APP_SETTINGS_H

#include "app.h"

/* The options of the command line by the names of pebble/settings.h. */
pb_settings settings_of(app *a);
/* EXIT_DONE for PB_OK; otherwise prints the failure of a call with these settings, with the option's name. */
exit_code setting_code(app *a, const pb_settings *s, pb_status status);
/* True for PB_OK; otherwise prints the failure of a call with these settings, with the option's name. */
bool setting_done(app *a, const pb_settings *s, pb_status status);

/* A size from an option; unchanged when it is not given. */
bool setting_size(app *a, option_id id, const pb_graph *g, uint64_t *size);
/* --machine, --game, --cap, --borrow, --weights and slow memory; what is not given stays. */
exit_code setting_game(app *a, pb_game *game);
/* The games that compare and info play, as bits; the slow memories of a machine become the game's tiers. */
unsigned setting_games(app *a, pb_game *game);
/* --weights alone, for this graph. */
bool setting_weights(app *a, const pb_graph *g, pb_weights *weights);
/* --strategy, --policy, --seed, --threads, and --ticks and --time in the context. */
bool setting_request(app *a, pb_request *request);
/* The strategies, and after them the plans of --schedule; `all` stands for none. NULL without both. */
exit_code setting_strategies(app *a, const char *strategies, const char *all, const char **out);
/* --time and --ticks alone. */
bool setting_limits(app *a);

/* Whether there is a cap: --cap, which may be none, or the machine's memory. */
bool has_cap(const app *a, const pb_game *game);
/* "--cap is missing": the same words everywhere. */
exit_code missing_cap(app *a);

#endif
