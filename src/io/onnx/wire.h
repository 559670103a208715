/* wire.h -- the fields of a protobuf message as a stream, with byte offsets in every error.
 *
 *     while ((status = pbi_wire_next(w, &field, &more)) == PB_OK && more)
 *         switch (field.number) {
 *         case 1: status = pbi_wire_text(w, &field, arena, &name); break;
 *         case 7: status = pbi_wire_enter(w, &field); ... the same loop over its fields ...
 *         default: status = pbi_wire_skip(w, &field);
 *         }
 *
 * A loop that ends with more == false has left its message. Skipped payloads pass through the buffer of the text
 * and are never stored: tensors of any size need no memory.
 */
#ifndef PBI_IO_ONNX_WIRE_H
#define PBI_IO_ONNX_WIRE_H

#include "io/text_source.h"

enum { PBI_WIRE_DEPTH = 32 };
enum { PBI_WIRE_VARINT = 0, PBI_WIRE_FIXED64 = 1, PBI_WIRE_BYTES = 2, PBI_WIRE_FIXED32 = 5 };

typedef struct pbi_wire {
    pbi_text *text;
    uint64_t end[PBI_WIRE_DEPTH]; /* of the messages that are open, as offsets */
    uint32_t depth;
} pbi_wire;

typedef struct pbi_wire_field {
    uint32_t number;
    uint8_t type;
    uint64_t value; /* of numbers; of bytes their count: the bytes follow */
    uint64_t at;    /* where the field begins */
} pbi_wire_field;

void pbi_wire_init(pbi_wire *w, pbi_text *text);
/* The next field of the innermost message; *more false: it has ended, and the outer message continues. */
pb_status pbi_wire_next(pbi_wire *w, pbi_wire_field *field, bool *more);

/* Each takes the current field; a type other than the expected one is an error. */
pb_status pbi_wire_enter(pbi_wire *w, const pbi_wire_field *field);
pb_status pbi_wire_skip(pbi_wire *w, const pbi_wire_field *field); /* any type */
pb_status pbi_wire_integer(pbi_wire *w, const pbi_wire_field *field, int64_t *out);
pb_status pbi_wire_real(pbi_wire *w, const pbi_wire_field *field, double *out); /* of four or eight bytes */
/* A copy in `arena` with NUL behind; UTF-8 without NUL. */
pb_status pbi_wire_text(pbi_wire *w, const pbi_wire_field *field, pb_arena *arena, const char **out);
/* Appends the bytes unchanged. */
pb_status pbi_wire_bytes(pbi_wire *w, const pbi_wire_field *field, pb_buffer *into);

/* The numbers of a repeated field, packed or one by one; those beyond `most` are read and dropped. `width`: 0 for
 * varints, else 4 or 8 bytes per number, low byte first. */
typedef struct pbi_wire_list {
    pb_arena *arena;
    uint64_t *item;
    size_t count, room, most;
    uint64_t seen; /* all of them */
} pbi_wire_list;
pb_status pbi_wire_numbers(pbi_wire *w, const pbi_wire_field *field, uint8_t width, pbi_wire_list *list);

/* PB_EFORMAT with the byte offset in the message. */
pb_status pbi_wire_fail(pbi_wire *w, uint64_t at, const char *format, ...);
/* A number of four or eight bytes as a real number. */
double pbi_wire_as_real(uint64_t bits, uint8_t width);

#endif
