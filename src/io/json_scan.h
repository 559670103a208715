/* json_scan.h -- JSON (RFC 8259, strict) as a stream that the reader pulls.
 *
 *     pbi_json_enter(&json, PBI_JSON_OBJECT)
 *     while (pbi_json_member(&json, &key, &more) == PB_OK && more)
 *         if (key is known) pbi_json_whole(...); else pbi_json_skip(&json);
 *     pbi_json_end(&json)
 *
 * Memory is one buffer and one token, for files of any size. Nothing recurses; values may be nested PBI_JSON_DEPTH
 * deep. Text must be UTF-8. The caller checks for repeated keys. Every call returns PB_OK or leaves a message with
 * line and column in ctx->error; after a failure only the status is valid.
 */
#ifndef PBI_JSON_SCAN_H
#define PBI_JSON_SCAN_H

#include "io/text_source.h"

enum { PBI_JSON_DEPTH = 64 };

typedef enum pbi_json_kind {
    PBI_JSON_NULL,
    PBI_JSON_FALSE,
    PBI_JSON_TRUE,
    PBI_JSON_NUMBER,
    PBI_JSON_STRING,
    PBI_JSON_ARRAY,
    PBI_JSON_OBJECT
} pbi_json_kind;
/* null, a boolean, a number, a string, an array, an object. */
const char *pbi_json_kind_name(pbi_json_kind kind);

typedef struct pbi_json {
    pbi_text *text;
    uint64_t objects; /* bit d-1: the container at depth d is an object */
    uint32_t depth;
    bool first;      /* nothing was taken from the innermost container yet */
    pbi_place place; /* of the last value or key */
    pb_buffer token;
} pbi_json;

void pbi_json_init(pbi_json *json, pbi_text *text, pb_arena *scratch);

/* The kind of the next value, without taking it. */
pb_status pbi_json_peek(pbi_json *json, pbi_json_kind *kind);

/* Takes the opening bracket of an array or an object, as peek reported. */
pb_status pbi_json_enter(pbi_json *json, pbi_json_kind kind);
/* Advances to the next item; *more false: the array was closed and left. */
pb_status pbi_json_item(pbi_json *json, bool *more);
/* Advances to the next member's value; the key lives until the next call. */
pb_status pbi_json_member(pbi_json *json, pbi_slice *key, bool *more);

/* Take a value of the kind that peek reported. Slices live until the next call. */
pb_status pbi_json_string(pbi_json *json, pbi_slice *out); /* decoded; may hold NUL */
pb_status pbi_json_number(pbi_json *json, pbi_slice *out); /* unchanged; at most 1000 characters */
/* Whether this text is a JSON number. */
bool pbi_json_is_number(const char *text);
pb_status pbi_json_word(pbi_json *json, pbi_json_kind kind);

/* Skips any value, checking its grammar. */
pb_status pbi_json_skip(pbi_json *json);
/* The same, appending its unchanged text to `into`. */
pb_status pbi_json_raw(pbi_json *json, pb_buffer *into);

/* Only white space may follow the document. */
pb_status pbi_json_end(pbi_json *json);

#endif
