/* settings.c -- see settings.h. */
#include "settings.h"

#include "commands.h"

#include <string.h>

bool setting_size(app *a, option_id id, const pb_graph *g, uint64_t *size)
{
    const char *text = app_option(a, id);
    char why[256];
    uint64_t whole = 0;
    if (!text)
        return true;
    if (pb_size_is_share(text)) {
        pb_status status = pb_graph_program_peak(&a->ctx, g, &whole);
        if (status != PB_OK) {
            app_status(a, status);
            return false;
        }
    }
    if (pb_size_parse(text, g->size_unit, whole, size, why, sizeof why))
        return true;
    app_usage(a, "--%s: %s", option_specs[id].name, why);
    return false;
}

bool setting_weights(app *a, pb_weights *weights)
{
    const char *text = app_option(a, OPT_WEIGHTS);
    if (!text || pb_weights_parse(&a->ctx, text, weights) == PB_OK)
        return true;
    app_usage(a, "--weights: %s", a->ctx.error.message);
    return false;
}

/* `ids` in the order of pb_price. */
static bool read_prices(app *a, const pb_graph *g, const option_id *ids, pb_tier *tier)
{
    const char *texts[PB_PRICE_COUNT];
    for (int i = 0; i < PB_PRICE_COUNT; i++) {
        texts[i] = app_option(a, ids[i]);
        if (pb_price_check(&a->ctx, texts[i]) == PB_OK)
            continue;
        app_usage(a, "--%s: %s", option_specs[ids[i]].name, a->ctx.error.message);
        return false;
    }
    if (pb_tier_prices_parse(&a->ctx, g, texts, tier) == PB_OK)
        return true;
    app_usage(a, "%s", a->ctx.error.message);
    return false;
}

bool setting_tiers(app *a, const pb_graph *g, pb_game *game, bool *given)
{
    static const option_id ids[] = {OPT_STORE_COST, OPT_LOAD_COST, OPT_STORE_PER_UNIT, OPT_LOAD_PER_UNIT, OPT_SLOW_CAP};
    *given = false;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        *given |= app_option(a, ids[i]) != NULL;
    if (!*given)
        return true;
    pb_tier *tier = &game->tiers[0];
    *tier = (pb_tier){.cap = PB_UNLIMITED};
    game->tier_count = 1;
    return read_prices(a, g, ids, tier) && setting_size(a, OPT_SLOW_CAP, g, &tier->cap);
}

bool setting_game(app *a, pb_game_kind *kind, bool *given)
{
    const char *text = app_option(a, OPT_GAME);
    *given = text != NULL;
    if (!text || pb_game_kind_parse(text, kind))
        return true;
    static const char *const names[] = {"remat", "reversible", "tiered"};
    const char *near = nearest_name(text, names, 3);
    if (near)
        app_usage(a, "--game: there is no game `%s`; did you mean %s?", text, near);
    else
        app_usage(a, "--game: there is no game `%s`; choose remat, reversible or tiered", text);
    return false;
}

bool setting_limits(app *a)
{
    const char *text = app_option(a, OPT_TIME);
    double seconds;
    if (text) {
        if (!pb_time_parse(text, &seconds)) {
            app_usage(a, "--time: expected a time such as 5s, 500ms, 2m or 1h, not `%s`", text);
            return false;
        }
        progress_limit(&a->progress, seconds);
    }
    return app_number(a, OPT_TICKS, a->ctx.tick_limit, &a->ctx.tick_limit);
}

static uint64_t steps_for_bounds(const char *time)
{
    double seconds;
    return time && pb_time_parse(time, &seconds) ? pb_bounds_effort_in(seconds) : 0;
}

/* True if the name before any colon is a strategy. */
static bool check_strategy(app *a, const char *text)
{
    char name[64];
    const char *names[64];
    uint32_t count;
    const pb_strategy *all = pb_strategies(&count);
    size_t length = strcspn(text, ":,");
    if (length < sizeof name) {
        memcpy(name, text, length);
        name[length] = '\0';
        if (pb_strategy_find(name))
            return true;
    } else {
        name[0] = '\0';
    }
    for (uint32_t i = 0; i < count && i < 64; i++)
        names[i] = all[i].name;
    const char *near = nearest_name(name, names, count < 64 ? count : 64);
    if (near)
        app_usage(a, "--strategy: there is no strategy `%.*s`; did you mean %s?", (int)length, text, near);
    else
        app_usage(a, "--strategy: there is no strategy `%.*s`; `pebble help plan` lists them", (int)length, text);
    return false;
}

static bool check_policy(app *a, const char *text)
{
    const char *names[64];
    uint32_t count;
    const pb_policy *all = pb_policies(&count);
    for (uint32_t i = 0; i < count && i < 64; i++) {
        names[i] = all[i].name;
        if (strcmp(all[i].name, text) == 0)
            return true;
    }
    const char *near = nearest_name(text, names, count < 64 ? count : 64);
    if (near)
        app_usage(a, "--policy: there is no policy `%s`; did you mean %s?", text, near);
    else
        app_usage(a, "--policy: there is no policy `%s`; `pebble help plan` lists them", text);
    return false;
}

/* Checks the names of a list such as a,b:k=2,c: a comma starts a new strategy unless a key=value follows. */
static bool check_strategies(app *a, const char *text)
{
    bool has_settings = false;
    while (*text) {
        size_t length = strcspn(text, ",");
        const char *colon = memchr(text, ':', length), *equals = memchr(text, '=', length);
        bool setting = has_settings && equals && !colon;
        bool all = length == 3 && memcmp(text, "all", 3) == 0;
        if (!setting && !all && !check_strategy(a, text))
            return false;
        has_settings = setting || colon;
        text += length;
        text += *text == ',';
    }
    return true;
}

bool setting_request(app *a, pb_request *request)
{
    uint64_t threads;
    const char *strategy = app_option(a, OPT_STRATEGY), *policy = app_option(a, OPT_POLICY);
    if (!strategy)
        strategy = app_option(a, OPT_STRATEGIES);
    if (!setting_limits(a) || !app_number(a, OPT_SEED, request->seed, &request->seed) ||
        !app_number(a, OPT_THREADS, request->threads, &threads))
        return false;
    if (threads > 1024) {
        app_usage(a, "--threads: expected at most 1024");
        return false;
    }
    request->threads = (uint32_t)threads;
    request->patient = app_option(a, OPT_TIME) || app_option(a, OPT_TICKS);
    request->bound_effort = steps_for_bounds(app_option(a, OPT_TIME));
    if (strategy) {
        bool many = (a->command->bit & (ON_COMPARE | ON_SWEEP)) != 0;
        if (!(many ? check_strategies(a, strategy) : check_strategy(a, strategy)))
            return false;
        request->strategy = strategy;
    }
    if (policy) {
        if (!check_policy(a, policy))
            return false;
        request->policy = policy;
    }
    return true;
}

exit_code missing_cap(app *a)
{
    return app_usage(a, "--cap is missing; try --cap 80%%, for 80 %% of the peak in program order");
}
