/* settings.c -- see settings.h. */
#include "settings.h"

#include "commands.h"

#include <stdio.h>
#include <string.h>

/* The option of each setting. A later row wins when both are given. */
static const struct {
    pb_setting setting;
    option_id option;
} options_of[] = {
    {PB_SET_game, OPT_GAME},
    {PB_SET_objective, OPT_OBJECTIVE},
    {PB_SET_cap, OPT_CAP},
    {PB_SET_machine, OPT_MACHINE},
    {PB_SET_borrow, OPT_BORROW},
    {PB_SET_weights, OPT_WEIGHTS},
    {PB_SET_store_cost, OPT_STORE_COST},
    {PB_SET_load_cost, OPT_LOAD_COST},
    {PB_SET_store_per_unit, OPT_STORE_PER_UNIT},
    {PB_SET_load_per_unit, OPT_LOAD_PER_UNIT},
    {PB_SET_slow_cap, OPT_SLOW_CAP},
    {PB_SET_strategy, OPT_STRATEGIES},
    {PB_SET_strategy, OPT_STRATEGY},
    {PB_SET_policy, OPT_POLICY},
    {PB_SET_seed, OPT_SEED},
    {PB_SET_threads, OPT_THREADS},
    {PB_SET_ticks, OPT_TICKS},
    {PB_SET_time, OPT_TIME},
    {PB_SET_gap, OPT_GAP},
    {PB_SET_inputs, OPT_INPUTS},
    {PB_SET_dims, OPT_DIM},
    {PB_SET_batch, OPT_BATCH},
    {PB_SET_optimizer, OPT_OPTIMIZER},
    {PB_SET_grads, OPT_GRADS},
    {PB_SET_attention, OPT_ATTENTION},
    {PB_SET_caps, OPT_CAPS},
    {PB_SET_points, OPT_POINTS},
};
enum { OPTIONS_OF = sizeof options_of / sizeof *options_of };

/* All texts of an option that may be repeated, each followed by `mark`; NULL without any or without memory. */
static const char *join(app *a, const char *const *texts, uint32_t count, char mark)
{
    size_t length = 1;
    for (uint32_t i = 0; i < count; i++)
        length += strlen(texts[i]) + 1;
    char *all = count ? pb_arena_alloc(&a->arena, length, 1) : NULL, *at = all;
    for (uint32_t i = 0; all && i < count; i++) {
        size_t one = strlen(texts[i]);
        memcpy(at, texts[i], one);
        at[one] = mark;
        at += one + 1;
    }
    if (all)
        *at = '\0';
    return all;
}

pb_settings settings_of(app *a)
{
    pb_settings s = {.wrong = PB_SETTING_COUNT};
    for (int i = 0; i < OPTIONS_OF; i++)
        if (app_option(a, options_of[i].option))
            s.text[options_of[i].setting] = app_option(a, options_of[i].option);
    if (a->opts.dim_count)
        s.text[PB_SET_dims] = join(a, a->opts.dims, a->opts.dim_count, '\n');
    if (a->opts.weights_count && (a->command->bit & ON_SWEEP))
        s.text[PB_SET_weights] = join(a, a->opts.weights, a->opts.weights_count, ';');
    if (app_option(a, OPT_TRAIN))
        s.text[PB_SET_train] = "1";
    return s;
}

static const char *option_name(const app *a, pb_setting which)
{
    const char *name = NULL;
    for (int i = 0; i < OPTIONS_OF; i++)
        if (options_of[i].setting == which && (!name || app_option(a, options_of[i].option)))
            name = option_specs[options_of[i].option].name;
    return name;
}

exit_code setting_code(app *a, const pb_settings *s, pb_status status)
{
    const char *name = option_name(a, s->wrong);
    if (status == PB_OK)
        return EXIT_DONE;
    if (status == PB_EFORMAT || status == PB_EIO) /* the file of a machine */
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    if (name)
        return app_usage(a, "--%s: %s", name, a->ctx.error.message);
    if (status == PB_EINVAL || status == PB_EUNKNOWN || status == PB_ERANGE)
        return app_usage(a, "%s", a->ctx.error.message);
    return app_status(a, status);
}

bool setting_done(app *a, const pb_settings *s, pb_status status) { return setting_code(a, s, status) == EXIT_DONE; }

bool setting_size(app *a, option_id id, const pb_graph *g, uint64_t *size)
{
    const char *text = app_option(a, id);
    pb_status status = text ? pb_size_read(&a->ctx, g, text, size) : PB_OK;
    if (status == PB_EINVAL)
        app_usage(a, "--%s: %s", option_specs[id].name, a->ctx.error.message);
    else if (status != PB_OK)
        app_status(a, status);
    return status == PB_OK;
}

/* What the costs are, if that may surprise. */
static void note_costs(app *a, const pb_graph *g)
{
    const pb_machine *m = g->priced_by;
    const pb_graph *own = m ? g->unpriced : g;
    if (!m && own->work && strcmp(own->cost_unit, "flop") == 0)
        app_note(a, "note: flop counts ignore memory traffic; use --machine NAME (pebble machine list) for times");
    if (!m && own->fixed_count)
        app_note(a, "note: the graph's fixed memory is not counted without a machine; use --machine NAME");
    if (m && !own->work && !own->note && strcmp(own->cost_unit, m->time_unit) != 0)
        app_note(a,
                 "warning: the nodes state neither flops nor bytes; their costs in %.60s are taken as times in %.60s "
                 "on %.60s",
                 own->cost_unit, m->time_unit, m->name);
    if (m && !m->per_second && own->work && strcmp(own->cost_unit, m->time_unit) != 0)
        app_note(a,
                 "warning: %.60s has an abstract clock, which rates do not apply to; costs in %.60s are taken as %.60s",
                 m->name, own->cost_unit, m->time_unit);
    if (m && m->per_second && strcmp(own->size_unit, "byte") != 0)
        app_note(a, "note: sizes in %.60s are taken as bytes, which the memory and the links of %.60s count",
                 own->size_unit, m->name);
}

/* Games have fewer tiers than machines may have memories. */
static void note_tiers(app *a, const pb_game *game)
{
    const pb_machine *m = game->graph->priced_by;
    pb_tier tiers[PB_MAX_TIERS];
    uint32_t count, all = m && game->tier_count && game->tiers[0].store_link ? pb_machine_tiers(m, tiers, &count) : 0;
    if (all > PB_MAX_TIERS)
        app_note(a, "note: %.60s has %u slow memories; the tiered game uses the first %d", m->name, (unsigned)all,
                 PB_MAX_TIERS);
}

exit_code setting_game(app *a, pb_game *game)
{
    pb_settings s = settings_of(a);
    exit_code code = setting_code(a, &s, pb_settings_game(&a->ctx, &s, &a->arena, game));
    if (code == EXIT_DONE) {
        note_costs(a, game->graph);
        note_tiers(a, game);
    }
    return code;
}

unsigned setting_games(app *a, pb_game *game)
{
    pb_settings s = settings_of(a);
    bool stated = game->tier_count > 0; /* then there was a note */
    unsigned games = pb_settings_games(&s, game);
    if (!stated)
        note_tiers(a, game);
    return games;
}

bool setting_weights(app *a, const pb_graph *g, pb_weights *weights)
{
    pb_settings s = {.text[PB_SET_weights] = app_option(a, OPT_WEIGHTS)};
    pb_weights *list = NULL;
    uint32_t count = 0;
    pb_status status = pb_settings_weights(&a->ctx, &s, g, &a->arena, &list, &count);
    if (status == PB_OK && count)
        *weights = list[0];
    return setting_done(a, &s, status);
}

bool setting_limits(app *a)
{
    pb_settings s = settings_of(a);
    pb_limits limits = {.ticks = a->ctx.tick_limit};
    if (!setting_done(a, &s, pb_settings_limits(&a->ctx, &s, &limits)))
        return false;
    a->ctx.tick_limit = limits.ticks;
    if (limits.timed)
        progress_limit(&a->progress, limits.seconds);
    return true;
}

bool setting_request(app *a, pb_request *request)
{
    pb_settings s = settings_of(a);
    request->read_files = true;
    return setting_limits(a) && setting_done(a, &s, pb_settings_request(&a->ctx, &s, request));
}

exit_code setting_strategies(app *a, const char *strategies, const char *all, const char **out)
{
    size_t length = strlen(strategies ? strategies : all) + 1, used;
    *out = strategies;
    for (uint32_t i = 0; i < a->opts.schedule_count; i++) {
        const char *path = a->opts.schedules[i];
        if (strcmp(path, "-") == 0 || strpbrk(path, ",="))
            return app_usage(
                a, "--schedule: expected the name of a file without commas and signs of equality, not `%s`", path);
        length += strlen(path) + sizeof ",schedule:file=";
    }
    if (!a->opts.schedule_count)
        return EXIT_DONE;
    char *text = pb_arena_alloc(&a->arena, length, 1);
    if (!text)
        return app_status(a, PB_ENOMEM);
    used = (size_t)snprintf(text, length, "%s", strategies ? strategies : all);
    for (uint32_t i = 0; i < a->opts.schedule_count; i++)
        used += (size_t)snprintf(text + used, length - used, ",schedule:file=%s", a->opts.schedules[i]);
    *out = text;
    return EXIT_DONE;
}

bool has_cap(const app *a, const pb_game *game)
{
    return app_option(a, OPT_CAP) || game->cap != PB_UNLIMITED; /* of a machine */
}

exit_code missing_cap(app *a)
{
    bool machines = a->command->bit & option_specs[OPT_MACHINE].commands;
    return app_usage(a, "--cap is missing; try --cap 80%%, for 80 %% of the peak in program order%s",
                     machines ? ", or --machine NAME" : "");
}
