/* text_source.c -- see text_source.h. */
#include "io/text_source.h"

#include "base/arena.h"
#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>

enum { BUFFER_BYTES = 1 << 16 };

pb_status pbi_text_init(pbi_text *text, pb_context *ctx, pb_source source, pb_arena *arena)
{
    char *buffer = pb_arena_alloc(arena, BUFFER_BYTES + 1, 1);
    if (!buffer)
        return PB_ENOMEM;
    *text = (pbi_text){.ctx = ctx, .source = source, .at = buffer, .end = buffer, .buffer = buffer, .line = 1};
    *buffer = '\0';
    pbi_text_ensure(text, 16);
    if (text->status != PB_OK)
        return text->status;
    if (text->end - text->at >= 3 && memcmp(text->at, "\xef\xbb\xbf", 3) == 0) {
        text->at += 3;
        text->line_start = 3;
    }
    return PB_OK;
}

/* Copies kept bytes before the buffer moves. */
static bool save_kept(pbi_text *text)
{
    if (!text->kept)
        return true;
    if (!pbi_bytes_add(text->keep, text->kept, (size_t)(text->at - text->kept)))
        return false;
    text->kept = text->at;
    return true;
}

static bool stop(pbi_text *text, pb_status status)
{
    text->ended = true;
    text->status = status;
    return false;
}

bool pbi_text_more(pbi_text *text)
{
    if (text->ended)
        return false;
    if (text->end == text->buffer + BUFFER_BYTES) {
        if (!save_kept(text))
            return stop(text, PB_ENOMEM);
        if (pbi_poll(text->ctx) != PB_OK)
            return stop(text, PB_ECANCELLED);
        size_t rest = (size_t)(text->end - text->at);
        text->consumed += (uint64_t)(text->at - text->buffer);
        memmove(text->buffer, text->at, rest);
        text->at = text->buffer;
        text->end = text->buffer + rest;
        if (text->kept)
            text->kept = text->at;
    }
    size_t room = BUFFER_BYTES - (size_t)(text->end - text->buffer), got = 0;
    char *into = text->buffer + (text->end - text->buffer);
    pb_status status = text->source.read(text->source.state, into, room, &got);
    if (status != PB_OK) {
        pbi_fail(text->ctx, status, "reading failed after %llu bytes; check the file",
                 (unsigned long long)(text->consumed + (uint64_t)(text->end - text->buffer)));
        return stop(text, status);
    }
    text->end += got;
    into[got] = '\0';
    text->ended = got == 0;
    return got > 0;
}

/* Length by the first byte, and the range of the second, which excludes overlong forms and surrogates. */
static size_t wide_length(const unsigned char *c, size_t have)
{
    size_t length = c[0] >= 0xc2 && c[0] <= 0xdf ? 2 : (c[0] & 0xf0) == 0xe0 ? 3 : c[0] >= 0xf0 && c[0] <= 0xf4 ? 4 : 0;
    if (length == 0 || have < length)
        return 0;
    unsigned low = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
    unsigned high = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;
    if (c[1] < low || c[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

size_t pbi_text_wide(pbi_text *text)
{
    size_t length = wide_length((const unsigned char *)text->at, (size_t)(text->end - text->at));
    if (length) {
        text->at += length;
        text->line_start += length - 1;
    }
    return length;
}

void pbi_text_keep(pbi_text *text, pb_buffer *into)
{
    text->kept = text->at;
    text->keep = into;
}

pb_status pbi_text_keep_end(pbi_text *text)
{
    bool saved = save_kept(text);
    text->kept = NULL;
    return saved ? PB_OK : PB_ENOMEM;
}

pb_status pbi_text_fail(pbi_text *text, pbi_place place, const char *format, ...)
{
    if (text->status != PB_OK)
        return text->status;
    char message[sizeof text->ctx->error.message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return pbi_fail_at(text->ctx, PB_EFORMAT, place.line, place.column, "%s", message);
}

const char *pbi_text_seen(const pbi_text *text, char room[24])
{
    unsigned char c = (unsigned char)*text->at;
    if (text->at == text->end)
        return "the end of the file";
    if (c > 0x20 && c < 0x7f)
        snprintf(room, 24, "'%c'", c);
    else
        snprintf(room, 24, c == '\n' ? "the end of the line" : "byte 0x%02x", c);
    return room;
}

bool pbi_bytes_grow(pb_buffer *buffer, size_t more)
{
    if (more > SIZE_MAX / 4 - buffer->length) {
        pbi_fail(buffer->arena->ctx, PB_ENOMEM, "out of memory: cannot allocate %zu bytes" PBI_FREE_MEMORY, more);
        return false;
    }
    void *items = buffer->bytes;
    if (!pbi_arena_reserve(buffer->arena, &items, &buffer->room, buffer->length + more, 1))
        return false;
    buffer->bytes = items;
    return true;
}
