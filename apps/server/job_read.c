/* job_read.c -- what a job is to do, from its control document. */
#define _XOPEN_SOURCE 700
#include "job.h"
#include "whole.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LIST = 4096, MOST_POINTS = 1000, MOST_THREADS = 64 };
#define LONGEST_TIME_MS UINT64_C(86400000)
static const char job_fields[] =
    "kind game cap strategies policy weights prices time_ms ticks seed threads caps points";

static bool refuse(job *j, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(j->ctx.error.message, sizeof j->ctx.error.message, format, args);
    va_end(args);
    j->ctx.error.line = j->ctx.error.column = 0;
    return false;
}

/* A field that is there and not null. */
static json_t *field(json_t *document, const char *key)
{
    json_t *value = json_object_get(document, key);
    return json_is_null(value) ? NULL : value;
}

/* The text of a string or a number, as the command's options would have it; NULL for anything else. */
static const char *plain_text(json_t *value, char *room, size_t size)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        snprintf(room, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value)) {
        snprintf(room, size, "%.15g", json_real_value(value)); /* the shorter one where it reads back the same */
        if (strtod(room, NULL) < json_real_value(value) || strtod(room, NULL) > json_real_value(value))
            snprintf(room, size, "%.17g", json_real_value(value));
    } else
        return NULL;
    return room;
}

/* Are all fields of the object among the words of `names`? */
static bool known_fields(job *j, json_t *document, const char *where, const char *names)
{
    const char *key;
    json_t *value;
    json_object_foreach(document, key, value)
    {
        size_t length = strlen(key);
        const char *at = names;
        while (*at && !(strncmp(at, key, length) == 0 && (at[length] == ' ' || at[length] == '\0'))) {
            at += strcspn(at, " ");
            at += *at == ' ';
        }
        if (!*at || !length)
            return refuse(j, "%sthere is no field `%.60s`; there are: %s", where, key, names);
    }
    return true;
}

static bool read_number(job *j, json_t *document, const char *key, uint64_t most, uint64_t *out)
{
    char room[64];
    json_t *value = field(document, key);
    if (!value)
        return true;
    const char *text = plain_text(value, room, sizeof room);
    if (!text || !whole_read(text, most, out))
        return most == UINT64_MAX ? refuse(j, "%s: a whole number below 2^64 is expected", key)
                                  : refuse(j, "%s: a whole number from 0 to %" PRIu64 " is expected", key, most);
    return true;
}

static bool read_size(job *j, json_t *document, const char *key, uint64_t *out)
{
    char room[64], why[256];
    json_t *value = field(document, key);
    if (!value)
        return true;
    const char *text = plain_text(value, room, sizeof room);
    if (!text)
        return refuse(j, "%s: a size is expected, such as \"60%%\" or \"8GiB\"", key);
    if (!pb_size_parse(text, j->graph->g->size_unit, j->graph->facts.program_peak, out, why, sizeof why))
        return refuse(j, "%s: %s", key, why);
    return true;
}

static bool read_text(job *j, json_t *document, const char *key, const char **out)
{
    json_t *value = field(document, key);
    if (!value)
        return true;
    if (!json_is_string(value))
        return refuse(j, "%s: a text is expected", key);
    *out = pb_arena_text(&j->arena, json_string_value(value), json_string_length(value));
    return *out || refuse(j, "out of memory");
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
    return refuse(j, "kind: one of compare, plan, sweep and least is expected");
}

static bool refuse_price(job *j, const char *key)
{
    char why[300];
    snprintf(why, sizeof why, "%.299s", j->ctx.error.message);
    return refuse(j, "%s: %s", key, why);
}

static bool read_tier_prices(job *j, json_t *prices, pb_tier *tier)
{
    char room[PB_PRICE_COUNT][64];
    const char *text[PB_PRICE_COUNT];
    for (int i = 0; i < PB_PRICE_COUNT; i++) {
        const char *key = pb_price_name((pb_price)i);
        json_t *value = field(prices, key);
        text[i] = value ? plain_text(value, room[i], sizeof room[i]) : NULL;
        if (value && !text[i])
            return refuse(j, "%s: a number is expected", key);
        if (pb_price_check(&j->ctx, text[i]) != PB_OK)
            return refuse_price(j, key);
    }
    return pb_tier_prices_parse(&j->ctx, j->graph->g, text, tier) == PB_OK || refuse_price(j, "prices");
}

static bool read_prices(job *j, json_t *document, bool *given)
{
    json_t *prices = field(document, "prices");
    pb_game *game = &j->spec->base;
    *given = prices != NULL;
    if (!prices)
        return true;
    if (!json_is_object(prices))
        return refuse(j, "prices: an object is expected");
    if (!known_fields(j, prices, "prices: ", "store_cost load_cost store_per_unit load_per_unit slow_cap"))
        return false;
    pb_tier *tier = &game->tiers[0];
    *tier = (pb_tier){.cap = PB_UNLIMITED};
    game->tier_count = 1;
    return read_tier_prices(j, prices, tier) && read_size(j, prices, "slow_cap", &tier->cap);
}

/* The games to play, as the command chooses them: docs/guide.md. */
static bool read_game(job *j, json_t *document)
{
    job_spec *spec = j->spec;
    bool prices;
    json_t *value = field(document, "game");
    if (!read_prices(j, document, &prices))
        return false;
    pb_game_kind kind = prices && spec->kind != JOB_COMPARE ? PB_GAME_TIERED : PB_GAME_REMAT;
    if (value && !(json_is_string(value) && pb_game_kind_parse(json_string_value(value), &kind)))
        return refuse(j, "game: one of remat, reversible and tiered is expected");
    if (value && prices && kind != PB_GAME_TIERED)
        spec->base.tier_count = 0; /* the page keeps its prices while another game is looked at */
    if (value || spec->kind == JOB_PLAN || spec->kind == JOB_LEAST)
        spec->games = (unsigned)kind;
    else if (spec->kind == JOB_COMPARE)
        spec->games = PB_GAME_REMAT | PB_GAME_REVERSIBLE | (prices ? PB_GAME_TIERED : 0u);
    if ((spec->games & PB_GAME_TIERED) && !spec->base.tier_count) {
        spec->base.tier_count = 1;
        spec->base.tiers[0] = (pb_tier){.cap = PB_UNLIMITED};
    }
    spec->base.kind = kind;
    return true;
}

static bool read_weights(job *j, json_t *document)
{
    json_t *list = field(document, "weights");
    char text[128], one[64];
    size_t used = 0;
    if (!list)
        return true;
    if (!json_is_array(list) || json_array_size(list) != 3)
        return refuse(j, "weights: a list of three numbers is expected");
    for (size_t i = 0; i < 3; i++) {
        const char *weight = plain_text(json_array_get(list, i), one, sizeof one);
        if (!weight || strlen(weight) > 36 || strchr(weight, ','))
            return refuse(j, "weights: a list of three numbers is expected");
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", weight);
    }
    return pb_weights_parse(&j->ctx, text, &j->spec->base.weights) == PB_OK;
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
        return refuse(j, "strategies: a list of names is expected");
    if (j->spec->kind == JOB_PLAN && json_array_size(list) != 1)
        return refuse(j, "strategies: a plan is made by one");
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < json_array_size(list); i++) {
            const char *one = json_string_value(json_array_get(list, i));
            if (!one || !one[0])
                return refuse(j, "strategies: a list of names is expected");
            if (turn == 0 && pb_spec_check(&j->ctx, one) != PB_OK)
                return false;
            if (turn_of(one) != turn)
                continue;
            if (used + strlen(one) + 2 > sizeof text)
                return refuse(j, "strategies: the list is too long");
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "," : "", one);
        }
    j->spec->strategies = pb_arena_text(&j->arena, text, used);
    return j->spec->strategies || refuse(j, "out of memory");
}

static bool read_caps(job *j, json_t *document)
{
    json_t *list = field(document, "caps");
    uint64_t points = 12;
    if (!read_number(j, document, "points", MOST_POINTS, &points))
        return false;
    j->spec->points = points ? (uint32_t)points : 1;
    if (!list)
        return true;
    if (!json_is_array(list) || json_array_size(list) > MOST_CAP_TEXTS)
        return refuse(j, "caps: a list of at most %d sizes or ranges is expected", MOST_CAP_TEXTS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        char room[64];
        const char *text = plain_text(json_array_get(list, i), room, sizeof room);
        text = text ? pb_arena_text(&j->arena, text, strlen(text)) : NULL;
        if (!text)
            return refuse(j, "caps: a list of sizes or ranges is expected");
        j->spec->caps[j->spec->cap_count++] = text;
    }
    return job_check_caps(j);
}

static bool read_policy(job *j, json_t *document)
{
    uint32_t count;
    const pb_policy *policies = pb_policies(&count);
    const char **policy = &j->spec->request.policy;
    if (!read_text(j, document, "policy", policy))
        return false;
    for (uint32_t i = 0; *policy && i < count; i++)
        if (strcmp(policies[i].name, *policy) == 0)
            return true;
    return !*policy || refuse(j, "policy: there is no policy `%.40s`", *policy);
}

static bool read_request(job *j, json_t *document)
{
    job_spec *spec = j->spec;
    uint64_t threads = 1;
    spec->request = PB_REQUEST_DEFAULT;
    if (!read_policy(j, document) || !read_number(j, document, "time_ms", LONGEST_TIME_MS, &spec->time_ms) ||
        !read_number(j, document, "ticks", UINT64_MAX, &spec->ticks) ||
        !read_number(j, document, "seed", UINT64_MAX, &spec->request.seed) ||
        !read_number(j, document, "threads", MOST_THREADS, &threads))
        return false;
    spec->request.threads = threads ? (uint32_t)threads : 1;
    spec->request.patient = spec->time_ms || spec->ticks;
    if (spec->time_ms)
        spec->request.bound_effort = pb_bounds_effort_in(1e-3 * (double)spec->time_ms);
    return true;
}

bool job_read(job *j, const char *text, size_t length)
{
    json_error_t error;
    job_spec *spec = j->spec;
    spec->base = (pb_game){.graph = j->graph->g, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    json_t *document = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!document) {
        refuse(j, "the control document is not JSON: %s", error.text);
        j->ctx.error.line = error.line > 0 ? (uint64_t)error.line : 1;
        j->ctx.error.column = error.column > 0 ? (uint64_t)error.column : 1;
        return false;
    }
    bool good = json_is_object(document) || refuse(j, "the control document is no JSON object");
    good = good && known_fields(j, document, "", job_fields) && read_kind(j, document) && read_game(j, document) &&
           read_size(j, document, "cap", &spec->base.cap) && read_weights(j, document) &&
           read_strategies(j, document) && read_caps(j, document) && read_request(j, document);
    json_decref(document);
    return good;
}
