/* settings.h -- a request as texts by name, and the records that the library makes of them.
 *
 * The command, the server and the session (C and Python) all read their requests here. A new setting is one row of
 * settings.def and one use in src/api/session/settings.c.
 *
 *     pb_settings s = {.text[PB_SET_cap] = "60%", .text[PB_SET_seed] = "7"};
 *     pb_game game = PB_GAME_DEFAULT(g);
 *     pb_request request = PB_REQUEST_DEFAULT;
 *     if (pb_settings_game(&ctx, &s, &arena, &game) != PB_OK || pb_settings_request(&ctx, &s, &request) != PB_OK)
 *         printf("%s: %s\n", pb_setting_name(s.wrong), ctx.error.message);
 *
 * Every function leaves what is not set unchanged, so that the record's old content is the default. On a failure the
 * sentence is in ctx->error and s->wrong says which setting it is about; PB_SETTING_COUNT stands for none in
 * particular.
 */
#ifndef PEBBLE_SETTINGS_H
#define PEBBLE_SETTINGS_H

#include "api.h"
#include "io.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_setting {
#define SETTING(name, takes, help) PB_SET_##name,
#include "settings.def"
#undef SETTING
    PB_SETTING_COUNT
} pb_setting;

typedef struct pb_settings {
    const char *text[PB_SETTING_COUNT]; /* borrowed; NULL: not set */
    bool no_files; /* a machine is a built-in name or a JSON document, not a path: for requests from elsewhere */
    pb_setting wrong;
} pb_settings;

/* name, what it takes ("SIZE"), what it does; "" for PB_SETTING_COUNT. */
const char *pb_setting_name(pb_setting which);
const char *pb_setting_takes(pb_setting which);
const char *pb_setting_help(pb_setting which);
/* PB_EUNKNOWN with the closest name, or all of them. */
pb_status pb_setting_find(pb_context *ctx, const char *name, pb_setting *out);
/* Puts "name: " in front of the sentence in ctx->error. */
void pb_error_name(pb_context *ctx, const char *name);

/* The game without any settings. */
#define PB_GAME_DEFAULT(g) \
    ((pb_game){.graph = (g), .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT})

/* machine, game, cap, borrow, weights and slow memory, for game->graph. With a machine, game->graph becomes a graph in
 * `arena` that is priced by it, the cap defaults to its first memory and the tiered game has its slow memories. Prices
 * of slow memory make it the tiered game; the tiered game without any gets one tier without prices or limit. */
pb_status pb_settings_game(pb_context *ctx, pb_settings *s, pb_arena *arena, pb_game *game);
/* The machine alone: the one that is named, else the graph's own; NULL for none. */
pb_status pb_settings_machine(pb_context *ctx, pb_settings *s, const pb_graph *g, pb_arena *arena,
                              const pb_machine **out);
/* By built-in name, as a JSON document if the text begins with a brace, or by path unless no_files. */
pb_status pb_machine_find(pb_context *ctx, const char *text, bool no_files, pb_arena *arena, const pb_machine **out);
/* The slow memory alone. */
pb_status pb_settings_tiers(pb_context *ctx, pb_settings *s, pb_game *game);
bool pb_settings_have_tiers(const pb_settings *s);
/* The games that a comparison plays, as bits: the one that is named, else remat, reversible and, if there is slow
 * memory, tiered. The slow memories of a machine count: they become the game's tiers. */
unsigned pb_settings_games(const pb_settings *s, pb_game *game);
/* All weights of a sweep of the graph, in `arena`; none if they are not set. */
pb_status pb_settings_weights(pb_context *ctx, pb_settings *s, const pb_graph *g, pb_arena *arena, pb_weights **out,
                              uint32_t *count);

/* strategy, policy, seed, threads, patient, and what time and ticks mean for the effort. Texts are borrowed. */
pb_status pb_settings_request(pb_context *ctx, pb_settings *s, pb_request *request);

typedef struct pb_limits {
    bool timed;
    double seconds;         /* if timed */
    uint64_t ticks, memory; /* 0: no limit */
} pb_limits;
pb_status pb_settings_limits(pb_context *ctx, pb_settings *s, pb_limits *limits);

/* How files are read: inputs, dims, batch, train, optimizer, grads and attention. Names of dims are copied to `arena`.
 * In dims newlines separate if there are any, else commas. */
pb_status pb_settings_reading(pb_context *ctx, pb_settings *s, pb_arena *arena, pb_read_options *options);

/* A whole number from 0 to `max`. */
pb_status pb_settings_number(pb_context *ctx, pb_settings *s, pb_setting which, uint64_t max, uint64_t *out);
/* The same from any text: PB_EINVAL with a sentence. */
pb_status pb_number_read(pb_context *ctx, const char *text, uint64_t max, uint64_t *out);
/* A size such as 60% or 8GiB, for this graph: PB_EINVAL with a sentence. */
pb_status pb_size_read(pb_context *ctx, const pb_graph *g, const char *text, uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif
