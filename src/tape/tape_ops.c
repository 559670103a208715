/* tape_ops.c -- shapes, costs and saved values of each operation. Products saturate: the tape refuses overflows. */
#include "tape/tape_parts.h"

#include <string.h>

static const pbi_optimizer optimizers[] = {{"none", 0, 0}, {"sgd", 0, 2}, {"momentum", 1, 4}, {"adam", 2, 12}};

const pbi_optimizer *pbi_optimizer_find(const char *name)
{
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++)
        if (strcmp(name, optimizers[i].name) == 0)
            return &optimizers[i];
    return NULL;
}

bool pbi_grads_parse(const char *name, pbi_grads *out)
{
    static const char *const names[] = {"accumulate", "keep", "update"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (pbi_grads)i;
            return true;
        }
    return false;
}

static uint64_t product(uint64_t a, uint64_t b, uint64_t c) { return pbi_times(pbi_times(a, b), c); }

/* `rows` times `inner` times `columns` multiply-adds. */
static uint64_t product_cost(uint64_t rows, uint64_t inner, uint64_t columns)
{
    return pbi_times(2, product(rows, inner, columns));
}

static pbi_op unary(const pbi_tape *t, pbi_op_kind kind, const char *name, pbi_value x)
{
    return (pbi_op){.kind = kind, .name = name, .dims = pbi_tape_dims(t, x), .side = PB_NO_NODE};
}

static pbi_value learnt(pbi_tape *t, const char *name, uint64_t count)
{
    return pbi_tape_fixed(t, name, (pbi_dims){count, 1, 1, 1}, t->options.type, true);
}

static pbi_value write_one(pbi_tape *t, const pbi_op *op, pbi_value x) { return pbi_tape_op(t, op, &x, 1); }

static pbi_value write_two(pbi_tape *t, const pbi_op *op, pbi_value a, pbi_value b)
{
    return pbi_tape_op(t, op, (pbi_value[]){a, b}, 2);
}

pbi_value pbi_op_linear(pbi_tape *t, const char *name, pbi_value x, uint64_t outputs)
{
    pbi_op op = unary(t, PBI_OP_LINEAR, name, x);
    uint64_t inputs = product(op.dims.channels, op.dims.height, op.dims.width);
    op.dims = (pbi_dims){op.dims.rows, outputs, 1, 1};
    op.cost = op.grad_cost = product_cost(op.dims.rows, inputs, outputs);
    pbi_value w = learnt(t, name, pbi_add_saturated(pbi_times(inputs, outputs), outputs)); /* with bias */
    return write_two(t, &op, x, w);
}

/* Convolutions in tf32 compute with the channels last, and the float32 values around them have them first: a kernel
 * before reads and writes the input in the other order, one after it the output. */
static uint64_t transposed(const pbi_tape *t, pbi_dims in, pbi_dims out)
{
    uint64_t both = pbi_add_saturated(pbi_dims_elements(in), pbi_dims_elements(out));
    return t->options.multiplies ? product(2, both, t->options.type.size) : 0;
}

pbi_value pbi_op_conv(pbi_tape *t, const char *name, pbi_value x, uint64_t channels, uint64_t kernel, uint64_t stride)
{
    pbi_op op = unary(t, PBI_OP_CONV, name, x);
    uint64_t patch = product(op.dims.channels, kernel, kernel);
    pbi_dims in = op.dims;
    op.dims =
        (pbi_dims){op.dims.rows, channels, pbi_ceil_div(op.dims.height, stride), pbi_ceil_div(op.dims.width, stride)};
    uint64_t pixels = op.dims.height * op.dims.width;
    op.cost = op.grad_cost = product_cost(pbi_times(op.dims.rows, pixels), patch, channels);
    pbi_value w = learnt(t, name, pbi_times(patch, channels));
    if (t->options.im2col && (kernel > 1 || stride > 1)) {
        op.workspace = product(pixels, patch, t->options.type.size);
        op.traffic = product(2, op.dims.rows, op.workspace); /* the patches of each image are written, then read */
    }
    op.traffic = pbi_add_saturated(op.traffic, transposed(t, in, op.dims));
    return write_two(t, &op, x, w);
}

pbi_value pbi_op_conv_up(pbi_tape *t, const char *name, pbi_value x, uint64_t channels, pbi_value like)
{
    pbi_op op = unary(t, PBI_OP_CONV, name, x);
    pbi_dims in = op.dims, shape = pbi_tape_dims(t, like);
    op.dims = (pbi_dims){in.rows, channels, shape.height, shape.width};
    uint64_t pixels = in.height * in.width;
    op.cost = op.grad_cost = product_cost(pbi_times(in.rows, pixels), in.channels, pbi_times(channels, 4));
    op.traffic = transposed(t, in, op.dims);
    pbi_value w = learnt(t, name, product(in.channels, channels, 4));
    return write_two(t, &op, x, w);
}

pbi_value pbi_op_relu(pbi_tape *t, const char *name, pbi_value x)
{
    pbi_op op = unary(t, PBI_OP_RELU, name, x);
    return write_one(t, &op, x);
}

pbi_value pbi_op_gelu(pbi_tape *t, const char *name, pbi_value x)
{
    pbi_op op = unary(t, PBI_OP_GELU, name, x);
    return write_one(t, &op, x);
}

/* Mean and deviation are as precise as the parameters of the optimiser. */
static uint64_t statistic_size(const pbi_tape *t)
{
    return t->options.master.size ? t->options.master.size : t->options.type.size;
}

pbi_value pbi_op_batch_norm(pbi_tape *t, const char *name, pbi_value x)
{
    pbi_op op = unary(t, PBI_OP_NORM, name, x);
    pbi_value w = learnt(t, name, 2 * op.dims.channels);
    op.side_size = product(2, op.dims.channels, statistic_size(t));
    return write_two(t, &op, x, w);
}

pbi_value pbi_op_layer_norm(pbi_tape *t, const char *name, pbi_value x)
{
    pbi_op op = unary(t, PBI_OP_NORM, name, x);
    pbi_value w = learnt(t, name, 2 * op.dims.channels);
    op.side_size = product(2, op.dims.rows, statistic_size(t));
    return write_two(t, &op, x, w);
}

pbi_value pbi_op_max_pool(pbi_tape *t, const char *name, pbi_value x, uint64_t kernel, uint64_t stride)
{
    pbi_op op = unary(t, PBI_OP_MAX_POOL, name, x);
    op.dims.height = pbi_ceil_div(op.dims.height, stride);
    op.dims.width = pbi_ceil_div(op.dims.width, stride);
    uint64_t elements = pbi_dims_elements(op.dims);
    op.cost = product(elements, kernel, kernel);
    op.side_size = elements; /* index of the maximum in the window: a byte each */
    return write_one(t, &op, x);
}

pbi_value pbi_op_mean_pool(pbi_tape *t, const char *name, pbi_value x)
{
    pbi_op op = unary(t, PBI_OP_MEAN_POOL, name, x);
    op.cost = pbi_dims_elements(op.dims);
    op.dims.height = op.dims.width = 1;
    return write_one(t, &op, x);
}

pbi_value pbi_op_add(pbi_tape *t, const char *name, pbi_value a, pbi_value b)
{
    pbi_op op = unary(t, PBI_OP_ADD, name, a);
    return write_two(t, &op, a, b);
}

pbi_value pbi_op_concat(pbi_tape *t, const char *name, pbi_value a, pbi_value b)
{
    pbi_op op = unary(t, PBI_OP_CONCAT, name, a);
    op.dims.channels += pbi_tape_dims(t, b).channels;
    return write_two(t, &op, a, b);
}

pbi_value pbi_op_matmul(pbi_tape *t, const char *name, pbi_value a, pbi_value b, pbi_dims out, uint64_t inner)
{
    pbi_op op = unary(t, PBI_OP_MATMUL, name, a);
    op.dims = out;
    op.cost = op.grad_cost = pbi_times(2 * inner, pbi_dims_elements(out));
    return write_two(t, &op, a, b);
}

pbi_value pbi_op_softmax(pbi_tape *t, const char *name, pbi_value x)
{
    pbi_op op = unary(t, PBI_OP_SOFTMAX, name, x);
    return write_one(t, &op, x);
}

/* A random draw happens once: what the backward pass needs of it, the mask or the seed, is a node that may not be
 * recomputed. With a seed both passes draw the mask again, at 8 flop per element. A mask may also have a recipe that
 * draws it again: then the plan decides. */
pbi_value pbi_op_dropout(pbi_tape *t, const char *name, pbi_value x)
{
    if (!t->options.dropout)
        return x;
    pbi_op op = unary(t, PBI_OP_DROPOUT, name, x);
    uint64_t elements = pbi_dims_elements(op.dims), draws = pbi_times(elements, 8);
    if (t->options.dropout_seed) {
        op.side_size = 8;
        op.side = pbi_tape_source(t, name, ".seed", 1, op.side_size);
        op.work = PBI_WORK_DROPOUT;
        op.cost = op.grad_cost = pbi_add_saturated(draws, elements);
    } else {
        op.side_size = elements;
        op.side = pbi_tape_source(t, name, ".mask", draws, op.side_size);
        if (t->options.dropout_redraw)
            pbi_tape_redraw(t, op.side, draws, op.side_size);
    }
    return write_one(t, &op, x);
}

pbi_value pbi_op_embed(pbi_tape *t, const char *name, pbi_value tokens, uint64_t width, uint64_t vocabulary,
                       uint64_t positions)
{
    pbi_op op = unary(t, PBI_OP_EMBED, name, tokens);
    op.dims = (pbi_dims){op.dims.rows, width, 1, 1};
    pbi_value w = learnt(t, name, pbi_times(pbi_add_saturated(vocabulary, positions), width));
    op.traffic = product(positions, width, t->options.type.size); /* their rows are shared by all sequences */
    return write_two(t, &op, tokens, w);
}

pbi_value pbi_op_attention(pbi_tape *t, const char *name, const pbi_attention *a)
{
    pbi_op op = unary(t, PBI_OP_ATTENTION, name, a->q);
    uint64_t products = product_cost(op.dims.rows, op.dims.channels, a->sequence);
    uint64_t scores = product(op.dims.rows, a->heads, a->sequence);
    /* Two products in the forward pass, five in the backward pass (the scores are recomputed), and the softmax in
     * each. */
    op.cost = pbi_add_saturated(pbi_times(2, products), pbi_times(5, scores));
    op.grad_cost = pbi_add_saturated(pbi_times(5, products), pbi_times(9, scores));
    op.side_size = product(op.dims.rows, a->heads, 4);
    return pbi_tape_op(t, &op, (pbi_value[]){a->q, a->k, a->v}, 3);
}

pbi_value pbi_op_loss(pbi_tape *t, const char *name, pbi_value logits, pbi_value labels)
{
    pbi_op op = unary(t, PBI_OP_LOSS, name, logits);
    op.cost = pbi_times(5, pbi_dims_elements(op.dims));
    op.dims = (pbi_dims){1, 1, 1, 1};
    return write_two(t, &op, logits, labels);
}
