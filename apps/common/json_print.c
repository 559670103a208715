/* json_print.c -- see json_print.h. */
#include "json_print.h"

#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JSON_EXACT ((UINT64_C(1) << 53) - 1)

/* Bytes of the well-formed UTF-8 sequence that begins here; 0: none does. */
static size_t sequence(const unsigned char *t)
{
    size_t length = t[0] < 0x80 ? 1 : t[0] < 0xe0 ? 2 : t[0] < 0xf0 ? 3 : 4;
    bool overlong = (t[0] >= 0x80 && t[0] < 0xc2) || (t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xf0 && t[1] < 0x90);
    bool beyond = t[0] > 0xf4 || (t[0] == 0xf4 && t[1] > 0x8f) || (t[0] == 0xed && t[1] > 0x9f);
    for (size_t i = 1; i < length; i++)
        if ((t[i] & 0xc0) != 0x80)
            return 0;
    return overlong || beyond ? 0 : length;
}

void json_text(FILE *out, const char *text)
{
    if (!text) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    while (*text) {
        unsigned char c = (unsigned char)*text;
        size_t length = sequence((const unsigned char *)text);
        if (c == '"' || c == '\\')
            fputc('\\', out);
        if (!length)
            fputs("\\ufffd", out);
        else if (c >= 0x20 && c != 0x7f)
            fwrite(text, 1, length, out);
        else
            fprintf(out, "\\u%04x", c);
        text += length ? length : 1;
    }
    fputc('"', out);
}

void json_u128(FILE *out, pb_u128 value)
{
    char text[PB_U128_TEXT];
    pb_u128_text(value, text);
    fprintf(out, value.high || value.low > JSON_EXACT ? "\"%s\"" : "%s", text);
}

void json_u64(FILE *out, uint64_t value) { json_u128(out, (pb_u128){0, value}); }

void json_double(FILE *out, double value)
{
    char text[40];
    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void json_cap(FILE *out, uint64_t cap)
{
    if (cap == PB_UNLIMITED)
        fputs("null", out);
    else
        json_u64(out, cap);
}

void json_weights(FILE *out, const pb_weights *weights)
{
    char text[3][32];
    for (int i = 0; i < 3; i++)
        pb_weight_text(weights, i, text[i]);
    fprintf(out, "[%s,%s,%s]", text[0], text[1], text[2]);
}

void json_metrics(FILE *out, const pb_metrics *m, const pb_weights *weights)
{
    pb_context ctx;
    pb_context_init(&ctx);
    pb_metrics_json_write(&ctx, m, weights, stream_sink(out));
}

void json_machine(FILE *out, const pb_machine *m, const char *text)
{
    fputs("{\"name\":", out);
    json_text(out, m->name);
    fputs(",\"text\":", out);
    json_text(out, text);
    fputs(",\"time_unit\":", out);
    json_text(out, m->time_unit);
    fputs(",\"memories\":[", out);
    for (uint32_t i = 0; i < m->memory_count; i++) {
        fputs(i ? ",{\"name\":" : "{\"name\":", out);
        json_text(out, m->memories[i].name);
        fputs(",\"cap\":", out);
        json_cap(out, m->memories[i].cap);
        fputs(",\"reserve\":", out);
        json_u64(out, m->memories[i].reserve);
        fputc('}', out);
    }
    fputs("],\"links\":[", out);
    for (uint32_t i = 0; i < m->link_count; i++) {
        const pb_machine_link *l = &m->links[i];
        fputs(i ? ",{\"name\":" : "{\"name\":", out);
        json_text(out, l->name);
        fputs(",\"from\":", out);
        json_text(out, m->memories[l->from].name);
        fputs(",\"to\":", out);
        json_text(out, m->memories[l->to].name);
        fputs(",\"bandwidth\":", out);
        json_cap(out, l->bandwidth ? l->bandwidth : PB_UNLIMITED);
        fputs(",\"latency\":", out);
        json_u64(out, l->latency);
        fputs(",\"per_unit\":", out);
        json_u64(out, l->per_unit);
        fputc('}', out);
    }
    fputs("]}", out);
}
