/* wire.c -- see wire.h. */
#include "io/onnx/wire.h"

#include "base/arena.h"
#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>

/* The end of messages about bytes that no ONNX model has. */
#define DAMAGED "; this is not an ONNX model, or it is damaged: export or download it again"

void pbi_wire_init(pbi_wire *w, pbi_text *text) { *w = (pbi_wire){.text = text}; }

pb_status pbi_wire_fail(pbi_wire *w, uint64_t at, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    /* Binary files have no lines: the whole file is line 1, each byte a column. */
    return pbi_text_fail(w->text, (pbi_place){1, at + 1}, "byte %llu: %s", (unsigned long long)at, message);
}

static uint64_t message_end(const pbi_wire *w) { return w->depth ? w->end[w->depth - 1] : UINT64_MAX; }

/* Whether this message and the file have `need` more bytes. */
static bool have(pbi_wire *w, size_t need)
{
    if (message_end(w) - pbi_text_offset(w->text) < need)
        return false;
    pbi_text_ensure(w->text, need);
    return (size_t)(w->text->end - w->text->at) >= need;
}

static pb_status cut_short(pbi_wire *w, const char *what)
{
    uint64_t at = pbi_text_offset(w->text);
    if (at < message_end(w))
        return pbi_wire_fail(w, at, "the file ends inside %s" DAMAGED, what);
    return pbi_wire_fail(w, at, "%s is longer than the message that contains it" DAMAGED, what);
}

static pb_status read_varint(pbi_wire *w, const char *what, uint64_t *out)
{
    uint64_t at = pbi_text_offset(w->text), value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (!have(w, 1))
            return cut_short(w, what);
        unsigned char byte = (unsigned char)*w->text->at++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = value;
            return PB_OK;
        }
    }
    return pbi_wire_fail(w, at, "a number has more than 64 bits" DAMAGED);
}

static pb_status read_fixed(pbi_wire *w, size_t width, uint64_t *out)
{
    if (!have(w, width))
        return cut_short(w, "a number");
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)(unsigned char)w->text->at[i] << 8 * i;
    w->text->at += width;
    *out = value;
    return PB_OK;
}

pb_status pbi_wire_next(pbi_wire *w, pbi_wire_field *field, bool *more)
{
    uint64_t at = pbi_text_offset(w->text), key;
    *more = false;
    if (w->depth && at == message_end(w)) {
        w->depth--;
        return PB_OK;
    }
    pbi_text_ensure(w->text, 1);
    if (w->text->status != PB_OK)
        return w->text->status;
    if (!w->depth && w->text->at == w->text->end)
        return PB_OK;
    pb_status status = read_varint(w, "the key of a field", &key);
    if (status != PB_OK)
        return status;
    *field = (pbi_wire_field){.number = (uint32_t)(key >> 3), .type = (uint8_t)(key & 7), .at = at};
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff)
        return pbi_wire_fail(w, at, "there is no field %llu in ONNX" DAMAGED, (unsigned long long)(key >> 3));
    switch (field->type) {
    case PBI_WIRE_VARINT: status = read_varint(w, "a number", &field->value); break;
    case PBI_WIRE_FIXED64: status = read_fixed(w, 8, &field->value); break;
    case PBI_WIRE_FIXED32: status = read_fixed(w, 4, &field->value); break;
    case PBI_WIRE_BYTES:
        status = read_varint(w, "a length", &field->value);
        if (status == PB_OK && message_end(w) - pbi_text_offset(w->text) < field->value)
            status = pbi_wire_fail(
                w, at, "field %u has a length of %llu bytes, but its message has only %llu left" DAMAGED, field->number,
                (unsigned long long)field->value, (unsigned long long)(message_end(w) - pbi_text_offset(w->text)));
        break;
    default: return pbi_wire_fail(w, at, "a field has wire type %u, which ONNX does not use" DAMAGED, field->type);
    }
    *more = status == PB_OK;
    return status;
}

static pb_status expect(pbi_wire *w, const pbi_wire_field *field, uint8_t type)
{
    if (field->type == type)
        return PB_OK;
    return pbi_wire_fail(w, field->at, "field %u has wire type %u instead of %u" DAMAGED, field->number, field->type,
                         type);
}

pb_status pbi_wire_enter(pbi_wire *w, const pbi_wire_field *field)
{
    pb_status status = expect(w, field, PBI_WIRE_BYTES);
    if (status != PB_OK)
        return status;
    if (w->depth == PBI_WIRE_DEPTH)
        return pbi_wire_fail(w, field->at, "messages are nested more than %d deep" DAMAGED, PBI_WIRE_DEPTH);
    uint64_t start = pbi_text_offset(w->text);
    if (field->value > UINT64_MAX - start)
        return pbi_wire_fail(w, field->at, "a message has a length of %llu bytes" DAMAGED,
                             (unsigned long long)field->value);
    w->end[w->depth++] = start + field->value;
    return PB_OK;
}

/* Skips bytes, or appends them if `into` is not NULL. */
static pb_status take(pbi_wire *w, uint64_t count, pb_buffer *into)
{
    while (count) {
        if (w->text->at == w->text->end && !pbi_text_more(w->text))
            return w->text->status != PB_OK ? w->text->status : cut_short(w, "the bytes of a field");
        uint64_t here = (uint64_t)(w->text->end - w->text->at), step = here < count ? here : count;
        if (into && !pbi_bytes_add(into, w->text->at, (size_t)step))
            return PB_ENOMEM;
        w->text->at += step;
        count -= step;
    }
    return PB_OK;
}

pb_status pbi_wire_skip(pbi_wire *w, const pbi_wire_field *field)
{
    return field->type == PBI_WIRE_BYTES ? take(w, field->value, NULL) : PB_OK;
}

pb_status pbi_wire_bytes(pbi_wire *w, const pbi_wire_field *field, pb_buffer *into)
{
    pb_status status = expect(w, field, PBI_WIRE_BYTES);
    return status == PB_OK ? take(w, field->value, into) : status;
}

pb_status pbi_wire_integer(pbi_wire *w, const pbi_wire_field *field, int64_t *out)
{
    pb_status status = expect(w, field, PBI_WIRE_VARINT);
    if (status == PB_OK)
        memcpy(out, &field->value, sizeof *out); /* two's complement either way */
    return status;
}

double pbi_wire_as_real(uint64_t bits, uint8_t width)
{
    float single;
    double real;
    uint32_t low = (uint32_t)bits;
    memcpy(&single, &low, sizeof single);
    memcpy(&real, &bits, sizeof real);
    return width == 4 ? (double)single : real;
}

pb_status pbi_wire_real(pbi_wire *w, const pbi_wire_field *field, double *out)
{
    if (field->type == PBI_WIRE_FIXED64) {
        *out = pbi_wire_as_real(field->value, 8);
        return PB_OK;
    }
    pb_status status = expect(w, field, PBI_WIRE_FIXED32);
    if (status == PB_OK)
        *out = pbi_wire_as_real(field->value, 4);
    return status;
}

pb_status pbi_wire_text(pbi_wire *w, const pbi_wire_field *field, pb_arena *arena, const char **out)
{
    pb_status status = expect(w, field, PBI_WIRE_BYTES);
    if (status != PB_OK)
        return status;
    pb_buffer buffer;
    pb_buffer_init(&buffer, arena);
    uint64_t left = field->value;
    while (left) {
        pbi_text_ensure(w->text, left < 4 ? (size_t)left : 4);
        const char *start = w->text->at;
        if (start == w->text->end)
            return w->text->status != PB_OK ? w->text->status : cut_short(w, "a text");
        size_t length = 1;
        if (*start & 0x80)
            length = pbi_text_wide(w->text);
        else if (*start)
            w->text->at++;
        else
            length = 0;
        if (length == 0 || length > left)
            return pbi_wire_fail(w, pbi_text_offset(w->text), "a text is not UTF-8" DAMAGED);
        if (!pbi_bytes_add(&buffer, start, length))
            return PB_ENOMEM;
        left -= length;
    }
    if (!pbi_bytes_add(&buffer, "", 1))
        return PB_ENOMEM;
    *out = buffer.bytes;
    return PB_OK;
}

static pb_status list_add(pbi_wire_list *list, uint64_t value)
{
    list->seen++;
    if (list->count == list->most)
        return PB_OK;
    void *items = list->item;
    if (!pbi_arena_reserve(list->arena, &items, &list->room, list->count + 1, sizeof value))
        return PB_ENOMEM;
    list->item = items;
    list->item[list->count++] = value;
    return PB_OK;
}

pb_status pbi_wire_numbers(pbi_wire *w, const pbi_wire_field *field, uint8_t width, pbi_wire_list *list)
{
    uint8_t single = width == 0 ? PBI_WIRE_VARINT : width == 4 ? PBI_WIRE_FIXED32 : PBI_WIRE_FIXED64;
    if (field->type == single)
        return list_add(list, field->value);
    pb_status status = pbi_wire_enter(w, field);
    while (status == PB_OK && pbi_text_offset(w->text) < message_end(w)) {
        uint64_t value;
        status = width ? read_fixed(w, width, &value) : read_varint(w, "a number", &value);
        if (status == PB_OK)
            status = list_add(list, value);
    }
    if (status == PB_OK)
        w->depth--;
    return status;
}
