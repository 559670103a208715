/* json_read.h -- typed values from a JSON stream, with messages that name the field. */
#ifndef PBI_JSON_READ_H
#define PBI_JSON_READ_H

#include "base/decimal.h"
#include "io/json_scan.h"

/* The field of a value, for messages: {"size", "node", 3} is "size" of node 3, {"edges", "item", 3} is item 3 of
 * "edges". `of` NULL: a field of the document. */
typedef struct pbi_field {
    const char *name;
    const char *of;
    uint64_t index;
} pbi_field;

/* PB_EFORMAT at the position of the last value: the field, then the formatted end of the message. */
pb_status pbi_field_fail(pbi_json *json, pbi_field field, const char *format, ...);

/* The position of `key` among names, `count` if it is not one of them. */
uint32_t pbi_key_find(pbi_slice key, const pbi_slice *names, uint32_t count);
#define PBI_NAME(text)            \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* Marks field `which` in *seen; a second time is an error at the key. */
pb_status pbi_refuse_twice(pbi_json *json, pbi_field field, uint32_t which, uint32_t *seen);

/* Takes a null, if it is the next value. */
pb_status pbi_skip_null(pbi_json *json, bool *was_null);
/* Checks the kind of the next value (true and false count as one kind). */
pb_status pbi_read_kind(pbi_json *json, pbi_field field, pbi_json_kind expected);
/* Non-negative integers, as digits or as a string of digits. */
pb_status pbi_read_whole(pbi_json *json, pbi_field field, uint64_t *out);
/* A cost: a decimal of 0 or more, as a number or as a string. */
pb_status pbi_read_cost(pbi_json *json, pbi_field field, pbi_decimal *out);
pb_status pbi_read_u128(pbi_json *json, pbi_field field, pb_u128 *out);
pb_status pbi_read_flag(pbi_json *json, pbi_field field, bool *out);
pb_status pbi_read_real(pbi_json *json, pbi_field field, double *out);
/* A string without NUL; the slice lives until the next call. */
pb_status pbi_read_text(pbi_json *json, pbi_field field, pbi_slice *out);
/* The same as a C string in `arena`. */
pb_status pbi_read_copy(pbi_json *json, pbi_field field, pb_arena *arena, const char **out);

/* Appends `key` as a JSON string. */
bool pbi_bytes_add_quoted(pb_buffer *buffer, pbi_slice key);

/* A set of keys, to detect repetitions. Cleared in one step, for millions of small objects. */
typedef struct pbi_key_slot {
    uint64_t hash;
    size_t at, length;
    uint32_t stamp;
} pbi_key_slot;
typedef struct pbi_keys {
    pb_arena *arena;
    pbi_key_slot *slot;
    size_t slot_count, used;
    uint32_t stamp; /* slots with another stamp are empty */
} pbi_keys;
void pbi_keys_init(pbi_keys *keys, pb_arena *arena);
void pbi_keys_clear(pbi_keys *keys);
/* Adds the key text->bytes[at .. at+length); the set stores offsets only. *fresh false: it was already in the set. */
pb_status pbi_keys_add(pbi_keys *keys, const pb_buffer *text, size_t at, size_t length, bool *fresh);
/* An unknown member: appends it as text, `"key":value`, after a comma if there are others. A second one of the same key
 * is an error. */
pb_status pbi_json_keep(pbi_json *json, pbi_slice key, pb_buffer *into, pbi_keys *keys);

/* Advice about a decimal in place of a whole number, from "; " on; "" if it is not a decimal. `key`: cost, size... */
#define PBI_WHOLE_ADVICE 160
void pbi_whole_advice(const char *key, pbi_slice text, char advice[PBI_WHOLE_ADVICE]);
/* A cost as text, with at most PBI_COST_DIGITS decimals; false with the end of a message, "must be ...". */
bool pbi_cost_parse(pbi_slice text, pbi_decimal *out, char why[PBI_WHOLE_ADVICE]);

#endif
