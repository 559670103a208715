/* schedule_json.c -- reads pebble-schedule/1: the fields of the document; schedule_moves.c reads the moves.
 *
 * Members may come in any order. Costs are decimals in units of the weights, so their text is kept until the whole
 * document is read.
 */
#include "io/schedule_reader.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"
#include "base/decimal.h"
#include "game/price.h"
#include "io/formats.h"

#include <stddef.h>
#include <stdio.h>

enum field {
    FORMAT,
    GRAPH,
    GRAPH_HASH,
    GAME,
    CAP,
    BORROW,
    TIERS,
    MACHINE,
    STRATEGY,
    OPTIONS,
    POLICY,
    WEIGHTS,
    OBJECTIVE,
    VERSION,
    READ_WITH,
    OUTCOME,
    REASON,
    NOTE,
    LOWER_BOUND,
    BOUND_KIND,
    COST_BOUND,
    METRICS,
    ADDRESSES,
    MOVES,
    FIELDS
};
static const pbi_slice fields[] = {
    PBI_NAME("format"),     PBI_NAME("graph"),   PBI_NAME("graph_hash"),  PBI_NAME("game"),
    PBI_NAME("cap"),        PBI_NAME("borrow"),  PBI_NAME("tiers"),       PBI_NAME("machine"),
    PBI_NAME("strategy"),   PBI_NAME("options"), PBI_NAME("policy"),      PBI_NAME("weights"),
    PBI_NAME("objective"),  PBI_NAME("version"), PBI_NAME("read_with"),   PBI_NAME("outcome"),
    PBI_NAME("reason"),     PBI_NAME("note"),    PBI_NAME("lower_bound"), PBI_NAME("bound_kind"),
    PBI_NAME("cost_bound"), PBI_NAME("metrics"), PBI_NAME("addresses"),   PBI_NAME("moves"),
};

static pb_status copied(pbi_schedule_reader *r, pbi_field field, const char **out)
{
    return pbi_read_copy(&r->json, field, r->result, out);
}

/* One of a few words: the schedule stores its meaning. */
static pb_status read_word(pbi_schedule_reader *r, pbi_field field, uint32_t which)
{
    pbi_slice text;
    pb_status status = pbi_read_text(&r->json, field, &text);
    if (status != PB_OK)
        return status;
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)(text.length < 31 ? text.length : 31), text.bytes);
    switch (which) {
    case FORMAT:
        if (strcmp(word, "pebble-schedule/1") == 0)
            return PB_OK;
        return pbi_field_fail(&r->json, field, "must be \"pebble-schedule/1\", not \"%s\"", word);
    case GAME:
        if (pb_game_kind_parse(word, &r->s->game))
            return PB_OK;
        return pbi_field_fail(&r->json, field, "must be remat, reversible, tiered or timed, not \"%s\"", word);
    case OBJECTIVE:
        if (pb_objective_parse(word, &r->s->objective))
            return PB_OK;
        return pbi_field_fail(&r->json, field, "must be makespan or span, not \"%s\"", word);
    case OUTCOME:
        if (pb_outcome_parse(word, &r->s->outcome))
            return PB_OK;
        return pbi_field_fail(&r->json, field, "must be optimal, found, infeasible or gave_up, not \"%s\"", word);
    default:
        for (int kind = PB_BOUND_FREE_ORDER; kind <= PB_BOUND_FIXED_ORDER; kind++)
            if (strcmp(word, pb_bound_kind_name((pb_bound_kind)kind)) == 0) {
                r->s->bound_kind = (pb_bound_kind)kind;
                return PB_OK;
            }
        return pbi_field_fail(&r->json, field, "must be free-order or fixed-order, not \"%s\"", word);
    }
}

static pb_status read_hash(pbi_schedule_reader *r, pbi_field field)
{
    pbi_slice text;
    pb_status status = pbi_read_text(&r->json, field, &text);
    if (status != PB_OK || text.length == 0)
        return status;
    bool good = text.length == PB_HASH_TEXT - 1;
    for (size_t i = 0; i < text.length && good; i++)
        good = (text.bytes[i] >= '0' && text.bytes[i] <= '9') || (text.bytes[i] >= 'a' && text.bytes[i] <= 'f');
    if (!good)
        return pbi_field_fail(&r->json, field, "must be 64 hexadecimal digits in lower case");
    memcpy(r->s->graph_hash, text.bytes, text.length);
    r->s->graph_hash[text.length] = '\0';
    return PB_OK;
}

pb_status pbi_schedule_decimal(pbi_schedule_reader *r, pbi_field field, const char **out)
{
    pbi_json_kind kind;
    pbi_slice text = {"", 0};
    pb_status status = pbi_json_peek(&r->json, &kind);
    if (status == PB_OK && kind != PBI_JSON_NUMBER && kind != PBI_JSON_STRING)
        return pbi_field_fail(&r->json, field, "must be a number, not %s", pbi_json_kind_name(kind));
    if (status == PB_OK)
        status = kind == PBI_JSON_NUMBER ? pbi_json_number(&r->json, &text) : pbi_read_text(&r->json, field, &text);
    if (status != PB_OK)
        return status;
    *out = pb_arena_text(r->scratch, text.bytes, text.length);
    return *out ? PB_OK : PB_ENOMEM;
}

static pb_status read_weights(pbi_schedule_reader *r, pbi_field field)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    pbi_place place = r->json.place;
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    char text[160] = "";
    size_t used = 0;
    for (int i = 0; i < 4 && status == PB_OK; i++) {
        bool more;
        status = pbi_json_item(&r->json, &more);
        if (status == PB_OK && more != (i < 3)) {
            r->json.place = place;
            return pbi_field_fail(&r->json, field, "must be three numbers, as in [0, 0, 1]");
        }
        const char *weight = "";
        if (status == PB_OK && more)
            status = pbi_schedule_decimal(r, field, &weight);
        if (status == PB_OK && more && (strlen(weight) > 40 || strchr(weight, ',')))
            return pbi_field_fail(&r->json, field, "must be decimals of at most 40 characters");
        if (status == PB_OK && more)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", weight);
    }
    if (status == PB_OK && pb_weights_parse(r->ctx, NULL, text, &r->s->weights) != PB_OK) {
        r->json.place = place;
        return pbi_field_fail(&r->json, field, "must be decimals of 0 or more with at most 18 digits after the point");
    }
    return status;
}

/* An option of the strategy: its value as text. */
static pb_status read_option(pbi_schedule_reader *r, pbi_slice key)
{
    pb_option option = {pb_arena_text(r->result, key.bytes, key.length), NULL};
    if (!option.key)
        return PB_ENOMEM;
    if (memchr(key.bytes, '\0', key.length))
        return pbi_text_fail(r->json.text, r->json.place, "the name of an option contains a NUL character; remove it");
    pbi_field field = {option.key, NULL, 0};
    size_t at = r->option_names.length;
    bool fresh = true;
    if (!pbi_bytes_add(&r->option_names, key.bytes, key.length))
        return PB_ENOMEM;
    pb_status status = pbi_keys_add(&r->option_keys, &r->option_names, at, key.length, &fresh);
    if (status == PB_OK && !fresh)
        return pbi_field_fail(&r->json, field, "appears twice in one object; remove one");
    pbi_json_kind kind;
    if (status == PB_OK)
        status = pbi_json_peek(&r->json, &kind);
    if (status != PB_OK)
        return status;
    pbi_slice text = {kind == PBI_JSON_TRUE ? "true" : "false", kind == PBI_JSON_TRUE ? 4 : 5};
    if (kind == PBI_JSON_NUMBER || kind == PBI_JSON_STRING)
        status = kind == PBI_JSON_NUMBER ? pbi_json_number(&r->json, &text) : pbi_read_text(&r->json, field, &text);
    else if (kind == PBI_JSON_TRUE || kind == PBI_JSON_FALSE)
        status = pbi_json_word(&r->json, kind);
    else
        return pbi_field_fail(&r->json, field, "must be a text, a number or a boolean, not %s",
                              pbi_json_kind_name(kind));
    if (status != PB_OK)
        return status;
    option.value = pb_arena_text(r->result, text.bytes, text.length);
    void *items = r->options;
    if (!option.value ||
        !pbi_arena_reserve(r->scratch, &items, &r->option_room, r->option_count + 1, sizeof *r->options))
        return PB_ENOMEM;
    r->options = items;
    r->options[r->option_count++] = option;
    return PB_OK;
}

static pb_status read_options(pbi_schedule_reader *r, pbi_field field)
{
    static const pbi_slice names[] = {PBI_NAME("seed"), PBI_NAME("ticks"), PBI_NAME("threads")};
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    uint64_t value[3] = {r->s->seed, r->s->ticks, r->s->threads};
    uint32_t seen = 0;
    pbi_slice key;
    bool more, null = false;
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, names, 3);
        if (which == 3) {
            status = read_option(r, key);
            continue;
        }
        field.name = names[which].bytes;
        status = pbi_refuse_twice(&r->json, field, which, &seen);
        if (status == PB_OK)
            status = pbi_skip_null(&r->json, &null);
        if (status == PB_OK && !null)
            status = pbi_read_whole(&r->json, field, &value[which]);
        if (status == PB_OK && value[2] > UINT32_MAX)
            return pbi_field_fail(&r->json, field, "must be at most 4294967295");
    }
    r->s->seed = value[0];
    r->s->ticks = value[1];
    r->s->threads = (uint32_t)value[2];
    return status;
}

static pb_status read_metric(pbi_schedule_reader *r, pbi_field field, uint32_t which)
{
    pb_metrics *m = &r->s->metrics;
    uint64_t *const whole[] = {&m->peak,      &m->work, &m->io,    &m->makespan, &m->recompute, &m->recompute_count,
                               &m->uncompute, NULL,     &m->moves, &m->depth};
    switch (1 << which) {
    case PB_STATED_FLUX: return pbi_read_u128(&r->json, field, &m->flux);
    case PB_STATED_COST: {
        pb_status status = pbi_schedule_decimal(r, field, &r->cost_text);
        r->cost_place = r->json.place;
        return status;
    }
    case PB_STATED_OVERHEAD: return pbi_read_real(&r->json, field, &m->overhead);
    case PB_STATED_GAP: return pbi_read_real(&r->json, field, &m->gap);
    case PB_STATED_BORROWED: return pbi_read_whole(&r->json, field, &m->borrowed);
    case PB_STATED_SPAN: return pbi_read_whole(&r->json, field, &m->span);
    case PB_STATED_PEAKS: return pbi_schedule_read_peaks(r, field);
    default: return pbi_read_whole(&r->json, field, whole[which]);
    }
}

static pb_status read_metrics(pbi_schedule_reader *r, pbi_field field)
{
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    uint32_t seen = 0;
    pbi_slice key;
    bool more, null;
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, pbi_metric_names, PBI_METRICS);
        if (which < PBI_METRICS) {
            field.name = pbi_metric_names[which].bytes;
            status = pbi_refuse_twice(&r->json, field, which, &seen);
        }
        if (status == PB_OK)
            status = pbi_skip_null(&r->json, &null);
        if (status != PB_OK || null)
            continue;
        status = which < PBI_METRICS ? read_metric(r, field, which) : pbi_json_skip(&r->json);
        if (status == PB_OK && which < PBI_METRICS)
            r->s->metrics_stated |= UINT32_C(1) << which;
    }
    r->s->has_metrics = r->s->metrics_stated != 0;
    return status;
}

static pb_status read_field(pbi_schedule_reader *r, uint32_t which)
{
    pb_schedule *s = r->s;
    pbi_field field = {fields[which].bytes, NULL, 0};
    pb_status status = PB_OK;
    switch ((enum field)which) {
    case FORMAT:
    case GAME:
    case OBJECTIVE:
    case OUTCOME:
    case BOUND_KIND: return read_word(r, field, which);
    case GRAPH: return copied(r, field, &s->graph_name);
    case GRAPH_HASH: return read_hash(r, field);
    case CAP:
        status = pbi_read_whole(&r->json, field, &s->cap);
        r->cap_place = r->json.place;
        return status;
    case BORROW: return pbi_read_whole(&r->json, field, &s->borrow);
    case TIERS: return pbi_schedule_read_tiers(r, field);
    case MACHINE: return pbi_machine_json_read(&r->json, r->scratch, r->result, &s->machine);
    case STRATEGY: return copied(r, field, &s->strategy);
    case OPTIONS: return read_options(r, field);
    case POLICY: return copied(r, field, &s->policy);
    case WEIGHTS: return read_weights(r, field);
    case VERSION: return copied(r, field, &s->version);
    case READ_WITH: return copied(r, field, &s->read_with);
    case REASON: return copied(r, field, &s->reason);
    case NOTE: return copied(r, field, &s->note);
    case LOWER_BOUND: return pbi_read_whole(&r->json, field, &s->lower_bound);
    case COST_BOUND:
        status = pbi_schedule_decimal(r, field, &r->bound_text);
        r->bound_place = r->json.place;
        return status;
    case METRICS: return read_metrics(r, field);
    case ADDRESSES: return pbi_schedule_read_addresses(r, field);
    case MOVES: return pbi_schedule_read_moves(r, field);
    case FIELDS: break;
    }
    return status;
}

/* A decimal in units of 10^-digits; false if it is finer, negative or too large. */
static bool parse_cost(const char *text, uint32_t digits, pb_u128 *out)
{
    size_t length = strlen(text);
    pbi_decimal small;
    if (strpbrk(text, "eE")) { /* as other programs write small numbers */
        if (pbi_decimal_parse(text, length, &small) != PBI_DECIMAL_FINE || small.digits > digits)
            return false;
        *out = pbi_u128_product(small.number, pbi_decimal_unit(digits - small.digits));
        return true;
    }
    const char *point = strchr(text, '.');
    size_t whole = point ? (size_t)(point - text) : length;
    if (!pbi_u128_parse(text, whole, out))
        return false;
    if (point && !point[1])
        return false;
    const char *c = point ? point + 1 : "";
    for (; digits > 0; digits--) {
        unsigned digit = *c ? (unsigned)(*c++ - '0') : 0;
        if (digit > 9 || !pbi_u128_scale(*out, 10, out) || !pbi_u128_add(out, pbi_u128(digit)))
            return false;
    }
    while (*c == '0')
        c++;
    return *c == '\0';
}

static pb_status settle_cost(pbi_schedule_reader *r, pbi_field field, const char *text, pbi_place place, pb_u128 *out)
{
    r->json.place = place;
    if (text && !parse_cost(text, r->s->weights.digits, out))
        return pbi_field_fail(
            &r->json, field, "must be a decimal of 0 or more, with no more decimals than the weights, not %.60s", text);
    return PB_OK;
}

/* Checks and conversions that need the whole document. */
static pb_status finish(pbi_schedule_reader *r, pbi_place start)
{
    pb_schedule *s = r->s;
    const uint32_t needed[] = {FORMAT, GAME, MOVES};
    for (int i = 0; i < (r->with_moves ? 3 : 2); i++)
        if (!(r->seen & UINT32_C(1) << needed[i]))
            return pbi_text_fail(r->json.text, start, "the schedule has no field \"%s\"; add it, as in docs/formats.md",
                                 fields[needed[i]].bytes);
    bool bound = r->stated & UINT32_C(1) << LOWER_BOUND;
    if (bound && s->bound_kind == PB_BOUND_NONE)
        return pbi_text_fail(r->json.text, start,
                             "\"lower_bound\" also needs \"bound_kind\": free-order or fixed-order");
    if (!bound)
        s->bound_kind = PB_BOUND_NONE;
    s->has_cost_bound = r->bound_text != NULL;
    pb_status status = pbi_schedule_link_tiers(r);
    if (status == PB_OK)
        status = pbi_schedule_settle_lanes(r, start);
    if (status == PB_OK)
        status = settle_cost(r, (pbi_field){"cost", NULL, 0}, r->cost_text, r->cost_place, &s->metrics.cost);
    if (status == PB_OK)
        status = settle_cost(r, (pbi_field){"cost_bound", NULL, 0}, r->bound_text, r->bound_place, &s->cost_bound);
    if (status == PB_OK && r->option_count) {
        pb_option *options = pb_arena_alloc(r->result, r->option_count, sizeof *options);
        if (!options || r->option_count > UINT32_MAX)
            return PB_ENOMEM;
        memcpy(options, r->options, r->option_count * sizeof *options);
        s->options = options;
        s->option_count = (uint32_t)r->option_count;
    }
    return status;
}

static pb_status read_document(pbi_schedule_reader *r)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(&r->json, &kind);
    pbi_place start = r->json.place;
    if (status == PB_OK && kind != PBI_JSON_OBJECT)
        return pbi_text_fail(r->json.text, start, "expected a schedule, which is an object, not %s",
                             pbi_json_kind_name(kind));
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, kind);
    const uint32_t known = r->with_moves ? FIELDS : MOVES; /* `moves` comes last */
    pbi_slice key;
    bool more, null;
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, fields, known);
        if (which == known) {
            status = pbi_json_skip(&r->json);
            continue;
        }
        status = pbi_refuse_twice(&r->json, (pbi_field){fields[which].bytes, NULL, 0}, which, &r->seen);
        null = false;
        if (status == PB_OK && which != FORMAT && which != GAME && which != MOVES)
            status = pbi_skip_null(&r->json, &null);
        if (status == PB_OK && !null) {
            r->stated |= UINT32_C(1) << which;
            status = read_field(r, which);
        }
    }
    if (status == PB_OK)
        status = pbi_json_end(&r->json);
    return status == PB_OK ? finish(r, start) : status;
}

pb_status pbi_schedule_json_read(pbi_text *text, pb_arena *scratch, const pb_graph *g, bool moves, pb_arena *result,
                                 pb_schedule *out)
{
    pb_schedule s = {.graph_name = "",
                     .strategy = "",
                     .version = "",
                     .cap = PB_UNLIMITED,
                     .weights = PB_WEIGHTS_DEFAULT,
                     .threads = 1,
                     .outcome = PB_FOUND,
                     .metrics = {.gap = -1}};
    pb_moves_init(&s.moves, result);
    pbi_schedule_reader r = {
        .ctx = text->ctx, .scratch = scratch, .result = result, .graph = g, .s = &s, .with_moves = moves};
    pbi_json_init(&r.json, text, scratch);
    pb_buffer_init(&r.option_names, scratch);
    pbi_keys_init(&r.option_keys, scratch);
    pbi_mark mark = pbi_arena_mark(result);
    pb_status status = read_document(&r);
    if (status == PB_OK && g && !s.machine)
        s.linked = pbi_price_links(g, s.tiers, s.tier_count, s.links);
    if (status == PB_OK)
        *out = s;
    else
        pbi_arena_rewind(result, mark);
    return status;
}
