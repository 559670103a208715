/* out.c -- see out.h. */
#include "base/out.h"

#include "base/arena.h"
#include "base/context.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_EXACT ((UINT64_C(1) << 53) - 1)

void pbi_out_init(pbi_out *out, pb_context *ctx, pb_sink sink)
{
    out->ctx = ctx;
    out->sink = sink;
    out->status = PB_OK;
    out->used = 0;
}

static void flush(pbi_out *out)
{
    if (out->status == PB_OK && out->used)
        out->status = out->sink.write(out->sink.state, out->bytes, out->used);
    out->used = 0;
}

void pbi_out_bytes(pbi_out *out, const char *bytes, size_t length)
{
    while (length) {
        size_t part = sizeof out->bytes - out->used;
        if (part > length)
            part = length;
        memcpy(out->bytes + out->used, bytes, part);
        out->used += part;
        bytes += part;
        length -= part;
        if (out->used == sizeof out->bytes)
            flush(out);
    }
}

void pbi_out_text(pbi_out *out, const char *text) { pbi_out_bytes(out, text, strlen(text)); }

void pbi_out_plain(pbi_out *out, const char *text)
{
    char shown[PB_PLAIN_CHAR];
    for (size_t used; (used = pb_plain_char(text, shown)) > 0; text += used)
        pbi_out_text(out, shown);
}

void pbi_out_char(pbi_out *out, char c)
{
    out->bytes[out->used++] = c;
    if (out->used == sizeof out->bytes)
        flush(out);
}

void pbi_out_format(pbi_out *out, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length > 0)
        pbi_out_bytes(out, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

void pbi_out_u64(pbi_out *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    pbi_out_bytes(out, digits + at, sizeof digits - at);
}

void pbi_out_json_u64(pbi_out *out, uint64_t value)
{
    bool quoted = value > JSON_EXACT;
    if (quoted)
        pbi_out_char(out, '"');
    pbi_out_u64(out, value);
    if (quoted)
        pbi_out_char(out, '"');
}

void pbi_out_json_u128(pbi_out *out, pb_u128 value)
{
    char text[PB_U128_TEXT];
    size_t length = pb_u128_text(value, text);
    bool quoted = value.high || value.low > JSON_EXACT;
    if (quoted)
        pbi_out_char(out, '"');
    pbi_out_bytes(out, text, length);
    if (quoted)
        pbi_out_char(out, '"');
}

void pbi_out_json_real(pbi_out *out, double value)
{
    if (!isfinite(value)) {
        pbi_out_text(out, "null");
        return;
    }
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    pbi_out_text(out, text);
    if (!strpbrk(text, ".e"))
        pbi_out_text(out, ".0");
}

void pbi_out_json_text(pbi_out *out, const char *text)
{
    pbi_out_char(out, '"');
    const char *start = text;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        pbi_out_bytes(out, start, (size_t)(text - start));
        start = text + 1;
        switch (c) {
        case '"': pbi_out_text(out, "\\\""); break;
        case '\\': pbi_out_text(out, "\\\\"); break;
        case '\n': pbi_out_text(out, "\\n"); break;
        case '\t': pbi_out_text(out, "\\t"); break;
        default: pbi_out_format(out, "\\u%04x", c);
        }
    }
    pbi_out_bytes(out, start, (size_t)(text - start));
    pbi_out_char(out, '"');
}

pb_status pbi_out_finish(pbi_out *out)
{
    flush(out);
    return out->status;
}

static pb_status memory_read(void *state, char *bytes, size_t room, size_t *got)
{
    pb_memory *memory = state;
    size_t rest = memory->length - memory->at;
    *got = rest < room ? rest : room;
    if (*got)
        memcpy(bytes, memory->bytes + memory->at, *got);
    memory->at += *got;
    return PB_OK;
}

pb_source pb_source_memory(pb_memory *memory) { return (pb_source){memory_read, memory}; }

static pb_status buffer_write(void *state, const char *bytes, size_t length)
{
    pb_buffer *buffer = state;
    void *items = buffer->bytes;
    if (length > SIZE_MAX / 4 - buffer->length ||
        !pbi_arena_reserve(buffer->arena, &items, &buffer->room, buffer->length + length + 1, 1))
        return PB_ENOMEM;
    buffer->bytes = items;
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = '\0';
    return PB_OK;
}

void pb_buffer_init(pb_buffer *buffer, pb_arena *arena) { *buffer = (pb_buffer){.arena = arena}; }

pb_sink pb_sink_buffer(pb_buffer *buffer) { return (pb_sink){buffer_write, buffer}; }
