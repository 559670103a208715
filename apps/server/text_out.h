/* text_out.h -- a stream into memory that grows; the bytes are the caller's afterwards. */
#ifndef PEBBLE_SERVER_TEXT_OUT_H
#define PEBBLE_SERVER_TEXT_OUT_H

#include "pebble/base.h"

#include <stdio.h>

/* Memory for one answer. */
#define ANSWER_BYTES ((size_t)2 << 30)

typedef struct text_out {
    FILE *stream;
    char *bytes;
    size_t length;
    size_t sunk; /* through the sink */
} text_out;

/* The stream to write to; NULL when memory is out. */
FILE *text_begin(text_out *t);
/* Into the stream, for what may be long: PB_ELIMIT beyond ANSWER_BYTES. */
pb_sink text_sink(text_out *t);
/* The bytes, NUL-terminated, to be freed by the caller; NULL when memory ran out. */
char *text_end(text_out *t, size_t *length);

#endif
