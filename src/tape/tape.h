/* tape.h -- training steps: operations are recorded in forward order, the tape adds the backward pass.
 *
 *     pbi_tape t;
 *     pbi_tape_init(&t, &emit, &arena, &options);
 *     pbi_value x = pbi_tape_input(&t, "images", dims, t.options.type);
 *     pbi_tape_group(&t, "layer1");
 *     x = pbi_op_linear(&t, "fc", x, 10);
 *     pbi_op_loss(&t, "loss", x, labels);
 *     return pbi_tape_backward(&t);
 *
 * Each operation follows a rule (tape_rules.c has the table) that lists what its gradients read: inputs, its own
 * output or what it saved on the side. The gradients of a value with several readers are added by nodes named
 * `dsum`. Parameters and constants are values without a node: they are in the graph's fixed memory, and reading
 * them is not an edge. Every computed node states its work for machines: flop, bytes that the kernel reads and
 * writes (parameters included), type and operation; tape_work.c has the rules. To add an operation: one row in the
 * table of rules, one function in tape_ops.c that computes shape and cost.
 *
 * Names are "<group>.<operation>", then ".dx" for the gradient of its input (".dx0", ".dx1" with several), ".dw" and
 * ".db" for those of its first and second parameter, ".update" for the optimiser's step.
 */
#ifndef PBI_TAPE_H
#define PBI_TAPE_H

#include "graph/emit.h"

typedef uint32_t pbi_value;
#define PBI_NO_VALUE UINT32_MAX

/* The type of a number: its name for machines ("float32") and its bytes. */
typedef struct pbi_type {
    const char *name;
    uint64_t size;
} pbi_type;

/* rows: batch, or all its tokens. */
typedef struct pbi_dims {
    uint64_t rows, channels, height, width;
} pbi_dims;

typedef enum pbi_grads { PBI_GRADS_ACCUMULATE, PBI_GRADS_KEEP, PBI_GRADS_UPDATE } pbi_grads;

/* accumulate, keep or update. */
bool pbi_grads_parse(const char *name, pbi_grads *out);

typedef struct pbi_optimizer {
    const char *name;
    uint64_t state, flops; /* per parameter */
} pbi_optimizer;
/* none, sgd, momentum, adam; NULL for any other name. */
const pbi_optimizer *pbi_optimizer_find(const char *name);

typedef struct pbi_tape_options {
    pbi_type type;          /* of values, and of the parameters that kernels read */
    pbi_type master;        /* mixed precision: of the optimiser's own copy of the parameters and of their gradients */
    const char *multiplies; /* the type that products are computed in, if it is another: "tf32" */
    pbi_grads grads;
    uint64_t state_per_parameter; /* numbers that the optimiser keeps per parameter */
    uint64_t update_cost;         /* flop per parameter; 0: no optimiser */
    bool im2col;                  /* convolutions need workspace for one image's patches */
    bool dropout;                 /* without it pbi_op_dropout does nothing */
    bool dropout_seed;            /* save the seed, not the mask */
    bool dropout_redraw;          /* the mask has a recipe that draws it again from its seed */
    bool whole_names;             /* operations have full names: no group in front */
} pbi_tape_options;

typedef enum pbi_op_kind {
    PBI_OP_LINEAR,
    PBI_OP_CONV,
    PBI_OP_RELU,
    PBI_OP_GELU,
    PBI_OP_NORM,
    PBI_OP_MAX_POOL,
    PBI_OP_MEAN_POOL,
    PBI_OP_ADD,
    PBI_OP_CONCAT,
    PBI_OP_MATMUL,
    PBI_OP_SOFTMAX,
    PBI_OP_DROPOUT,
    PBI_OP_EMBED,
    PBI_OP_ATTENTION,
    PBI_OP_LOSS,
    /* By what their gradients read, for operations without further properties. */
    PBI_OP_BY_INPUT,  /* element by element: erf, log, clip */
    PBI_OP_BY_OUTPUT, /* element by element: tanh, exp, sqrt */
    PBI_OP_SCALED,    /* element by element, by a constant: negation */
    PBI_OP_MOVED,     /* transposes, slices, sums: the gradient only needs that of the output */
    PBI_OP_BY_BOTH,   /* a largest value, a length */
    PBI_OP_CHOICE,    /* the maximum or minimum of several inputs */
    PBI_OP_SUB,
    PBI_OP_MUL,
    PBI_OP_DIV,
    PBI_OP_POW,
    PBI_OP_SLOPE,     /* a slope below 0 */
    PBI_OP_WHERE,     /* by its first input */
    PBI_OP_PICKED,    /* by the indices in its second input */
    PBI_OP_SORTED,    /* by the indices it saved */
    PBI_OP_SCALES,    /* a normalisation by known statistics: factor and term per channel */
    PBI_OP_SCORES,    /* a loss over classes: its gradient reads labels and what it saved, not the scores */
    PBI_OP_RECURRENT, /* steps in one kernel; so are all gradients, of inputs and parameters */
    PBI_OP_BLOCKED,   /* no gradient: comparisons, indices, rounding */
    PBI_OP_KINDS
} pbi_op_kind;

/* What kernels do, for machines: an operation has a name for the forward pass and for gradients of values and of
 * parameters (tape_work.c). */
typedef enum pbi_work_kind {
    PBI_WORK_BY_RULE,
    PBI_WORK_MATMUL,
    PBI_WORK_CONV,
    PBI_WORK_DEPTHWISE, /* a convolution with as many groups as channels */
    PBI_WORK_ATTENTION,
    PBI_WORK_NORM,
    PBI_WORK_SOFTMAX,
    PBI_WORK_ELEMENTWISE,
    PBI_WORK_MATH, /* exponentials and the like, element by element */
    PBI_WORK_DROPOUT,
    PBI_WORK_POOL,
    PBI_WORK_EMBED, /* rows of a table in fixed memory */
    PBI_WORK_REDUCE,
    PBI_WORK_SPREAD, /* the reverse of reduce: one number becomes many */
    PBI_WORK_COPY,   /* no flop, whatever the cost */
    PBI_WORK_SLICE,  /* a copy of a part of the first input */
    PBI_WORK_GATHER, /* a copy of selected elements of the first input; its gradient adds to them */
    PBI_WORK_LOSS,
    PBI_WORK_UPDATE,
    PBI_WORK_OTHER,
    PBI_WORKS
} pbi_work_kind;

/* What an operation function passes to the tape. */
typedef struct pbi_op {
    pbi_op_kind kind;
    pbi_work_kind work;  /* if it differs from the rule's */
    const char *name;    /* must outlive the tape: a literal, or pbi_tape_text */
    pbi_dims dims;       /* of the output */
    pbi_type type;       /* of the output; size 0: the tape's */
    const char *counts;  /* the type it computes in, if it differs from the output's */
    uint64_t cost;       /* of the forward pass; 0: by the rule, per element of the output */
    uint64_t grad_cost;  /* of each input's gradient; 0: by the rule */
    uint64_t workspace;  /* of the forward node and of each gradient */
    uint64_t traffic;    /* bytes that each of them reads and writes in addition to inputs and results */
    uint64_t parts_size; /* bytes of the outputs that pbi_tape_part adds */
    uint64_t side_size;  /* bytes saved for the backward pass; 0: none */
    pb_node side;        /* the node that holds them, which both passes read; PB_NO_NODE: they are a by-product */
    uint16_t flags;      /* of the node */
} pbi_op;

typedef struct pbi_tape {
    pbi_emit *emit;
    pb_arena *arena;
    pbi_tape_options options;
    struct pbi_tape_value *values;
    struct pbi_tape_record *ops;
    size_t value_count, value_room, op_count, op_room;
    const char *group; /* of the operations that follow, "" for none */
    char *label;       /* the name of the current node */
    size_t label_length, label_room;
    uint64_t fixed_bytes; /* of parameters and constants */
} pbi_tape;

void pbi_tape_init(pbi_tape *t, pbi_emit *emit, pb_arena *arena, const pbi_tape_options *options);
/* The layer or block of the operations that follow. */
void pbi_tape_group(pbi_tape *t, const char *name);
/* The same followed by a number, as in "block12". */
void pbi_tape_block(pbi_tape *t, const char *name, uint64_t number);
/* "conv3", for an operation's name. */
const char *pbi_tape_text(pbi_tape *t, const char *text, uint64_t number);

/* Given data, without a gradient. */
pbi_value pbi_tape_input(pbi_tape *t, const char *name, pbi_dims dims, pbi_type type);
/* A value in fixed memory: a parameter, which gets a gradient, or a constant. */
pbi_value pbi_tape_fixed(pbi_tape *t, const char *name, pbi_dims dims, pbi_type type, bool learnt);
/* The forward node; PBI_NO_VALUE after a failure, which every later call accepts. */
pbi_value pbi_tape_op(pbi_tape *t, const pbi_op *op, const pbi_value *in, uint32_t count);
/* Another output of the most recent operation. `saved`: it is what the rule calls the side. */
pbi_value pbi_tape_part(pbi_tape *t, const pbi_op *part, bool saved);
/* A node of the next operation that is not a value: a random mask, a seed. */
pb_node pbi_tape_source(pbi_tape *t, const char *name, const char *suffix, uint64_t cost, uint64_t size);
pbi_dims pbi_tape_dims(const pbi_tape *t, pbi_value value);
static inline uint64_t pbi_dims_elements(pbi_dims d)
{
    return pbi_times(pbi_times(d.rows, d.channels), pbi_times(d.height, d.width));
}

/* All gradients, in the reverse order of the operations; targets and the fixed size too. */
pb_status pbi_tape_backward(pbi_tape *t);
/* After the backward pass: every value that it reads has a by-product, its copy compressed by `factor`, and a recipe
 * that unpacks it, at this many flop per number for packing and unpacking. */
void pbi_tape_compress(pbi_tape *t, uint64_t factor, uint64_t flops);
/* The first given value, the batch, can be read again at this cost. */
void pbi_tape_reread(pbi_tape *t, uint64_t cost);
/* No backward pass: the fixed size alone. */
pb_status pbi_tape_forward(pbi_tape *t);
/* The node of a value, PB_NO_NODE in fixed memory, and whether gradients of parameters pass through it. */
pb_node pbi_tape_node(const pbi_tape *t, pbi_value value);
bool pbi_tape_wants_grad(const pbi_tape *t, pbi_value value);

/* Operations, tape_ops.c. Costs in flop: a multiplication and an addition are two; operations that only move data
 * count one per element. */
pbi_value pbi_op_linear(pbi_tape *t, const char *name, pbi_value x, uint64_t outputs);
/* Padded so that the output is the input divided by the stride, rounded up; no bias. */
pbi_value pbi_op_conv(pbi_tape *t, const char *name, pbi_value x, uint64_t channels, uint64_t kernel, uint64_t stride);
/* Transposed convolution, 2 x 2 with stride 2, to `like`'s height and width (at most twice x's). */
pbi_value pbi_op_conv_up(pbi_tape *t, const char *name, pbi_value x, uint64_t channels, pbi_value like);
pbi_value pbi_op_relu(pbi_tape *t, const char *name, pbi_value x);
pbi_value pbi_op_gelu(pbi_tape *t, const char *name, pbi_value x);
pbi_value pbi_op_batch_norm(pbi_tape *t, const char *name, pbi_value x); /* saves mean and deviation by channel */
pbi_value pbi_op_layer_norm(pbi_tape *t, const char *name, pbi_value x); /* saves them by row */
pbi_value pbi_op_max_pool(pbi_tape *t, const char *name, pbi_value x, uint64_t kernel, uint64_t stride);
pbi_value pbi_op_mean_pool(pbi_tape *t, const char *name, pbi_value x); /* to 1 x 1 */
pbi_value pbi_op_add(pbi_tape *t, const char *name, pbi_value a, pbi_value b);
pbi_value pbi_op_concat(pbi_tape *t, const char *name, pbi_value a, pbi_value b); /* along channels */
/* rows x inner times inner x columns, for `rows` rows in total. */
pbi_value pbi_op_matmul(pbi_tape *t, const char *name, pbi_value a, pbi_value b, pbi_dims out, uint64_t inner);
pbi_value pbi_op_softmax(pbi_tape *t, const char *name, pbi_value x);
pbi_value pbi_op_dropout(pbi_tape *t, const char *name, pbi_value x);
/* Rows of a table of `vocabulary` (and of `positions`, added) selected by tokens. */
pbi_value pbi_op_embed(pbi_tape *t, const char *name, pbi_value tokens, uint64_t width, uint64_t vocabulary,
                       uint64_t positions);
typedef struct pbi_attention {
    pbi_value q, k, v;
    uint64_t heads, sequence;
} pbi_attention;
/* Scores, softmax and weighted sum in one kernel that never stores the probabilities, only row sums. */
pbi_value pbi_op_attention(pbi_tape *t, const char *name, const pbi_attention *a);
pbi_value pbi_op_loss(pbi_tape *t, const char *name, pbi_value logits, pbi_value labels);

#endif
