/* settings.c -- converts settings from text into the records of the library; see pebble/settings.h. */
#include "pebble/settings.h"

#include "api/pipeline/pipeline.h"
#include "base/context.h"
#include "base/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 1024, MAX_WEIGHTS = 64, PRICE_ROOM = 64 };

static const struct row {
    const char *name, *takes, *help;
} rows[PB_SETTING_COUNT + 1] = {
#define SETTING(name, takes, help) {#name, takes, help},
#include "pebble/settings.def"
#undef SETTING
    {"", "", ""},
};

const char *pb_setting_name(pb_setting which) { return rows[which].name; }
const char *pb_setting_takes(pb_setting which) { return rows[which].takes; }
const char *pb_setting_help(pb_setting which) { return rows[which].help; }

pb_status pb_setting_find(pb_context *ctx, const char *name, pb_setting *out)
{
    const char *names[PB_SETTING_COUNT];
    for (int i = 0; i < PB_SETTING_COUNT; i++) {
        names[i] = rows[i].name;
        if (strcmp(names[i], name) == 0) {
            *out = (pb_setting)i;
            return PB_OK;
        }
    }
    return pbi_unknown_name(ctx, "setting", name, names, PB_SETTING_COUNT);
}

void pb_error_name(pb_context *ctx, const char *name)
{
    char sentence[sizeof ctx->error.message];
    snprintf(sentence, sizeof sentence, "%s", ctx->error.message);
    snprintf(ctx->error.message, sizeof ctx->error.message, "%s: %.*s", name, (int)(sizeof sentence - strlen(name) - 3),
             sentence);
}

/* ---- single values ---- */

/* Remembers which setting a failure is about. */
static pb_status about(pb_settings *s, pb_setting which, pb_status status)
{
    s->wrong = status == PB_EINVAL || status == PB_EUNKNOWN || status == PB_ERANGE ? which : PB_SETTING_COUNT;
    return status;
}

pb_status pb_number_read(pb_context *ctx, const char *text, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    bool good = *text != '\0';
    for (const char *at = text; good && *at; at++) {
        unsigned digit = (unsigned)(*at - '0');
        good = digit <= 9 && value <= (UINT64_MAX - digit) / 10;
        value = good ? value * 10 + digit : value;
    }
    if (good && value <= max) {
        *out = value;
        return PB_OK;
    }
    if (max == UINT64_MAX)
        return pbi_fail(ctx, PB_EINVAL, "expected a whole number below 2^64, not `%.60s`", text);
    return pbi_fail(ctx, PB_EINVAL, "expected a whole number from 0 to %llu, not `%.60s`", (unsigned long long)max,
                    text);
}

pb_status pb_size_read(pb_context *ctx, const pb_graph *g, const char *text, uint64_t *out)
{
    char why[256];
    uint64_t whole = 0;
    if (pb_size_is_share(text)) {
        pb_status status = pb_graph_program_peak(ctx, g, &whole);
        if (status != PB_OK)
            return status;
    }
    if (pb_size_parse(text, g->size_unit, whole, out, why, sizeof why))
        return PB_OK;
    return pbi_fail(ctx, PB_EINVAL, "%s", why);
}

pb_status pb_settings_number(pb_context *ctx, pb_settings *s, pb_setting which, uint64_t max, uint64_t *out)
{
    return about(s, which, s->text[which] ? pb_number_read(ctx, s->text[which], max, out) : PB_OK);
}

static pb_status read_size(pb_context *ctx, pb_settings *s, pb_setting which, const pb_graph *g, uint64_t *out)
{
    return about(s, which, s->text[which] ? pb_size_read(ctx, g, s->text[which], out) : PB_OK);
}

/* Checks that the setting is one of `count` words. */
static pb_status read_word(pb_context *ctx, pb_settings *s, pb_setting which, const char *what,
                           const char *const *words, size_t count)
{
    const char *text = s->text[which];
    for (size_t i = 0; text && i < count; i++)
        if (strcmp(words[i], text) == 0)
            text = NULL;
    if (text)
        pbi_unknown_name(ctx, what, text, words, count);
    return about(s, which, text ? PB_EINVAL : PB_OK);
}

/* ---- slow memory ---- */

/* The settings of one tier, in the order of pb_price. */
static const pb_setting price_settings[PB_PRICE_COUNT] = {PB_SET_store_cost, PB_SET_load_cost, PB_SET_store_per_unit,
                                                          PB_SET_load_per_unit};

static pb_status read_prices(pb_context *ctx, pb_settings *s, const pb_graph *g,
                             const char *const texts[PB_PRICE_COUNT], pb_tier *tier)
{
    for (int i = 0; i < PB_PRICE_COUNT; i++) {
        pb_status status = pb_price_check(ctx, texts[i]);
        if (status != PB_OK)
            return about(s, price_settings[i], status);
    }
    return about(s, PB_SETTING_COUNT, pb_tier_prices_parse(ctx, g, texts, tier));
}

/* The price that a key such as store_cost names; PB_PRICE_COUNT for the cap, -1 for other keys. */
static int tier_key(const char *text, size_t length)
{
    for (int i = 0; i <= PB_PRICE_COUNT; i++) {
        const char *name = i < PB_PRICE_COUNT ? pb_price_name((pb_price)i) : "cap";
        if (strlen(name) == length && strncmp(text, name, length) == 0)
            return i;
    }
    return -1;
}

/* "store_cost=1,load_cost=2,load_per_unit=0.04,cap=8GiB": one tier. */
static pb_status read_tier(pb_context *ctx, pb_settings *s, const pb_graph *g, const char *text, size_t length,
                           pb_tier *tier)
{
    char value[PB_PRICE_COUNT + 1][PRICE_ROOM] = {"0", "0", "0", "0", "none"};
    *tier = (pb_tier){.cap = PB_UNLIMITED};
    for (const char *at = text, *end = text + length; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        const char *sign = memchr(at, '=', (size_t)(stop - at));
        size_t room = sign ? (size_t)(stop - sign - 1) : PRICE_ROOM;
        int key = sign ? tier_key(at, (size_t)(sign - at)) : -1;
        if (key < 0 || room >= PRICE_ROOM)
            return pbi_fail(ctx, PB_EINVAL,
                            "`%.*s` is not a field of a tier; store_cost, load_cost, store_per_unit and load_per_unit "
                            "are decimals, cap is a size",
                            stop - at < 60 ? (int)(stop - at) : 60, at);
        memcpy(value[key], sign + 1, room);
        value[key][room] = '\0';
        at = stop + (comma != NULL);
    }
    pb_status status = pb_size_read(ctx, g, value[PB_PRICE_COUNT], &tier->cap);
    if (status != PB_OK) {
        pb_error_name(ctx, "cap");
        return status;
    }
    const char *prices[PB_PRICE_COUNT] = {value[0], value[1], value[2], value[3]};
    return read_prices(ctx, s, g, prices, tier);
}

static pb_status read_tier_list(pb_context *ctx, pb_settings *s, pb_game *game)
{
    game->tier_count = 0;
    for (const char *at = s->text[PB_SET_tiers]; at;) {
        size_t length = strcspn(at, ";");
        if (game->tier_count == PB_MAX_TIERS)
            return about(s, PB_SET_tiers, pbi_fail(ctx, PB_EINVAL, "expected at most %d tiers", PB_MAX_TIERS));
        s->wrong = PB_SETTING_COUNT;
        pb_status status = read_tier(ctx, s, game->graph, at, length, &game->tiers[game->tier_count++]);
        if (status != PB_OK)
            return s->wrong == PB_SETTING_COUNT ? about(s, PB_SET_tiers, status) : status;
        at = at[length] == ';' ? at + length + 1 : NULL;
    }
    return PB_OK;
}

static bool has_one_tier(const pb_settings *s)
{
    bool given = s->text[PB_SET_slow_cap] != NULL;
    for (int i = 0; i < PB_PRICE_COUNT; i++)
        given |= s->text[price_settings[i]] != NULL;
    return given;
}

bool pb_settings_have_tiers(const pb_settings *s) { return s->text[PB_SET_tiers] || has_one_tier(s); }

pb_status pb_settings_tiers(pb_context *ctx, pb_settings *s, pb_game *game)
{
    const char *texts[PB_PRICE_COUNT];
    pb_tier *tier = &game->tiers[0];
    bool one = has_one_tier(s);
    if (s->text[PB_SET_tiers] && one)
        return about(s, PB_SET_tiers,
                     pbi_fail(ctx, PB_EINVAL,
                              "give all tiers here, or one tier by store_cost, load_cost, "
                              "store_per_unit, load_per_unit and slow_cap, not both"));
    if (s->text[PB_SET_tiers])
        return read_tier_list(ctx, s, game);
    if (!one)
        return PB_OK;
    *tier = (pb_tier){.cap = PB_UNLIMITED};
    game->tier_count = 1;
    for (int i = 0; i < PB_PRICE_COUNT; i++)
        texts[i] = s->text[price_settings[i]];
    pb_status status = read_prices(ctx, s, game->graph, texts, tier);
    return status == PB_OK ? read_size(ctx, s, PB_SET_slow_cap, game->graph, &tier->cap) : status;
}

/* ---- games ---- */

static pb_status read_kind(pb_context *ctx, pb_settings *s, pb_game *game)
{
    static const char *const names[] = {"remat", "reversible", "tiered", "timed"};
    const char *text = s->text[PB_SET_game];
    if (text && !pb_game_kind_parse(text, &game->kind))
        return about(s, PB_SET_game, pbi_unknown_name(ctx, "game", text, names, 4));
    if (!pb_settings_have_tiers(s))
        return PB_OK;
    if (text && game->kind != PB_GAME_TIERED)
        return about(
            s, PB_SETTING_COUNT,
            pbi_fail(ctx, PB_EINVAL, "slow memory is part of the tiered game, not of %s; use the tiered game", text));
    game->kind = PB_GAME_TIERED;
    return PB_OK;
}

/* Prices the graph; the machine's first memory is the default cap. */
static pb_status take_machine(pb_context *ctx, pb_settings *s, pb_arena *arena, pb_game *game)
{
    const pb_machine *m = NULL;
    pb_status status = game->graph ? pb_settings_machine(ctx, s, game->graph, arena, &m) : PB_OK;
    if (status != PB_OK || !m)
        return status;
    status = pb_graph_price(ctx, game->graph, m, arena, &game->graph);
    if (status == PB_OK && game->cap == PB_UNLIMITED && m->memories[0].cap != PB_UNLIMITED)
        game->cap = m->memories[0].cap - m->memories[0].reserve;
    return about(s, PB_SET_machine, status);
}

/* The machine with another cap of its first memory. */
static pb_status with_cap(const pb_machine *m, uint64_t cap, pb_arena *arena, const pb_machine **out)
{
    pb_machine *copy = pb_arena_alloc(arena, 1, sizeof *copy);
    pb_machine_memory *memories = pb_arena_alloc(arena, m->memory_count, sizeof *memories);
    if (!copy || !memories)
        return PB_ENOMEM;
    memcpy(memories, m->memories, m->memory_count * sizeof *memories);
    memories[0].cap = cap;
    *copy = *m;
    copy->memories = memories;
    *out = copy;
    return PB_OK;
}

/* The lanes of the timed game: the machine's, with the cap of the game. */
static pb_status take_lanes(pb_context *ctx, pb_settings *s, pb_arena *arena, pb_game *game)
{
    const pb_machine *m = game->graph ? game->graph->priced_by : NULL;
    if (!m)
        return about(
            s, PB_SET_machine,
            pbi_fail(ctx, PB_EINVAL,
                     "the timed game needs a machine, which has its processors, links and memories; name one"));
    if (game->borrow)
        return about(s, PB_SET_borrow, pbi_fail(ctx, PB_EINVAL, "the timed game has no borrowed memory; leave it out"));
    if (!s->text[PB_SET_cap])
        game->cap = m->memories[0].cap;
    if (game->cap < m->memories[0].reserve)
        return about(s, PB_SET_cap,
                     pbi_fail(ctx, PB_EINVAL, "the machine's memory \"%.60s\" reserves more than this cap; raise it",
                              m->memories[0].name));
    pb_status status = with_cap(m, game->cap, arena, &m);
    if (status == PB_OK)
        status = pb_timing_make(ctx, game->graph, m, arena, &game->timing);
    if (status == PB_OK)
        status = pb_timing_graph(ctx, game->timing, arena, &game->graph);
    return about(s, PB_SET_machine, status);
}

static pb_status read_objective(pb_context *ctx, pb_settings *s, pb_game *game)
{
    static const char *const names[] = {"makespan", "span"};
    const char *text = s->text[PB_SET_objective];
    if (!text)
        return PB_OK;
    if (!pb_objective_parse(text, &game->objective))
        return about(s, PB_SET_objective, pbi_unknown_name(ctx, "objective", text, names, 2));
    if (game->kind == PB_GAME_TIMED)
        return PB_OK;
    return about(
        s, PB_SET_objective,
        pbi_fail(ctx, PB_EINVAL, "only the timed game has an objective; choose that game, or leave the objective out"));
}

/* The tiers of the machine, or one without prices. */
static pb_status default_tiers(pb_context *ctx, pb_settings *s, pb_game *game)
{
    const pb_machine *m = game->graph ? game->graph->priced_by : NULL;
    if (!m) {
        game->tiers[0] = (pb_tier){.cap = PB_UNLIMITED};
        game->tier_count = 1;
    } else if (!pb_graph_tiers(game->graph, game->tiers, &game->tier_count)) {
        return about(
            s, PB_SET_machine,
            pbi_fail(ctx, PB_EINVAL,
                     "machine \"%.60s\" has no slow memory with links from and to its first memory; add links, "
                     "or give the prices of transfers",
                     m->name));
    }
    return PB_OK;
}

pb_status pb_settings_game(pb_context *ctx, pb_settings *s, pb_arena *arena, pb_game *game)
{
    const char *weights = s->text[PB_SET_weights];
    pb_status status = take_machine(ctx, s, arena, game);
    if (status == PB_OK)
        status = read_kind(ctx, s, game);
    if (status == PB_OK)
        status = pb_settings_tiers(ctx, s, game);
    if (status == PB_OK)
        status = read_size(ctx, s, PB_SET_cap, game->graph, &game->cap);
    if (status == PB_OK)
        status = read_size(ctx, s, PB_SET_borrow, game->graph, &game->borrow);
    if (status == PB_OK && weights && !strchr(weights, ';')) /* several weights are for a sweep */
        status = about(s, PB_SET_weights, pb_weights_parse(ctx, game->graph, weights, &game->weights));
    if (status == PB_OK && game->kind == PB_GAME_TIERED && !game->tier_count)
        status = default_tiers(ctx, s, game);
    if (status == PB_OK)
        status = read_objective(ctx, s, game);
    if (status == PB_OK && game->kind == PB_GAME_TIMED)
        status = take_lanes(ctx, s, arena, game);
    return status;
}

unsigned pb_settings_games(const pb_settings *s, pb_game *game)
{
    const pb_machine *m = game->graph->priced_by;
    if (s->text[PB_SET_game])
        return game->kind;
    if (m && !game->tier_count)
        pb_graph_tiers(game->graph, game->tiers, &game->tier_count);
    return PB_GAME_REMAT | PB_GAME_REVERSIBLE | (game->tier_count ? PB_GAME_TIERED : 0u);
}

pb_status pb_settings_weights(pb_context *ctx, pb_settings *s, const pb_graph *g, pb_arena *arena, pb_weights **out,
                              uint32_t *count)
{
    pb_weights *list = pb_arena_alloc(arena, MAX_WEIGHTS, sizeof *list);
    pb_status status = list ? PB_OK : PB_ENOMEM;
    *count = 0;
    for (const char *at = s->text[PB_SET_weights]; at && *at && status == PB_OK;) {
        size_t length = strcspn(at, ";");
        char *one = pb_arena_text(arena, at, length);
        if (!one)
            return PB_ENOMEM;
        status = *count == MAX_WEIGHTS ? pbi_fail(ctx, PB_EINVAL, "expected at most %d weights", MAX_WEIGHTS)
                                       : pb_weights_parse(ctx, g, one, &list[(*count)++]);
        at += length + (at[length] == ';');
    }
    *out = list;
    return about(s, PB_SET_weights, status);
}

/* ---- requests ---- */

/* "5%" or "0.05" */
static pb_status read_gap(pb_context *ctx, pb_settings *s, double *gap)
{
    const char *text = s->text[PB_SET_gap];
    char *end;
    if (!text)
        return PB_OK;
    double value = strtod(text, &end);
    bool percent = end != text && *end == '%';
    if (end == text || end[percent] || !(value >= 0) || value > 1e6)
        return about(s, PB_SET_gap,
                     pbi_fail(ctx, PB_EINVAL, "expected a share such as 5%% or 0.05, not `%.60s`", text));
    *gap = percent ? value / 100 : value;
    return PB_OK;
}

pb_status pb_settings_limits(pb_context *ctx, pb_settings *s, pb_limits *limits)
{
    const char *time = s->text[PB_SET_time];
    if (time && !pb_time_parse(time, &limits->seconds))
        return about(s, PB_SET_time,
                     pbi_fail(ctx, PB_EINVAL, "expected a time such as 5s, 500ms, 2m or 1h, not `%.60s`", time));
    limits->timed |= time != NULL;
    pb_status status = pb_settings_number(ctx, s, PB_SET_ticks, UINT64_MAX, &limits->ticks);
    return status == PB_OK ? pb_settings_number(ctx, s, PB_SET_memory, SIZE_MAX, &limits->memory) : status;
}

pb_status pb_settings_request(pb_context *ctx, pb_settings *s, pb_request *request)
{
    const char *strategy = s->text[PB_SET_strategy], *policy = s->text[PB_SET_policy];
    pb_limits limits = {.timed = false};
    uint64_t threads = request->threads, patient = 0;
    pb_status status = pb_settings_limits(ctx, s, &limits);
    if (status == PB_OK)
        status = pb_settings_number(ctx, s, PB_SET_seed, UINT64_MAX, &request->seed);
    if (status == PB_OK)
        status = pb_settings_number(ctx, s, PB_SET_threads, MAX_THREADS, &threads);
    if (status == PB_OK)
        status = pb_settings_number(ctx, s, PB_SET_patient, 1, &patient);
    if (status == PB_OK)
        status = read_gap(ctx, s, &request->gap);
    if (status == PB_OK)
        status = about(s, PB_SET_strategy, pbi_names_check(ctx, strategy, NULL));
    if (status == PB_OK)
        status = about(s, PB_SET_policy, pbi_names_check(ctx, NULL, policy));
    if (status != PB_OK)
        return status;
    request->threads = (uint32_t)threads;
    request->strategy = strategy ? strategy : request->strategy;
    request->policy = policy ? policy : request->policy;
    request->patient = patient || limits.timed || limits.ticks;
    request->bound_effort = limits.timed ? pb_bounds_effort_in(limits.seconds) : 0;
    return PB_OK;
}

/* ---- files ---- */

/* "batch=32,seq=128"; the last equals sign of each separates name and size. */
static pb_status read_dims(pb_context *ctx, pb_settings *s, pb_arena *arena, pb_read_options *options)
{
    const char *text = s->text[PB_SET_dims], *separator = text && strchr(text, '\n') ? "\n" : ",";
    uint32_t room = 1;
    for (const char *at = text; at && *at; at++)
        room += *at == *separator;
    pb_option *dims = pb_arena_alloc(arena, room, sizeof *dims);
    if (!dims)
        return PB_ENOMEM;
    options->dims = dims;
    options->dim_count = 0;
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, separator), key = length;
        while (key && at[key - 1] != '=')
            key--;
        if (key < 2 || key == length)
            return pbi_fail(ctx, PB_EINVAL, "expected NAME=N, as in batch=32, not `%.*s`",
                            length < 60 ? (int)length : 60, at);
        pb_option *dim = &dims[options->dim_count++];
        dim->key = pb_arena_text(arena, at, key - 1);
        dim->value = pb_arena_text(arena, at + key, length - key);
        if (!dim->key || !dim->value)
            return PB_ENOMEM;
        at += length + (at[length] != '\0');
    }
    return PB_OK;
}

pb_status pb_settings_reading(pb_context *ctx, pb_settings *s, pb_arena *arena, pb_read_options *options)
{
    static const char *const inputs[] = {"free", "given", "computed"},
                             *const grads[] = {"accumulate", "keep", "update"},
                             *const optimizers[] = {"none", "sgd", "momentum", "adam"},
                             *const attention[] = {"fused", "separate"};
    uint64_t train = options->train;
    pb_status status = read_word(ctx, s, PB_SET_inputs, "choice", inputs, 3);
    if (status == PB_OK)
        status = about(s, PB_SET_dims, read_dims(ctx, s, arena, options));
    if (status == PB_OK)
        status = pb_settings_number(ctx, s, PB_SET_batch, UINT64_MAX, &options->batch);
    if (status == PB_OK && s->text[PB_SET_batch] && !options->batch)
        status = about(s, PB_SET_batch, pbi_fail(ctx, PB_EINVAL, "expected a number of at least 1"));
    if (status == PB_OK)
        status = pb_settings_number(ctx, s, PB_SET_train, 1, &train);
    if (status == PB_OK)
        status = read_word(ctx, s, PB_SET_optimizer, "optimizer", optimizers, 4);
    if (status == PB_OK)
        status = read_word(ctx, s, PB_SET_grads, "choice", grads, 3);
    if (status == PB_OK)
        status = read_word(ctx, s, PB_SET_attention, "choice", attention, 2);
    if (status != PB_OK)
        return status;
    if (s->text[PB_SET_inputs])
        pb_inputs_parse(s->text[PB_SET_inputs], &options->inputs);
    options->train = train;
    options->optimizer = s->text[PB_SET_optimizer];
    options->grads = s->text[PB_SET_grads];
    options->attention = s->text[PB_SET_attention];
    if (!train && (options->optimizer || options->grads))
        return about(s, options->optimizer ? PB_SET_optimizer : PB_SET_grads,
                     pbi_fail(ctx, PB_EINVAL, "only a training step uses this; set train too"));
    return PB_OK;
}
