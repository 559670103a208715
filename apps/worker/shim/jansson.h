/* jansson.h -- what the handlers of apps/server use of jansson, implemented by worker_json.c: small documents that the
 * page has written with JSON.stringify. Numbers are kept as they were written. */
#ifndef WORKER_JANSSON_H
#define WORKER_JANSSON_H

#include <stdbool.h>
#include <stddef.h>

typedef enum json_kind {
    JSON_NULL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_kind;

typedef struct json_t {
    json_kind kind;
    char *key;            /* of a member of an object */
    char *text;           /* of a string or a number */
    struct json_t *child; /* the first member or item */
    struct json_t *next;  /* the next member or item of the same parent */
} json_t;

typedef struct json_error_t {
    int line, column;
    char text[160];
} json_error_t;

enum { JSON_REJECT_DUPLICATES = 1, JSON_COMPACT = 2 };
#define JSON_REAL_PRECISION(digits) 0 /* numbers keep their text */
#define JSON_INTEGER_FORMAT "lld"

json_t *json_loadb(const char *text, size_t length, size_t flags, json_error_t *error);
void json_decref(json_t *value);
json_t *json_object_get(const json_t *object, const char *key);
int json_object_set_new(json_t *object, const char *key, json_t *value);
json_t *json_array_get(const json_t *array, size_t index);
size_t json_array_size(const json_t *array);
const char *json_string_value(const json_t *value);
long long json_integer_value(const json_t *value);
double json_real_value(const json_t *value);
json_t *json_string(const char *text);
json_t *json_null(void);
char *json_dumps(const json_t *value, size_t flags);
bool json_is_integer(const json_t *value);
bool json_is_real(const json_t *value);

#define json_is_object(value) ((value) && (value)->kind == JSON_OBJECT)
#define json_is_array(value) ((value) && (value)->kind == JSON_ARRAY)
#define json_is_string(value) ((value) && (value)->kind == JSON_STRING)
#define json_is_null(value) ((value) && (value)->kind == JSON_NULL)
#define json_object_foreach(object, name, value)                                                        \
    for ((value) = json_is_object(object) ? (object)->child : NULL; (value) && ((name) = (value)->key); \
         (value) = (value)->next)

#endif
