/* control.h -- control documents: the JSON objects that requests carry. */
#ifndef SERVER_CONTROL_H
#define SERVER_CONTROL_H

#include "pebble/full.h"

#include <jansson.h>

enum { CONTROL_TEXT = 64 };

/* Its owner calls json_decref. NULL with a sentence in *error if the text is not a JSON object. */
json_t *control_load(const char *text, size_t length, pb_error *error);
/* The first field of the object that is not among the words of `names`, or NULL. */
const char *control_unknown(json_t *object, const char *names);
/* A string or a number as text, as the command's options would have it; NULL for anything else. Numbers are written to
 * `room`. */
const char *control_text(const json_t *value, char room[CONTROL_TEXT]);

#endif
