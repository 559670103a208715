/* model.h -- an ONNX model as tables: tensors by name, nodes with their attributes, inputs and outputs.
 *
 * model.c fills the tables from the file, shape*.c and fold.c determine type, shape and constants of every tensor,
 * and reader.c builds the graph. Weights are not loaded: of initializers only type, shape and name are kept, and the
 * numbers of small ones, because shapes depend on them. docs/onnx.md has the rules.
 */
#ifndef PBI_IO_ONNX_MODEL_H
#define PBI_IO_ONNX_MODEL_H

#include "base/name_index.h"
#include "io/onnx/wire.h"
#include "pebble/io.h"
#include "tape/tape.h"

enum { PBI_ONNX_RANK = 32, PBI_ONNX_VALUES = 1024 /* max numbers that are kept of a tensor */ };

/* TensorProto.DataType, as far as rules refer to one. */
enum {
    PBI_ONNX_FLOAT = 1,
    PBI_ONNX_UINT8 = 2,
    PBI_ONNX_INT32 = 6,
    PBI_ONNX_INT64 = 7,
    PBI_ONNX_STRING = 8,
    PBI_ONNX_BOOL = 9,
    PBI_ONNX_FLOAT16 = 10,
    PBI_ONNX_DOUBLE = 11,
    PBI_ONNX_BFLOAT16 = 16
};
/* Bits per element; 0: not a type with a size. */
unsigned pbi_onnx_bits(int64_t type);
bool pbi_onnx_is_real(int64_t type);
const char *pbi_onnx_type_name(int64_t type);
const char *pbi_onnx_work_type(int64_t type); /* "float32" */

/* i for whole numbers and booleans, f for real ones. */
typedef union pbi_onnx_number {
    int64_t i;
    double f;
} pbi_onnx_number;

typedef enum pbi_onnx_role {
    PBI_ONNX_UNKNOWN, /* mentioned only */
    PBI_ONNX_INPUT,
    PBI_ONNX_INITIALIZER, /* or another constant of the file */
    PBI_ONNX_MADE         /* by a node */
} pbi_onnx_role;

#define PBI_ONNX_NONE UINT32_MAX

typedef struct pbi_onnx_tensor {
    uint8_t role;
    bool learnable; /* an initializer in the file with more than one real number */
    bool shaped;    /* type, rank and dims are known */
    bool needed;    /* by an output, other than through its shape */
    bool kept;      /* an output, or a tensor of which an output is a view */
    int64_t type;
    uint32_t rank;
    uint64_t *dims;
    const char *const *dim_names;  /* of inputs: NULL, or the name of each dimension, NULL if it has none */
    const pbi_onnx_number *values; /* NULL: not known */
    uint32_t base;                 /* the tensor it is a view of, or PBI_ONNX_NONE */
    pbi_value value;
} pbi_onnx_tensor;

typedef struct pbi_onnx_attribute {
    const char *name, *text;
    int64_t integer;
    double real;
    const uint64_t *integers; /* as in the file: two's complement */
    const uint64_t *reals;    /* bits of single precision */
    size_t integer_count, real_count;
    uint32_t tensor; /* or PBI_ONNX_NONE */
    bool subgraph;
} pbi_onnx_attribute;

typedef struct pbi_onnx_node {
    const char *op, *domain, *name;
    uint64_t at;              /* byte of the file */
    const uint32_t *in, *out; /* tensors; PBI_ONNX_NONE if one is omitted */
    uint32_t in_count, out_count;
    const pbi_onnx_attribute *attributes;
    uint32_t attribute_count;
    /* Computed: */
    const struct pbi_onnx_rule *rule;
    uint64_t cost, grad_cost, side_size; /* 0: by the rule */
    uint8_t kind;                        /* pbi_op_kind */
    uint8_t work;                        /* pbi_work_kind */
    bool folded, view, once;
    bool fused; /* a part of another node's kernel */
} pbi_onnx_node;

typedef struct pbi_onnx {
    pb_context *ctx;
    pb_arena *arena;
    const pb_read_options *options;
    pbi_wire wire;
    const char *name;
    int64_t opset;
    pb_buffer text;
    uint64_t *start; /* of the tensors' names in text */
    size_t start_room;
    pbi_name_index index;
    pbi_onnx_tensor *tensor;
    size_t tensor_room;
    uint32_t tensor_count;
    pbi_onnx_node *node;
    size_t node_room, node_count;
    uint32_t *input, *output;
    size_t input_room, input_count, output_room, output_count;
    bool has_graph;
    bool batch_replaced; /* the file fixes the batch, and the options name another */
} pbi_onnx;

pb_status pbi_onnx_read(pbi_onnx *m, pbi_text *text);
/* Sizes of the dimensions that inputs leave open, from the options. */
pb_status pbi_onnx_bind(pbi_onnx *m);
const char *pbi_onnx_name(const pbi_onnx *m, uint32_t tensor);
uint32_t pbi_onnx_find(const pbi_onnx *m, const char *name);

/* Attributes of nodes. Integers are NULL and 0 if the attribute is missing. */
const pbi_onnx_attribute *pbi_onnx_attribute_find(const pbi_onnx_node *n, const char *name);
int64_t pbi_onnx_integer(const pbi_onnx_node *n, const char *name, int64_t fallback);
const char *pbi_onnx_text(const pbi_onnx_node *n, const char *name, const char *fallback);
/* Input i, NULL if it is omitted. */
const pbi_onnx_tensor *pbi_onnx_in(const pbi_onnx *m, const pbi_onnx_node *n, uint32_t i);
pbi_onnx_tensor *pbi_onnx_out(const pbi_onnx *m, const pbi_onnx_node *n, uint32_t i);
/* Elements of a tensor that is shaped; saturated. */
uint64_t pbi_onnx_elements(const pbi_onnx_tensor *t);
/* PB_EGRAPH: Conv "name" (byte 17): ... For what this reader does not support; the message ends with what to do. */
pb_status pbi_onnx_refuse(const pbi_onnx *m, const pbi_onnx_node *n, const char *format, ...);
/* The same for a node that no valid model has; what to do is added. */
pb_status pbi_onnx_invalid(const pbi_onnx *m, const pbi_onnx_node *n, const char *format, ...);
/* Gives output i its type and shape. */
pb_status pbi_onnx_shape(pbi_onnx *m, const pbi_onnx_node *n, uint32_t i, int64_t type, uint32_t rank,
                         const uint64_t *dims);
/* An axis counted from either end; refuses what is outside 0 .. rank-1. */
pb_status pbi_onnx_axis(const pbi_onnx *m, const pbi_onnx_node *n, int64_t axis, uint32_t rank, uint32_t *out);
/* Whole numbers from an attribute or, if there is none, from input i. *count 0 and *out NULL: there is neither.
 * Refuses an input whose numbers are not known. */
pb_status pbi_onnx_list(const pbi_onnx *m, const pbi_onnx_node *n, const char *attribute, uint32_t i,
                        const int64_t **out, uint32_t *count);

/* One row per operator: ops.c. */
typedef pb_status (*pbi_onnx_shaper)(pbi_onnx *m, pbi_onnx_node *n);
typedef struct pbi_onnx_rule {
    const char *op;
    pbi_onnx_shaper shape;
    uint8_t least; /* min number of inputs */
    uint8_t kind;  /* pbi_op_kind */
    uint8_t work;  /* pbi_work_kind */
    /* Bits: inputs whose numbers are read; the others only determine the shape. The last bit is for all after it. */
    uint8_t data;
    uint8_t flops, grads; /* per element of the larger of first input and output */
    bool random;
} pbi_onnx_rule;
/* NULL if the operator is not known. */
const pbi_onnx_rule *pbi_onnx_rule_find(const char *op);
/* Why an operator has no row, and what to do. */
const char *pbi_onnx_advice(const char *op);
static inline bool pbi_onnx_reads(const pbi_onnx_rule *rule, uint32_t i) { return rule->data >> (i < 7 ? i : 7) & 1; }

/* The output's numbers, if they follow from known numbers and are few; else they stay unknown. */
pb_status pbi_onnx_fold(pbi_onnx *m, pbi_onnx_node *n);

/* fuse.c: after all shapes are known. x sigmoid(x) and, with `attention`, products around a softmax become a kernel. */
pb_status pbi_onnx_fuse(pbi_onnx *m, bool attention);

#define PBI_ONNX_SHAPER(name) pb_status pbi_onnx_shape_##name(pbi_onnx *m, pbi_onnx_node *n)
/* shape.c: element by element, reductions, products. */
PBI_ONNX_SHAPER(same);
PBI_ONNX_SHAPER(broadcast);
PBI_ONNX_SHAPER(compare);
PBI_ONNX_SHAPER(where);
PBI_ONNX_SHAPER(cast);
PBI_ONNX_SHAPER(reduce);
PBI_ONNX_SHAPER(arg);
PBI_ONNX_SHAPER(norm);
PBI_ONNX_SHAPER(dropout);
PBI_ONNX_SHAPER(gemm);
PBI_ONNX_SHAPER(matmul);
PBI_ONNX_SHAPER(einsum);
PBI_ONNX_SHAPER(attention);
PBI_ONNX_SHAPER(recurrent);
PBI_ONNX_SHAPER(class_loss);
PBI_ONNX_SHAPER(slope);
PBI_ONNX_SHAPER(quantize);
PBI_ONNX_SHAPER(dequantize);
/* shape_move.c: reshaping, and selecting elements. */
PBI_ONNX_SHAPER(view);
PBI_ONNX_SHAPER(reshape);
PBI_ONNX_SHAPER(flatten);
PBI_ONNX_SHAPER(squeeze);
PBI_ONNX_SHAPER(unsqueeze);
PBI_ONNX_SHAPER(expand);
PBI_ONNX_SHAPER(tile);
PBI_ONNX_SHAPER(transpose);
PBI_ONNX_SHAPER(concat);
PBI_ONNX_SHAPER(split);
PBI_ONNX_SHAPER(slice);
PBI_ONNX_SHAPER(pad);
PBI_ONNX_SHAPER(gather);
PBI_ONNX_SHAPER(gather_elements);
PBI_ONNX_SHAPER(gather_nd);
PBI_ONNX_SHAPER(topk);
PBI_ONNX_SHAPER(one_hot);
PBI_ONNX_SHAPER(constant);
PBI_ONNX_SHAPER(constant_of_shape);
PBI_ONNX_SHAPER(shape);
PBI_ONNX_SHAPER(size);
PBI_ONNX_SHAPER(range);
PBI_ONNX_SHAPER(random);
PBI_ONNX_SHAPER(nonzero);
PBI_ONNX_SHAPER(depth_to_space);
PBI_ONNX_SHAPER(space_to_depth);
/* shape_window.c: windows over images. */
PBI_ONNX_SHAPER(conv);
PBI_ONNX_SHAPER(conv_transpose);
PBI_ONNX_SHAPER(pool);
PBI_ONNX_SHAPER(global_pool);
PBI_ONNX_SHAPER(resize);

#endif
