/* text_out.h -- a stream into growing memory, which the caller then owns. */
#ifndef PEBBLE_SERVER_TEXT_OUT_H
#define PEBBLE_SERVER_TEXT_OUT_H

#include "pebble/base.h"

#include <stdio.h>

/* Memory limit of one response. */
#define RESPONSE_BYTES ((size_t)2 << 30)

typedef struct text_out {
    FILE *stream;
    char *bytes;
    size_t length;
    size_t sunk; /* bytes written through the sink */
} text_out;

/* The stream to write to; NULL if out of memory. */
FILE *text_begin(text_out *t);
/* A sink into the stream; returns PB_ELIMIT above RESPONSE_BYTES. */
pb_sink text_sink(text_out *t);
/* The bytes, NUL-terminated, to be freed by the caller; NULL if out of memory. */
char *text_end(text_out *t, size_t *length);

#endif
