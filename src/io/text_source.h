/* text_source.h -- reads a source of bytes through one fixed buffer, with line and column.
 *
 * Scanners read text->at directly: *text->end is always NUL, so a loop over bytes needs no second test until it reads a
 * NUL. Lines end with '\n'; columns count characters from 1, not bytes: step over a character of several bytes with
 * pbi_text_wide, which also checks that it is UTF-8.
 */
#ifndef PBI_TEXT_SOURCE_H
#define PBI_TEXT_SOURCE_H

#include "pebble/base.h"

#include <string.h>

typedef struct pbi_place {
    uint64_t line, column;
} pbi_place;

/* Borrowed bytes. */
typedef struct pbi_slice {
    const char *bytes;
    size_t length;
} pbi_slice;

typedef struct pbi_text {
    pb_context *ctx;
    pb_source source;
    const char *at, *end;
    char *buffer;
    uint64_t consumed;         /* bytes of the source before buffer[0] */
    uint64_t line, line_start; /* line_start: position of column 1, moved by the extra bytes of wide characters */
    const char *kept;          /* first byte not yet copied to `keep`; NULL if nothing is kept */
    pb_buffer *keep;
    bool ended;
    pb_status status; /* why reading stopped early, else PB_OK */
} pbi_text;

/* Takes its buffer from `arena` and reads the first bytes; skips a byte order mark. */
pb_status pbi_text_init(pbi_text *text, pb_context *ctx, pb_source source, pb_arena *arena);

/* Reads more bytes after text->end; unread bytes move, and only text->at stays valid. False at the end. */
bool pbi_text_more(pbi_text *text);

/* `need` bytes from text->at on, unless the source ends before: need is at most PBI_TEXT_AHEAD. */
enum { PBI_TEXT_AHEAD = 1024 };
static inline void pbi_text_ensure(pbi_text *text, size_t need)
{
    while ((size_t)(text->end - text->at) < need && pbi_text_more(text)) {
    }
}

static inline uint64_t pbi_text_offset(const pbi_text *text)
{
    return text->consumed + (uint64_t)(text->at - text->buffer);
}

static inline pbi_place pbi_text_place(const pbi_text *text)
{
    return (pbi_place){text->line, pbi_text_offset(text) - text->line_start + 1};
}

/* Call after stepping over '\n'. */
static inline void pbi_text_newline(pbi_text *text)
{
    text->line++;
    text->line_start = pbi_text_offset(text);
}

/* Steps over the character of several bytes at text->at and returns its length; 0 and no step when it is not
 * well-formed UTF-8 (overlong forms, surrogates and values above U+10FFFF are not). Ensure 4 bytes before. */
size_t pbi_text_wide(pbi_text *text);

/* Copies what is read from text->at on to `into`, until pbi_text_keep_end. */
void pbi_text_keep(pbi_text *text, pb_buffer *into);
pb_status pbi_text_keep_end(pbi_text *text);

/* PB_EFORMAT with a message at a position; the status of the source if that failed. */
pb_status pbi_text_fail(pbi_text *text, pbi_place place, const char *format, ...);

/* The byte at text->at in messages: 'x', end of file, byte 0x01. */
const char *pbi_text_seen(const pbi_text *text, char room[24]);

/* Appends to a buffer; false if memory is exhausted. Does not add a NUL. */
bool pbi_bytes_grow(pb_buffer *buffer, size_t more);
static inline bool pbi_bytes_add(pb_buffer *buffer, const char *bytes, size_t length)
{
    if (buffer->room - buffer->length < length && !pbi_bytes_grow(buffer, length))
        return false;
    if (length)
        memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    return true;
}

#endif
