/* params.c -- one reader for the parameters of every family, so that all error messages are alike. */
#include "generate/params.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/checked.h"
#include "base/context.h"
#include "base/out.h"

/* Plain decimals only. A mantissa below 2^53 over a power of ten up to 10^22 divides with a single rounding, so the
 * same text gives the same double on every machine and in every locale. */
static bool parse_real(const char *text, double *out)
{
    uint64_t mantissa = 0;
    double scale = 1;
    bool digits = false, point = false;
    for (; *text; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9' || mantissa > (UINT64_C(1) << 53) / 10 - 1)
            return false;
        digits = true;
        mantissa = mantissa * 10 + (uint64_t)(*text - '0');
        if (point)
            scale *= 10;
    }
    *out = (double)mantissa / scale;
    return digits;
}

static bool find_word(const char *words, const char *text, size_t length, pbi_param_value *out)
{
    for (const char *at = words;;) {
        const char *bar = strchr(at, '|');
        size_t word_length = bar ? (size_t)(bar - at) : strlen(at);
        if (word_length == length && memcmp(at, text, length) == 0) {
            out->word = at;
            out->word_length = length;
            return true;
        }
        if (!bar)
            return false;
        at = bar + 1;
    }
}

static pb_status refuse_number(pb_context *ctx, pb_status status, const pb_family *family, const pb_param_spec *spec,
                               const char *text)
{
    char range[64];
    if (spec->max >= 18446744073709551615.0)
        snprintf(range, sizeof range, "below 2^64"); /* not 1.8446744073709552e+19 */
    else
        snprintf(range, sizeof range, "between %.17g and %.17g", spec->min, spec->max);
    if (status == PB_EINVAL)
        return pbi_fail(ctx, status, "%s: %s must be a %s %s in plain digits, not '%.60s'", family->name, spec->key,
                        spec->kind == PB_PARAM_INTEGER ? "whole number" : "number", range, text);
    return pbi_fail(ctx, status, "%s: %s must be %s, not %.60s", family->name, spec->key, range, text);
}

static bool all_digits(const char *text) { return *text && strspn(text, "0123456789") == strlen(text); }

static pb_status read_value(pb_context *ctx, const pb_family *family, const pb_param_spec *spec, const char *text,
                            pbi_param_value *out)
{
    bool inside = true;
    switch (spec->kind) {
    case PB_PARAM_INTEGER:
        if (!all_digits(text))
            return refuse_number(ctx, PB_EINVAL, family, spec, text);
        inside = pbi_u64_parse(text, strlen(text), &out->integer) && (double)out->integer >= spec->min &&
                 (double)out->integer <= spec->max;
        break;
    case PB_PARAM_REAL:
        if (!parse_real(text, &out->real))
            return refuse_number(ctx, PB_EINVAL, family, spec, text);
        inside = out->real >= spec->min && out->real <= spec->max;
        break;
    case PB_PARAM_WORD:
        if (!find_word(spec->words, text, strlen(text), out))
            return pbi_fail(ctx, PB_EINVAL, "%s: %s must be one of %s, not '%.60s'", family->name, spec->key,
                            spec->words, text);
        break;
    case PB_PARAM_LIST: /* the family reads it */
        out->word = text;
        out->word_length = strlen(text);
        break;
    }
    return inside ? PB_OK : refuse_number(ctx, PB_ERANGE, family, spec, text);
}

static uint32_t find_spec(const pb_family *family, const char *key)
{
    uint32_t i = 0;
    while (i < family->param_count && strcmp(family->params[i].key, key) != 0)
        i++;
    return i;
}

static pb_status refuse_key(pb_context *ctx, const pb_family *family, const char *key)
{
    char list[360] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < family->param_count; i++) {
        const char *known = family->params[i].key;
        size_t length = strlen(known);
        if (used + length + 3 > sizeof list)
            break;
        if (i) {
            memcpy(list + used, ", ", 2);
            used += 2;
        }
        memcpy(list + used, known, length + 1);
        used += length;
    }
    return pbi_fail(ctx, PB_EUNKNOWN, "%s has no parameter '%.60s'; it has %s", family->name, key, list);
}

/* Whether `value` is one of the words after the = of "other=a|b". */
static bool is_listed(const char *with, const char *value, size_t length)
{
    pbi_param_value found;
    return find_word(strchr(with, '=') + 1, value, length, &found);
}

static uint32_t find_other(const pb_family *family, const char *with)
{
    size_t length = (size_t)(strchr(with, '=') - with);
    uint32_t i = 0;
    while (i < family->param_count &&
           (strlen(family->params[i].key) != length || memcmp(family->params[i].key, with, length) != 0))
        i++;
    PB_ASSERT(i < family->param_count);
    return i;
}

bool pb_param_counts(const pb_family *family, const pb_param_spec *param, const pb_option *given, uint32_t count)
{
    if (!param->with)
        return true;
    const pb_param_spec *other = &family->params[find_other(family, param->with)];
    const char *value = other->default_text;
    for (uint32_t k = 0; k < count; k++)
        value = strcmp(given[k].key, other->key) == 0 ? given[k].value : value;
    return is_listed(param->with, value, strlen(value));
}

static bool counts(const pbi_params *p, uint32_t i)
{
    const char *with = p->family->params[i].with;
    if (!with)
        return true;
    const pbi_param_value *other = &p->values[find_other(p->family, with)];
    return is_listed(with, other->word, other->word_length);
}

static bool same_value(const pb_param_spec *spec, const pbi_param_value *a, const pbi_param_value *b)
{
    switch (spec->kind) {
    case PB_PARAM_INTEGER: return a->integer == b->integer;
    case PB_PARAM_REAL: return !(a->real < b->real) && !(a->real > b->real);
    case PB_PARAM_WORD: return a->word == b->word;
    case PB_PARAM_LIST: return strcmp(a->word, b->word) == 0;
    }
    return false;
}

pb_status pbi_params_read(pb_context *ctx, const pb_family *family, const pb_option *options, uint32_t count,
                          pbi_params *out)
{
    PB_ASSERT(family->param_count <= PBI_MAX_PARAMS);
    pbi_params p = {.family = family};
    bool seen[PBI_MAX_PARAMS] = {false};
    for (uint32_t i = 0; i < family->param_count; i++) {
        pb_status status = read_value(ctx, family, &family->params[i], family->params[i].default_text, &p.values[i]);
        if (status != PB_OK)
            return status;
        p.values[i].is_default = true;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = find_spec(family, options[k].key);
        if (i == family->param_count)
            return refuse_key(ctx, family, options[k].key);
        const pb_param_spec *spec = &family->params[i];
        if (seen[i])
            return pbi_fail(ctx, PB_EINVAL, "%s: %s is given twice; leave one out", family->name, spec->key);
        seen[i] = true;
        pbi_param_value value = {0};
        pb_status status = read_value(ctx, family, spec, options[k].value, &value);
        if (status != PB_OK)
            return status;
        value.is_default = same_value(spec, &value, &p.values[i]);
        p.values[i] = value;
    }
    *out = p;
    return PB_OK;
}

static const pbi_param_value *find_value(const pbi_params *p, const char *key, pb_param_kind kind)
{
    uint32_t i = find_spec(p->family, key);
    PB_ASSERT(i < p->family->param_count && p->family->params[i].kind == kind);
    (void)kind;
    return &p->values[i];
}

uint64_t pbi_param_integer(const pbi_params *p, const char *key)
{
    return find_value(p, key, PB_PARAM_INTEGER)->integer;
}

double pbi_param_real(const pbi_params *p, const char *key) { return find_value(p, key, PB_PARAM_REAL)->real; }

const char *pbi_param_list(const pbi_params *p, const char *key) { return find_value(p, key, PB_PARAM_LIST)->word; }

bool pbi_param_is(const pbi_params *p, const char *key, const char *word)
{
    const pbi_param_value *value = find_value(p, key, PB_PARAM_WORD);
    return value->word_length == strlen(word) && memcmp(value->word, word, value->word_length) == 0;
}

bool pbi_params_has(const pbi_params *p, const char *key) { return find_spec(p->family, key) < p->family->param_count; }

pb_status pbi_params_title(pb_context *ctx, const pbi_params *p, pb_arena *arena, const char **title)
{
    pb_buffer buffer;
    pb_buffer_init(&buffer, arena);
    pbi_out out;
    pbi_out_init(&out, ctx, pb_sink_buffer(&buffer));
    pbi_out_text(&out, p->family->name);
    char join = '(';
    for (uint32_t i = 0; i < p->family->param_count; i++) {
        const pbi_param_value *value = &p->values[i];
        if ((i && value->is_default) || !counts(p, i))
            continue;
        pbi_out_char(&out, join);
        join = ',';
        pbi_out_text(&out, p->family->params[i].key);
        pbi_out_char(&out, '=');
        switch (p->family->params[i].kind) {
        case PB_PARAM_INTEGER: pbi_out_u64(&out, value->integer); break;
        case PB_PARAM_REAL: pbi_out_json_real(&out, value->real); break;
        case PB_PARAM_LIST:
        case PB_PARAM_WORD: pbi_out_bytes(&out, value->word, value->word_length); break;
        }
    }
    if (join == ',')
        pbi_out_char(&out, ')');
    pb_status status = pbi_out_finish(&out);
    if (status == PB_OK)
        *title = buffer.bytes;
    return status;
}
