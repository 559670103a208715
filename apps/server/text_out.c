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
