/* text_out.c -- see text_out.h. */
#define _XOPEN_SOURCE 700
#include "text_out.h"

#include <stdlib.h>

FILE *text_begin(text_out *t)
{
    *t = (text_out){.stream = NULL};
    t->stream = open_memstream(&t->bytes, &t->length);
    return t->stream;
}

static pb_status write_text(void *state, const char *bytes, size_t length)
{
    text_out *t = state;
    if (length > RESPONSE_BYTES - t->sunk)
        return PB_ELIMIT;
    t->sunk += length;
    return fwrite(bytes, 1, length, t->stream) == length ? PB_OK : PB_ENOMEM;
}

pb_sink text_sink(text_out *t) { return (pb_sink){write_text, t}; }

char *text_end(text_out *t, size_t *length)
{
    if (!t->stream)
        return NULL;
    int failed = ferror(t->stream);
    if (fclose(t->stream) != 0 || failed) {
        free(t->bytes);
        return NULL;
    }
    if (length)
        *length = t->length;
    return t->bytes;
}
