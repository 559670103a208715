/* onnx_writer.h -- ONNX models written by a test: messages of the wire format, nested by begin and end.
 *
 *     onnx_writer w;
 *     onnx_begin_model(&w, 17);
 *     onnx_input(&w, "x", 1, (int64_t[]){2, 3}, 2);
 *     onnx_node(&w, "Relu", "x", "y", NULL);
 *     onnx_output(&w, "y");
 *     onnx_end_model(&w);            w.bytes, w.length
 */
#ifndef ONNX_WRITER_H
#define ONNX_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ONNX_ROOM = 1 << 16, ONNX_NEST = 8 };

typedef struct onnx_writer {
    char bytes[ONNX_ROOM];
    size_t length;
    size_t open[ONNX_NEST]; /* where the bodies of open messages begin */
    int depth;
} onnx_writer;

void onnx_varint(onnx_writer *w, uint64_t value);
void onnx_number(onnx_writer *w, unsigned field, uint64_t value);
void onnx_text(onnx_writer *w, unsigned field, const char *text);
void onnx_begin(onnx_writer *w, unsigned field);
void onnx_end(onnx_writer *w);

void onnx_begin_model(onnx_writer *w, uint64_t opset);
void onnx_end_model(onnx_writer *w);
/* A dimension of -1 is called "n". */
void onnx_input(onnx_writer *w, const char *name, uint64_t type, const int64_t *dims, int rank);
void onnx_output(onnx_writer *w, const char *name);
/* Without numbers. */
void onnx_weight(onnx_writer *w, const char *name, uint64_t type, const int64_t *dims, int rank);
void onnx_integers(onnx_writer *w, const char *name, const int64_t *values, int count);
/* Names separated by blanks; attributes as "axis=1 pads=1,1,1,1 auto_pad=VALID", or NULL. */
void onnx_node(onnx_writer *w, const char *op, const char *in, const char *out, const char *attributes);

#endif
