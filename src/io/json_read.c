/* json_read.c -- see json_read.h. */
#include "io/json_read.h"

#include "base/checked.h"
#include "graph/graph_builder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pb_status pbi_field_fail(pbi_json *json, pbi_field field, const char *format, ...)
{
    char rest[400], of[64] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(rest, sizeof rest, format, args);
    va_end(args);
    if (field.of && strcmp(field.of, "item") == 0)
        return pbi_text_fail(json->text, json->place, "item %" PRIu64 " of \"%s\" %s", field.index, field.name, rest);
    if (field.of)
        snprintf(of, sizeof of, " of %s %" PRIu64, field.of, field.index);
    return pbi_text_fail(json->text, json->place, "\"%s\"%s %s", field.name, of, rest);
}

uint32_t pbi_key_find(pbi_slice key, const pbi_slice *names, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && (names[i].length != key.length || memcmp(names[i].bytes, key.bytes, key.length) != 0))
        i++;
    return i;
}

pb_status pbi_refuse_twice(pbi_json *json, pbi_field field, uint32_t which, uint32_t *seen)
{
    if (*seen & UINT32_C(1) << which)
        return pbi_field_fail(json, field, "appears twice in one object; remove one");
    *seen |= UINT32_C(1) << which;
    return PB_OK;
}

pb_status pbi_skip_null(pbi_json *json, bool *was_null)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(json, &kind);
    *was_null = status == PB_OK && kind == PBI_JSON_NULL;
    return *was_null ? pbi_json_word(json, kind) : status;
}

pb_status pbi_read_kind(pbi_json *json, pbi_field field, pbi_json_kind expected)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(json, &kind);
    if (status != PB_OK || kind == expected || (kind == PBI_JSON_TRUE && expected == PBI_JSON_FALSE))
        return status;
    return pbi_field_fail(json, field, "must be %s, not %s", pbi_json_kind_name(expected), pbi_json_kind_name(kind));
}

/* The text of an integer: a number, or the content of a string. */
static pb_status integer_text(pbi_json *json, pbi_field field, pbi_slice *out)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(json, &kind);
    if (status != PB_OK)
        return status;
    if (kind == PBI_JSON_NUMBER)
        return pbi_json_number(json, out);
    if (kind == PBI_JSON_STRING)
        return pbi_json_string(json, out);
    return pbi_field_fail(json, field, "must be a whole number, not %s", pbi_json_kind_name(kind));
}

void pbi_whole_advice(const char *key, pbi_slice text, char advice[PBI_WHOLE_ADVICE])
{
    bool unit = strcmp(key, "size") == 0 || strcmp(key, "workspace") == 0;
    pbi_decimal value;
    advice[0] = '\0';
    if (pbi_decimal_parse(text.bytes, text.length, &value) != PBI_DECIMAL_FINE)
        return;
    if (!value.digits)
        snprintf(advice, PBI_WHOLE_ADVICE, "; write %" PRIu64, value.number);
    else if (unit)
        snprintf(advice, PBI_WHOLE_ADVICE, "; count in a finer size_unit: multiply every %s by %" PRIu64, key,
                 pbi_decimal_unit(value.digits));
}

static pb_status not_whole(pbi_json *json, pbi_field field, pbi_slice text, const char *most)
{
    char advice[PBI_WHOLE_ADVICE];
    pbi_whole_advice(field.name, text, advice);
    return pbi_field_fail(json, field, "must be a whole number from 0 to %s, written in digits, not %.*s%s%s", most,
                          (int)(text.length < 60 ? text.length : 60), text.bytes, text.length > 60 ? "..." : "",
                          advice);
}

pb_status pbi_read_whole(pbi_json *json, pbi_field field, uint64_t *out)
{
    pbi_slice text = {"", 0};
    pb_status status = integer_text(json, field, &text);
    if (status != PB_OK)
        return status;
    uint64_t value = 0;
    size_t i = 0;
    for (; i < text.length && i < 19 && text.bytes[i] >= '0' && text.bytes[i] <= '9'; i++)
        value = value * 10 + (uint64_t)(text.bytes[i] - '0');
    if ((i < text.length || i == 0) && !pbi_u64_parse(text.bytes, text.length, &value))
        return not_whole(json, field, text, "2^64-1");
    *out = value;
    return PB_OK;
}

bool pbi_cost_parse(pbi_slice text, pbi_decimal *out, char why[PBI_WHOLE_ADVICE])
{
    int shown = (int)(text.length < 40 ? text.length : 40);
    pbi_decimal_verdict verdict = pbi_decimal_parse(text.bytes, text.length, out);
    if (verdict == PBI_DECIMAL_FINE && out->digits <= PBI_COST_DIGITS)
        return true;
    if (verdict == PBI_DECIMAL_WRONG)
        snprintf(why, PBI_WHOLE_ADVICE, "must be a number of 0 or more, as in 3 or 0.25, not %.*s", shown, text.bytes);
    else
        snprintf(
            why, PBI_WHOLE_ADVICE,
            "must be below 2^64 with at most %d decimals, not %.*s; round it, or state all costs in another cost_unit",
            PBI_COST_DIGITS, shown, text.bytes);
    return false;
}

pb_status pbi_read_cost(pbi_json *json, pbi_field field, pbi_decimal *out)
{
    pbi_slice text = {"", 0};
    char why[PBI_WHOLE_ADVICE];
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(json, &kind);
    if (status == PB_OK && kind != PBI_JSON_NUMBER && kind != PBI_JSON_STRING)
        return pbi_field_fail(json, field, "must be a number, not %s", pbi_json_kind_name(kind));
    if (status == PB_OK)
        status = kind == PBI_JSON_NUMBER ? pbi_json_number(json, &text) : pbi_json_string(json, &text);
    if (status == PB_OK && !pbi_cost_parse(text, out, why))
        return pbi_field_fail(json, field, "%s", why);
    return status;
}

pb_status pbi_read_u128(pbi_json *json, pbi_field field, pb_u128 *out)
{
    pbi_slice text = {"", 0};
    pb_status status = integer_text(json, field, &text);
    if (status != PB_OK)
        return status;
    if (!pbi_u128_parse(text.bytes, text.length, out))
        return not_whole(json, field, text, "2^128-1");
    return PB_OK;
}

pb_status pbi_read_flag(pbi_json *json, pbi_field field, bool *out)
{
    pb_status status = pbi_read_kind(json, field, PBI_JSON_FALSE);
    if (status != PB_OK)
        return status;
    *out = *json->text->at == 't';
    return pbi_json_word(json, *out ? PBI_JSON_TRUE : PBI_JSON_FALSE);
}

pb_status pbi_read_real(pbi_json *json, pbi_field field, double *out)
{
    pb_status status = pbi_read_kind(json, field, PBI_JSON_NUMBER);
    pbi_slice text;
    if (status == PB_OK)
        status = pbi_json_number(json, &text);
    if (status != PB_OK)
        return status;
    char copy[1024]; /* numbers are shorter: the scanner ensures it */
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = '\0';
    double value = strtod(copy, NULL);
    if (value - value != 0)
        return pbi_field_fail(json, field, "is too large: %.60s; use a coarser unit", copy);
    *out = value;
    return PB_OK;
}

pb_status pbi_read_text(pbi_json *json, pbi_field field, pbi_slice *out)
{
    pb_status status = pbi_read_kind(json, field, PBI_JSON_STRING);
    if (status == PB_OK)
        status = pbi_json_string(json, out);
    if (status == PB_OK && memchr(out->bytes, '\0', out->length))
        return pbi_field_fail(json, field, "must not contain a NUL character; remove it");
    return status;
}

pb_status pbi_read_copy(pbi_json *json, pbi_field field, pb_arena *arena, const char **out)
{
    pbi_slice text;
    pb_status status = pbi_read_text(json, field, &text);
    if (status != PB_OK)
        return status;
    const char *copy = pb_arena_text(arena, text.bytes, text.length);
    if (!copy)
        return PB_ENOMEM;
    *out = copy;
    return PB_OK;
}

bool pbi_bytes_add_quoted(pb_buffer *buffer, pbi_slice key)
{
    bool ok = pbi_bytes_add(buffer, "\"", 1);
    for (size_t i = 0; i < key.length && ok; i++) {
        unsigned char c = (unsigned char)key.bytes[i];
        char escape[8] = {'\\', (char)c, '\0'};
        if (c < 0x20 || c == 0x7f)
            snprintf(escape, sizeof escape, "\\u%04x", c);
        else if (c != '"' && c != '\\')
            escape[0] = (char)c, escape[1] = '\0';
        ok = pbi_bytes_add(buffer, escape, strlen(escape));
    }
    return ok && pbi_bytes_add(buffer, "\"", 1);
}

void pbi_keys_init(pbi_keys *keys, pb_arena *arena) { *keys = (pbi_keys){.arena = arena, .stamp = 1}; }

void pbi_keys_clear(pbi_keys *keys)
{
    keys->used = 0;
    if (++keys->stamp == 0) { /* the stamps wrapped around: old ones would be valid again */
        if (keys->slot_count)
            memset(keys->slot, 0, keys->slot_count * sizeof *keys->slot);
        keys->stamp = 1;
    }
}

static pbi_key_slot *keys_free_slot(pbi_keys *keys, uint64_t hash)
{
    size_t mask = keys->slot_count - 1, at = (size_t)hash & mask;
    while (keys->slot[at].stamp == keys->stamp)
        at = (at + 1) & mask;
    return &keys->slot[at];
}

static bool keys_grow(pbi_keys *keys)
{
    pbi_keys grown = *keys;
    grown.slot_count = keys->slot_count ? keys->slot_count * 2 : 16;
    grown.slot = pb_arena_zero(keys->arena, grown.slot_count, sizeof *grown.slot);
    if (!grown.slot)
        return false;
    for (size_t i = 0; i < keys->slot_count; i++)
        if (keys->slot[i].stamp == keys->stamp)
            *keys_free_slot(&grown, keys->slot[i].hash) = keys->slot[i];
    *keys = grown;
    return true;
}

pb_status pbi_keys_add(pbi_keys *keys, const pb_buffer *text, size_t at, size_t length, bool *fresh)
{
    if (keys->slot_count < 2 * (keys->used + 1) && !keys_grow(keys))
        return PB_ENOMEM;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text->bytes[at + i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    size_t mask = keys->slot_count - 1, here = (size_t)hash & mask;
    for (; keys->slot[here].stamp == keys->stamp; here = (here + 1) & mask) {
        const pbi_key_slot *slot = &keys->slot[here];
        if (slot->hash == hash && slot->length == length &&
            memcmp(text->bytes + slot->at, text->bytes + at, length) == 0) {
            *fresh = false;
            return PB_OK;
        }
    }
    keys->slot[here] = (pbi_key_slot){hash, at, length, keys->stamp};
    keys->used++;
    *fresh = true;
    return PB_OK;
}

pb_status pbi_json_keep(pbi_json *json, pbi_slice key, pb_buffer *into, pbi_keys *keys)
{
    if (into->length && !pbi_bytes_add(into, ",", 1))
        return PB_ENOMEM;
    size_t at = into->length;
    if (!pbi_bytes_add_quoted(into, key))
        return PB_ENOMEM;
    bool fresh;
    pb_status status = pbi_keys_add(keys, into, at, into->length - at, &fresh);
    if (status != PB_OK)
        return status;
    if (!fresh)
        return pbi_text_fail(json->text, json->place, "the field %.*s appears twice in one object; remove one",
                             (int)(into->length - at < 80 ? into->length - at : 80), into->bytes + at);
    if (!pbi_bytes_add(into, ":", 1))
        return PB_ENOMEM;
    return pbi_json_raw(json, into);
}
