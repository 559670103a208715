/* control.c -- see control.h. */
#include "control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *control_load(const char *text, size_t length, pb_error *error)
{
    json_error_t wrong;
    json_t *document = json_loadb(text ? text : "", length, JSON_REJECT_DUPLICATES, &wrong);
    *error = (pb_error){.line = 0};
    if (!document) {
        error->line = wrong.line > 0 ? (uint64_t)wrong.line : 1;
        error->column = wrong.column > 0 ? (uint64_t)wrong.column : 1;
        snprintf(error->message, sizeof error->message, "the request is not JSON: %s; correct it", wrong.text);
        return NULL;
    }
    if (json_is_object(document))
        return document;
    snprintf(error->message, sizeof error->message,
             "expected a JSON object as the request, as in {\"kind\": \"compare\"}");
    json_decref(document);
    return NULL;
}

static bool among(const char *names, const char *word)
{
    size_t length = strlen(word);
    while (*names) {
        size_t name = strcspn(names, " ");
        if (name == length && strncmp(names, word, length) == 0)
            return true;
        names += name + (names[name] == ' ');
    }
    return false;
}

const char *control_unknown(json_t *object, const char *names)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!among(names, key))
            return key;
    }
    return NULL;
}

const char *control_text(const json_t *value, char room[CONTROL_TEXT])
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        snprintf(room, CONTROL_TEXT, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value)) {
        double number = json_real_value(value);
        snprintf(room, CONTROL_TEXT, "%.15g", number); /* the shorter one if it reads back the same */
        if (strtod(room, NULL) < number || strtod(room, NULL) > number)
            snprintf(room, CONTROL_TEXT, "%.17g", number);
    } else
        return NULL;
    return room;
}
