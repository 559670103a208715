/* job_read.c -- what a job is to do, from its control document. */
#define _XOPEN_SOURCE 700
#include "control.h"
#include "job.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LIST = 4096, MOST_POINTS = 1000, MOST_THREADS = 64 };
#define LONGEST_TIME_MS UINT64_C(86400000)
static const char job_fields[] =
    "kind game cap borrow machine objective strategies policy weights prices time_ms ticks seed threads caps points";

static bool refuse(job *j, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(j->ctx.error.message, sizeof j->ctx.error.message, format, args);
    va_end(args);
    j->ctx.error.line = j->ctx.error.column = 0;
    return false;
}

/* A field that exists and is not null. */
static json_t *field(json_t *document, const char *key)
{
    json_t *value = json_object_get(document, key);
    return json_is_null(value) ? NULL : value;
}

/* Are all fields of the object among the words of `names`? */
static bool known_fields(job *j, json_t *document, const char *where, const char *names)
{
    const char *key = control_unknown(document, names);
    return !key || refuse(j, "%sthere is no field `%.60s`; choose from: %s", where, key, names);
}

/* A field that becomes a setting, as text: `takes` says what is expected. */
static bool take_field(job *j, json_t *document, const char *key, const char *takes, pb_setting which, pb_settings *s)
{
    char room[CONTROL_TEXT];
    json_t *value = field(document, key);
    if (!value)
        return true;
    const char *text = control_text(value, room);
    if (!text)
        return refuse(j, "%s: expected %s", key, takes);
    s->text[which] = pb_arena_text(&j->arena, text, strlen(text));
    return s->text[which] || refuse(j, "out of memory; free memory on this machine, or use a smaller graph");
}

static bool take_number(job *j, json_t *document, const char *key, uint64_t max, uint64_t *out)
{
    char room[CONTROL_TEXT];
    json_t *value = field(document, key);
    const char *text = control_text(value, room);
    if (!value)
        return true;
    if (!text)
        return refuse(j, "%s: expected a whole number", key);
    if (pb_number_read(&j->ctx, text, max, out) == PB_OK)
        return true;
    pb_error_name(&j->ctx, key);
    return false;
}

/* True for PB_OK; otherwise the sentence gets the name of its field. */
static bool settings_done(job *j, const pb_settings *s, pb_status status)
{
    const char *name = s->wrong == PB_SET_strategy ? "strategies" : pb_setting_name(s->wrong);
    if (status != PB_OK && !j->ctx.error.message[0])
        return refuse(j, "%s", pb_status_text(status));
    if (status != PB_OK && s->wrong < PB_SETTING_COUNT)
        pb_error_name(&j->ctx, name);
    return status == PB_OK;
}

static bool read_kind(job *j, json_t *document)
{
    static const char *const names[] = {"compare", "plan", "sweep", "least"};
    const char *kind = json_string_value(field(document, "kind"));
    for (int i = 0; i < 4; i++)
        if (kind && strcmp(kind, names[i]) == 0) {
            j->spec->kind = (job_kind)i;
            return true;
        }
    return refuse(j, "kind: expected one of compare, plan, sweep and least");
}

static bool take_prices(job *j, json_t *document, pb_settings *s)
{
    static const pb_setting fields[] = {PB_SET_store_cost, PB_SET_load_cost, PB_SET_store_per_unit,
                                        PB_SET_load_per_unit, PB_SET_slow_cap};
    enum { FIELDS = sizeof fields / sizeof *fields };
    json_t *prices = field(document, "prices");
    if (!prices)
        return true;
    if (!json_is_object(prices))
        return refuse(
            j, "prices: expected an object with store_cost, load_cost, store_per_unit, load_per_unit or slow_cap");
    if (!known_fields(j, prices, "prices: ", "store_cost load_cost store_per_unit load_per_unit slow_cap"))
        return false;
    s->text[PB_SET_slow_cap] = "none"; /* an empty object is a tier without prices */
    for (int i = 0; i < FIELDS; i++)
        if (!take_field(j, prices, pb_setting_name(fields[i]), "a number", fields[i], s))
            return false;
    pb_game game = PB_GAME_DEFAULT(j->graph->g);
    pb_game_kind kind = PB_GAME_TIERED;
    if (!settings_done(j, s, pb_settings_tiers(&j->ctx, s, &game)))
        return false;
    if (s->text[PB_SET_game] && pb_game_kind_parse(s->text[PB_SET_game], &kind) && kind != PB_GAME_TIERED)
        for (int i = 0; i < FIELDS; i++)
            s->text[fields[i]] = NULL; /* the page keeps its prices while another game is looked at */
    return true;
}

/* A built-in name, none, or the document of a machine file. */
static bool take_machine(job *j, json_t *document, pb_settings *s)
{
    json_t *machine = field(document, "machine");
    s->no_files = true;
    if (!machine || json_is_string(machine))
        return take_field(j, document, "machine", "a name", PB_SET_machine, s);
    if (!json_is_object(machine))
        return refuse(j, "machine: expected a name such as \"a100-40\", or the content of a machine file");
    char *text = json_dumps(machine, JSON_COMPACT | JSON_REAL_PRECISION(17));
    s->text[PB_SET_machine] = text ? pb_arena_text(&j->arena, text, strlen(text)) : NULL;
    free(text);
    return s->text[PB_SET_machine] || refuse(j, "out of memory");
}

static bool take_weights(job *j, json_t *document, pb_settings *s)
{
    json_t *list = field(document, "weights");
    char text[128], one[CONTROL_TEXT];
    size_t used = 0;
    if (!list)
        return true;
    if (!json_is_array(list) || json_array_size(list) != 3)
        return refuse(j, "weights: expected a list of three numbers, as in [0, 0, 1]");
    for (size_t i = 0; i < 3; i++) {
        const char *weight = control_text(json_array_get(list, i), one);
        if (!weight || strlen(weight) > 36 || strpbrk(weight, ",;"))
            return refuse(j, "weights: expected a list of three numbers, as in [0, 0, 1]");
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", weight);
    }
    s->text[PB_SET_weights] = pb_arena_text(&j->arena, text, used);
    return s->text[PB_SET_weights] || refuse(j, "out of memory; free memory on this machine, or use a smaller graph");
}

/* The games to play, as the command chooses them: docs/guide.md. */
static bool read_game(job *j, json_t *document, pb_settings *s)
{
    job_spec *spec = j->spec;
    spec->base = PB_GAME_DEFAULT(j->graph->g);
    json_t *game = field(document, "game");
    if (game && !json_is_string(game))
        return refuse(j, "game: expected one of remat, reversible, tiered and timed");
    if (!take_field(j, document, "game", "a name", PB_SET_game, s) || !take_machine(j, document, s) ||
        !take_prices(j, document, s) ||
        !take_field(j, document, "cap", "a size such as \"60%\" or \"8GiB\"", PB_SET_cap, s) ||
        !take_field(j, document, "borrow", "a size such as \"20%\" or \"8GiB\"", PB_SET_borrow, s) ||
        !take_field(j, document, "objective", "makespan or span", PB_SET_objective, s) ||
        !take_weights(j, document, s) || !settings_done(j, s, pb_settings_game(&j->ctx, s, &j->arena, &spec->base)))
        return false;
    if (spec->kind == JOB_PLAN || spec->kind == JOB_LEAST)
        spec->games = (unsigned)spec->base.kind;
    else if (spec->kind == JOB_COMPARE || game)
        spec->games = pb_settings_games(s, &spec->base);
    return true;
}

/* Quick strategies first, those that take all the time they are given last. */
static int turn_of(const char *spec)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":,"), spec);
    const pb_strategy *row = pb_strategy_find(name);
    return !row ? 0 : row->strength == PB_PORTFOLIO ? 2 : row->strength == PB_ANYTIME ? 1 : 0;
}

static bool read_strategies(job *j, json_t *document)
{
    json_t *list = field(document, "strategies");
    char text[LONGEST_LIST] = "";
    size_t used = 0;
    if (!list) {
        j->spec->strategies = j->spec->kind == JOB_COMPARE ? "all" : "auto";
        return true;
    }
    if (!json_is_array(list) || json_array_size(list) == 0)
        return refuse(j, "strategies: expected a list of names, as in [\"auto\"]");
    if (j->spec->kind == JOB_PLAN && json_array_size(list) != 1)
        return refuse(j, "strategies: a plan takes one strategy; leave the others out, or use kind compare");
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < json_array_size(list); i++) {
            const char *one = json_string_value(json_array_get(list, i));
            if (!one || !one[0])
                return refuse(j, "strategies: expected a list of names, as in [\"auto\"]");
            if (turn == 0 && pb_spec_check(&j->ctx, one) != PB_OK) {
                pb_error_name(&j->ctx, "strategies");
                return false;
            }
            if (turn_of(one) != turn)
                continue;
            if (used + strlen(one) + 2 > sizeof text)
                return refuse(j, "strategies: the list is too long; leave some out");
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "," : "", one);
        }
    j->spec->strategies = pb_arena_text(&j->arena, text, used);
    return j->spec->strategies || refuse(j, "out of memory; free memory on this machine, or use a smaller graph");
}

static bool read_caps(job *j, json_t *document)
{
    json_t *list = field(document, "caps");
    uint64_t points = 12;
    if (!take_number(j, document, "points", MOST_POINTS, &points))
        return false;
    j->spec->points = points ? (uint32_t)points : 1;
    if (!list)
        return true;
    if (!json_is_array(list) || json_array_size(list) > MOST_CAP_TEXTS)
        return refuse(j, "caps: expected a list of at most %d sizes or ranges", MOST_CAP_TEXTS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        char room[CONTROL_TEXT];
        const char *text = control_text(json_array_get(list, i), room);
        text = text ? pb_arena_text(&j->arena, text, strlen(text)) : NULL;
        if (!text)
            return refuse(j, "caps: expected a list of sizes or ranges, as in [\"80%%\", \"100%%..30%%\"]");
        j->spec->caps[j->spec->cap_count++] = text;
    }
    return job_check_caps(j);
}

static bool read_request(job *j, json_t *document, pb_settings *s)
{
    job_spec *spec = j->spec;
    pb_limits limits = {.timed = false};
    uint64_t threads;
    char time[32];
    spec->request = PB_REQUEST_DEFAULT;
    json_t *policy = field(document, "policy");
    if (policy && !json_is_string(policy))
        return refuse(j, "policy: expected a name, as in \"least-recent\"");
    if (!take_field(j, document, "policy", "a name", PB_SET_policy, s) ||
        !take_number(j, document, "time_ms", LONGEST_TIME_MS, &spec->time_ms) ||
        !take_field(j, document, "ticks", "a whole number", PB_SET_ticks, s) ||
        !take_field(j, document, "seed", "a whole number", PB_SET_seed, s) ||
        !take_field(j, document, "threads", "a whole number", PB_SET_threads, s))
        return false;
    snprintf(time, sizeof time, "%" PRIu64 "ms", spec->time_ms);
    if (spec->time_ms)
        s->text[PB_SET_time] = time;
    if (!settings_done(j, s, pb_settings_number(&j->ctx, s, PB_SET_threads, MOST_THREADS, &threads)) ||
        !settings_done(j, s, pb_settings_limits(&j->ctx, s, &limits)) ||
        !settings_done(j, s, pb_settings_request(&j->ctx, s, &spec->request)))
        return false;
    spec->ticks = limits.ticks;
    spec->request.threads += !spec->request.threads;
    spec->request.strategy = NULL; /* spec->strategies has it */
    return true;
}

bool job_read(job *j, const char *text, size_t length, const char *machine)
{
    pb_settings settings = {.text[PB_SET_machine] = machine, .wrong = PB_SETTING_COUNT};
    json_t *document = control_load(text, length, &j->ctx.error);
    if (!document)
        return false;
    bool good = known_fields(j, document, "", job_fields) && read_kind(j, document) &&
                read_game(j, document, &settings) && read_strategies(j, document) && read_caps(j, document) &&
                read_request(j, document, &settings);
    json_decref(document);
    return good;
}
