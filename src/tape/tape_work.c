/* tape_work.c -- what nodes do, for machines: flop, bytes that the kernel reads and writes, operation and type.
 *
 * Flops are the node's cost, or 0 if the kernel only moves data. Bytes are counted once for everything that the kernel
 * reads (inputs, parameters, gradients, saved values) and once for everything that it writes, as if caches held
 * nothing between two kernels and everything within one. Exceptions: of a table or a sliced value only what goes to
 * the output is read, and the gradient of a concatenation's input reads only its part.
 */
#include "tape/tape_parts.h"

typedef struct names {
    const char *forward, *dx, *dw; /* dw: the gradient of a parameter */
} names;

static const names work_names[PBI_WORKS] = {
    [PBI_WORK_MATMUL] = {"matmul", "matmul", "matmul"},
    [PBI_WORK_CONV] = {"conv", "conv.dx", "conv.dw"},
    [PBI_WORK_DEPTHWISE] = {"depthwise", "depthwise.dx", "depthwise.dw"},
    [PBI_WORK_ATTENTION] = {"attention", "attention.dx", "attention.dx"},
    [PBI_WORK_NORM] = {"norm", "norm.dx", "reduce"},
    [PBI_WORK_SOFTMAX] = {"softmax", "softmax.dx", "softmax.dx"},
    [PBI_WORK_ELEMENTWISE] = {"elementwise", "elementwise", "reduce"},
    [PBI_WORK_MATH] = {"math", "math", "reduce"},
    [PBI_WORK_DROPOUT] = {"dropout", "dropout", "dropout"},
    [PBI_WORK_POOL] = {"pool", "pool.dx", "pool.dx"},
    [PBI_WORK_EMBED] = {"embed", "embed.dw", "embed.dw"},
    [PBI_WORK_REDUCE] = {"reduce", "elementwise", "elementwise"},
    [PBI_WORK_SPREAD] = {"copy", "reduce", "reduce"},
    [PBI_WORK_COPY] = {"copy", "copy", "copy"},
    [PBI_WORK_SLICE] = {"copy", "copy", "copy"},
    [PBI_WORK_GATHER] = {"copy", "embed.dw", "embed.dw"},
    [PBI_WORK_LOSS] = {"loss", "loss.dx", "loss.dx"},
    [PBI_WORK_UPDATE] = {"update", "update", "update"},
    [PBI_WORK_OTHER] = {"other", "other", "other"},
};

static void add(uint64_t *bytes, uint64_t more) { *bytes = pbi_add_saturated(*bytes, more); }

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static pbi_work_kind work_of(const pbi_op *op) { return op->work ? op->work : pbi_tape_rules[op->kind].work; }

/* Whether only what goes to the output is read of input i. */
static bool picks(const pbi_tape *t, const pbi_tape_record *o, uint32_t i)
{
    pbi_work_kind work = work_of(&o->op);
    if (work == PBI_WORK_EMBED)
        return t->values[o->in[i]].node == PB_NO_NODE;
    return i == 0 && (work == PBI_WORK_SLICE || work == PBI_WORK_GATHER);
}

static bool multiplies(pbi_work_kind work) { return work >= PBI_WORK_MATMUL && work <= PBI_WORK_ATTENTION; }

static const char *type_of(const pbi_tape *t, const pbi_tape_record *o)
{
    if (t->options.multiplies && multiplies(work_of(&o->op)))
        return t->options.multiplies;
    if (pbi_tape_rules[o->op.kind].last)
        return t->values[o->in[0]].type.name;
    return o->op.counts ? o->op.counts : t->values[o->out].type.name;
}

static pb_work stated(const char *op, const char *type, uint64_t flops, uint64_t bytes)
{
    return (pb_work){.op = op, .dtype = type, .has_flops = true, .has_bytes = true, .flops = flops, .bytes = bytes};
}

/* Whether an earlier input of the operation is the same value; of many inputs, as of a concatenation, each is read. */
static bool seen_before(const pbi_tape_record *o, uint32_t i)
{
    for (uint32_t k = 0; k < i && i < PBI_TAPE_RULED; k++)
        if (o->in[k] == o->in[i])
            return true;
    return false;
}

pb_work pbi_tape_forward_work(const pbi_tape *t, const pbi_tape_record *o, uint64_t flops)
{
    pbi_work_kind work = work_of(&o->op);
    uint64_t out = pbi_tape_size(&t->values[o->out]), bytes = out;
    add(&bytes, o->op.parts_size);
    add(&bytes, o->op.side_size);
    add(&bytes, o->op.traffic);
    for (uint32_t i = 0; i < o->in_count; i++) {
        uint64_t size = pbi_tape_size(&t->values[o->in[i]]);
        if (!seen_before(o, i))
            add(&bytes, picks(t, o, i) ? smaller(size, out) : size);
    }
    bool moves = work >= PBI_WORK_SPREAD && work <= PBI_WORK_GATHER;
    return stated(work_names[work].forward, type_of(t, o), moves ? 0 : flops, bytes);
}

/* The gradients that arrive from the readers of the outputs. */
static uint64_t arriving(const pbi_tape *t, const pbi_tape_record *o)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k <= o->parts && !pbi_tape_rules[o->op.kind].last; k++)
        if (t->values[o->out + k].grad != PB_NO_NODE)
            add(&bytes, pbi_tape_size(&t->values[o->out + k]));
    return bytes;
}

static uint64_t saved(const pbi_tape *t, const pbi_tape_record *o, uint32_t i)
{
    const pbi_tape_rule *r = &pbi_tape_rules[o->op.kind];
    uint8_t reads = r->grad_reads[pbi_rule_row(r, i)];
    uint64_t bytes = o->op.traffic;
    for (uint32_t k = 0; k < o->in_count; k++)
        if (pbi_rule_reads(reads, i, k) && !seen_before(o, k))
            add(&bytes, pbi_tape_size(&t->values[o->in[k]]));
    if (reads & PBI_READS_OUT)
        add(&bytes, pbi_tape_size(&t->values[o->out]));
    if (reads & PBI_READS_SIDE)
        add(&bytes, o->op.side_size);
    return bytes;
}

/* The gradient of input k: a new value, or an addition to a buffer, which is read and written. The gradient of a
 * table adds to the selected rows, after it has cleared a new one. */
static uint64_t written(const pbi_tape *t, const pbi_tape_record *o, uint32_t k, uint64_t arrived)
{
    const pbi_tape_value *in = &t->values[o->in[k]];
    uint64_t size = pbi_tape_grad_size(t, in);
    bool buffer = in->node == PB_NO_NODE && t->options.grads == PBI_GRADS_ACCUMULATE;
    if (picks(t, o, k) && work_of(&o->op) != PBI_WORK_SLICE)
        return pbi_add_saturated(buffer ? 0 : size, pbi_times(2, smaller(size, arrived)));
    return buffer ? pbi_times(2, size) : size;
}

pb_work pbi_tape_gradient_work(const pbi_tape *t, const pbi_tape_record *o, uint32_t i, uint64_t flops)
{
    pbi_work_kind work = work_of(&o->op);
    const pbi_tape_rule *r = &pbi_tape_rules[o->op.kind];
    const pbi_tape_value *in = &t->values[o->in[i]], *out = &t->values[o->out];
    bool parameter = in->node == PB_NO_NODE, joint = parameter ? r->joint_weights : r->joint;
    uint64_t arrived = arriving(t, o), bytes = arrived;
    if (r->grad_slices)
        bytes = smaller(arrived, pbi_tape_size(in));
    add(&bytes, saved(t, o, i));
    add(&bytes, written(t, o, i, arrived));
    for (uint32_t k = i + 1; joint && k < o->in_count; k++)
        if (pbi_tape_needs_gradient(t, o, k, parameter))
            add(&bytes, written(t, o, k, arrived));
    const char *op = parameter ? work_names[work].dw : work_names[work].dx;
    bool copies = work == PBI_WORK_COPY || work == PBI_WORK_SLICE;
    bool sums = pbi_rule_marks(r->terms, i) || (r->by_output && work == PBI_WORK_ELEMENTWISE &&
                                                pbi_dims_elements(in->dims) < pbi_dims_elements(out->dims));
    return stated(sums ? "reduce" : op, type_of(t, o), copies ? 0 : flops, bytes);
}

pb_work pbi_tape_sum_work(const pbi_tape *t, const pbi_tape_value *value, uint64_t flops, bool twice)
{
    bool master = value->node == PB_NO_NODE && t->options.master.size;
    return stated(work_names[PBI_WORK_ELEMENTWISE].forward, master ? t->options.master.name : value->type.name, flops,
                  pbi_times(twice ? 2 : 3, pbi_tape_grad_size(t, value)));
}

uint64_t pbi_tape_state_size(const pbi_tape *t) { return t->options.type.size < 4 ? 4 : t->options.type.size; }

/* Reads the gradient; reads and writes parameters and state; writes the copy that kernels read, if it is another. */
pb_work pbi_tape_update_work(const pbi_tape *t, const pbi_tape_value *parameter, uint64_t flops)
{
    const pbi_type *master = &t->options.master;
    pbi_type type = master->size ? *master : parameter->type;
    uint64_t number = 3 * type.size + 2 * t->options.state_per_parameter * pbi_tape_state_size(t);
    if (master->size)
        number += parameter->type.size;
    return stated(work_names[PBI_WORK_UPDATE].forward, type.name, flops,
                  pbi_times(pbi_dims_elements(parameter->dims), number));
}

pb_work pbi_tape_draw_work(const pbi_tape *t, uint64_t size, uint64_t flops)
{
    return stated(work_names[PBI_WORK_DROPOUT].forward, t->options.type.name, flops, size);
}
