/* onnx_writer.c -- see onnx_writer.h. */
#include "support/onnx_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(onnx_writer *w, char byte)
{
    if (w->length == ONNX_ROOM)
        abort();
    w->bytes[w->length++] = byte;
}

void onnx_varint(onnx_writer *w, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        put(w, (char)(value | 128));
    put(w, (char)value);
}

void onnx_number(onnx_writer *w, unsigned field, uint64_t value)
{
    onnx_varint(w, field << 3);
    onnx_varint(w, value);
}

static void put_bytes(onnx_writer *w, unsigned field, const char *bytes, size_t length)
{
    onnx_varint(w, field << 3 | 2);
    onnx_varint(w, length);
    for (size_t i = 0; i < length; i++)
        put(w, bytes[i]);
}

void onnx_text(onnx_writer *w, unsigned field, const char *text) { put_bytes(w, field, text, strlen(text)); }

void onnx_begin(onnx_writer *w, unsigned field)
{
    onnx_varint(w, field << 3 | 2);
    w->open[w->depth++] = w->length;
}

/* The length goes in front of the body, which moves. */
void onnx_end(onnx_writer *w)
{
    size_t start = w->open[--w->depth], body = w->length - start;
    onnx_writer head = {.length = 0};
    onnx_varint(&head, body);
    if (w->length + head.length > ONNX_ROOM)
        abort();
    memmove(w->bytes + start + head.length, w->bytes + start, body);
    memcpy(w->bytes + start, head.bytes, head.length);
    w->length += head.length;
}

void onnx_begin_model(onnx_writer *w, uint64_t opset)
{
    w->length = 0;
    w->depth = 0;
    onnx_number(w, 1, 8);
    onnx_begin(w, 8);
    onnx_number(w, 2, opset);
    onnx_end(w);
    onnx_begin(w, 7);
    onnx_text(w, 2, "m");
}

void onnx_end_model(onnx_writer *w) { onnx_end(w); }

void onnx_input(onnx_writer *w, const char *name, uint64_t type, const int64_t *dims, int rank)
{
    onnx_begin(w, 11);
    onnx_text(w, 1, name);
    onnx_begin(w, 2);
    onnx_begin(w, 1);
    onnx_number(w, 1, type);
    onnx_begin(w, 2);
    for (int i = 0; i < rank; i++) {
        onnx_begin(w, 1);
        if (dims[i] < 0)
            onnx_text(w, 2, "n");
        else
            onnx_number(w, 1, (uint64_t)dims[i]);
        onnx_end(w);
    }
    for (int i = 0; i < 4; i++)
        onnx_end(w);
}

void onnx_output(onnx_writer *w, const char *name)
{
    onnx_begin(w, 12);
    onnx_text(w, 1, name);
    onnx_end(w);
}

static void begin_tensor(onnx_writer *w, const char *name, uint64_t type, const int64_t *dims, int rank)
{
    onnx_begin(w, 5);
    for (int i = 0; i < rank; i++)
        onnx_number(w, 1, (uint64_t)dims[i]);
    onnx_number(w, 2, type);
    onnx_text(w, 8, name);
}

void onnx_weight(onnx_writer *w, const char *name, uint64_t type, const int64_t *dims, int rank)
{
    begin_tensor(w, name, type, dims, rank);
    onnx_end(w);
}

void onnx_integers(onnx_writer *w, const char *name, const int64_t *values, int count)
{
    int64_t length = count;
    begin_tensor(w, name, 7, &length, 1);
    char raw[8 * 64];
    for (int i = 0; i < count; i++)
        for (int b = 0; b < 8; b++)
            raw[8 * i + b] = (char)((uint64_t)values[i] >> 8 * b);
    put_bytes(w, 9, raw, 8 * (size_t)count);
    onnx_end(w);
}

/* One field for each word; "-" is the empty name. */
static void put_words(onnx_writer *w, unsigned field, const char *text)
{
    char word[128];
    while (*text) {
        size_t length = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        onnx_text(w, field, strcmp(word, "-") == 0 ? "" : word);
        text += length;
        text += *text == ' ';
    }
}

static void put_attribute(onnx_writer *w, const char *text, size_t length)
{
    char word[256];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    char *value = strchr(word, '=');
    *value++ = '\0';
    onnx_begin(w, 5);
    onnx_text(w, 1, word);
    bool list = strchr(value, ',') != NULL, number = strchr("-0123456789", *value) != NULL;
    if (!number)
        onnx_text(w, 4, value);
    for (char *part = number ? strtok(value, ",") : NULL; part; part = strtok(NULL, ","))
        onnx_number(w, list ? 8 : 3, (uint64_t)strtoll(part, NULL, 10));
    onnx_end(w);
}

void onnx_node(onnx_writer *w, const char *op, const char *in, const char *out, const char *attributes)
{
    onnx_begin(w, 1);
    put_words(w, 1, in);
    put_words(w, 2, out);
    onnx_text(w, 4, op);
    for (const char *at = attributes; at && *at;) {
        size_t length = strcspn(at, " ");
        put_attribute(w, at, length);
        at += length;
        at += *at == ' ';
    }
    onnx_end(w);
}
