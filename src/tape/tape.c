/* tape.c -- see tape.h. One loop forward as operations come in, one loop back over them in reverse. */
#include "tape/tape.h"

#include <string.h>

#include "base/arena.h"

/* What a gradient reads beside the gradient of the output. */
enum { IN0 = 1, IN1 = 2, IN2 = 4, OUT = 8, SIDE = 16 };

typedef struct rule {
    uint8_t inputs;
    uint8_t overwrites;                                        /* inputs in whose memory the output may be made */
    uint8_t grad_reads[PBI_OP_INPUTS];                         /* by each input's gradient */
    uint8_t weight_reads;                                      /* by the gradient of the weights */
    uint8_t per_element, grad_per_element, weight_per_element; /* flop, where the operation states no cost */
    bool passes;          /* the gradient of the output is the gradient of each input: no node */
    bool joint;           /* one kernel makes all gradients: the later ones are by-products of the first */
    bool grad_overwrites; /* a gradient may be made in the memory of the output's */
    bool last;            /* a loss: its gradient starts the way back */
} rule;

static const rule rules[PBI_OP_KINDS] = {
    [PBI_OP_LINEAR] = {.inputs = 1, .weight_reads = IN0},
    [PBI_OP_CONV] = {.inputs = 1, .weight_reads = IN0},
    [PBI_OP_RELU] = {.inputs = 1,
                     .overwrites = IN0,
                     .grad_reads = {OUT},
                     .grad_overwrites = true,
                     .per_element = 1,
                     .grad_per_element = 1},
    [PBI_OP_GELU] = {.inputs = 1,
                     .overwrites = IN0,
                     .grad_reads = {IN0},
                     .grad_overwrites = true,
                     .per_element = 10,
                     .grad_per_element = 14},
    [PBI_OP_NORM] = {.inputs = 1,
                     .grad_reads = {IN0 | SIDE},
                     .weight_reads = IN0 | SIDE,
                     .grad_overwrites = true,
                     .per_element = 7,
                     .grad_per_element = 10,
                     .weight_per_element = 4},
    [PBI_OP_MAX_POOL] = {.inputs = 1, .grad_reads = {SIDE}, .grad_per_element = 1},
    [PBI_OP_MEAN_POOL] = {.inputs = 1, .grad_per_element = 1},
    [PBI_OP_ADD] = {.inputs = 2, .overwrites = IN0 | IN1, .passes = true, .per_element = 1},
    [PBI_OP_CONCAT] = {.inputs = 2, .per_element = 1, .grad_per_element = 1},
    [PBI_OP_MATMUL] = {.inputs = 2, .grad_reads = {IN1, IN0}},
    [PBI_OP_SOFTMAX] = {.inputs = 1,
                        .overwrites = IN0,
                        .grad_reads = {OUT},
                        .grad_overwrites = true,
                        .per_element = 5,
                        .grad_per_element = 4},
    [PBI_OP_DROPOUT] = {.inputs = 1,
                        .overwrites = IN0,
                        .grad_reads = {SIDE},
                        .grad_overwrites = true,
                        .per_element = 1,
                        .grad_per_element = 1},
    [PBI_OP_EMBED] = {.inputs = 1, .weight_reads = IN0, .per_element = 1, .weight_per_element = 1},
    [PBI_OP_ATTENTION] = {.inputs = 3, .joint = true, .grad_reads = {IN0 | IN1 | IN2 | OUT | SIDE}},
    [PBI_OP_LOSS] = {.inputs = 2, .last = true, .grad_reads = {IN0 | IN1}, .grad_per_element = 3},
};

typedef struct pbi_tape_value {
    pb_node node;
    pb_node grad;   /* sum of what has been contributed, PB_NO_NODE before */
    uint32_t maker; /* operation, UINT32_MAX for inputs */
    uint32_t sums;  /* additions so far */
    pbi_dims dims;
    bool wants_grad;
} pbi_tape_value;

typedef struct pbi_tape_record {
    pbi_op op;
    const char *group;
    pbi_value out;
} pbi_tape_record;

void pbi_tape_init(pbi_tape *t, pbi_emit *emit, pb_arena *arena, const pbi_tape_options *options)
{
    *t = (pbi_tape){.emit = emit, .arena = arena, .options = *options, .group = ""};
    pbi_emit_units(emit, "flop", "byte");
}

static void out_of_memory(pbi_tape *t)
{
    if (t->emit->status == PB_OK)
        t->emit->status = PB_ENOMEM;
}

const char *pbi_tape_text(pbi_tape *t, const char *text, uint64_t number)
{
    pbi_label label;
    pbi_label_set(&label, text);
    pbi_label_number(&label, number);
    const char *copy = pb_arena_text(t->arena, label.text, label.length);
    if (!copy)
        out_of_memory(t);
    return copy ? copy : "";
}

void pbi_tape_group(pbi_tape *t, const char *name)
{
    const char *copy = pb_arena_text(t->arena, name, strlen(name));
    if (!copy)
        out_of_memory(t);
    t->group = copy ? copy : "";
}

void pbi_tape_block(pbi_tape *t, const char *name, uint64_t number) { t->group = pbi_tape_text(t, name, number); }

pbi_dims pbi_tape_dims(const pbi_tape *t, pbi_value value)
{
    return value < t->value_count ? t->values[value].dims : (pbi_dims){1, 1, 1, 1};
}

static uint64_t value_size(const pbi_tape *t, const pbi_tape_value *value)
{
    return pbi_times(pbi_dims_elements(value->dims), t->options.element_size);
}

static pbi_value add_value(pbi_tape *t, const pbi_tape_value *value)
{
    void *values = t->values;
    if (!pbi_arena_reserve(t->arena, &values, &t->value_room, t->value_count + 1, sizeof *value)) {
        out_of_memory(t);
        return PBI_NO_VALUE;
    }
    t->values = values;
    t->values[t->value_count] = *value;
    return (pbi_value)t->value_count++;
}

/* The spec of a node of `group`; `label` keeps its name. */
static pb_node_spec node_spec(pbi_label *label, const char *group, const char *name, const char *suffix)
{
    pbi_label_set(label, group);
    if (*group)
        pbi_label_text(label, ".");
    pbi_label_text(label, name);
    pbi_label_text(label, suffix);
    pb_node_spec spec = {.name = label->text, .name_length = label->length};
    if (*group) {
        spec.group = group;
        spec.group_length = strlen(group);
    }
    return spec;
}

pbi_value pbi_tape_input(pbi_tape *t, const char *name, pbi_dims dims, uint64_t element_size)
{
    pbi_label label;
    pb_node_spec spec = node_spec(&label, t->group, name, "");
    spec.size = pbi_times(pbi_dims_elements(dims), element_size);
    spec.flags = PB_NODE_GIVEN;
    pbi_tape_value value = {
        .node = pbi_emit_node(t->emit, &spec), .grad = PB_NO_NODE, .maker = UINT32_MAX, .dims = dims};
    return add_value(t, &value);
}

pb_node pbi_tape_source(pbi_tape *t, const char *name, const char *suffix, uint64_t cost, uint64_t size)
{
    pbi_label label;
    pb_node_spec spec = node_spec(&label, t->group, name, suffix);
    spec.cost = cost;
    spec.size = size;
    spec.flags = PB_NODE_ONCE;
    return pbi_emit_step(t->emit, &spec);
}

static bool remember(pbi_tape *t, const pbi_tape_record *op)
{
    void *ops = t->ops;
    if (!pbi_arena_reserve(t->arena, &ops, &t->op_room, t->op_count + 1, sizeof *op)) {
        out_of_memory(t);
        return false;
    }
    t->ops = ops;
    t->ops[t->op_count++] = *op;
    return true;
}

pbi_value pbi_tape_op(pbi_tape *t, const pbi_op *op)
{
    const rule *r = &rules[op->kind];
    if (t->emit->status != PB_OK)
        return PBI_NO_VALUE;
    pbi_tape_value value = {.grad = PB_NO_NODE, .dims = op->dims, .maker = (uint32_t)t->op_count};
    value.wants_grad = op->parameters > 0;
    uint64_t elements = pbi_dims_elements(op->dims);
    pbi_label label;
    pb_node_spec spec = node_spec(&label, t->group, op->name, "");
    spec.cost = op->cost ? op->cost : pbi_times(elements, r->per_element);
    spec.size = value_size(t, &value);
    spec.workspace = op->workspace;
    value.node = pbi_emit_step(t->emit, &spec);
    for (int i = 0; i < r->inputs; i++) {
        const pbi_tape_value *in = &t->values[op->in[i]];
        value.wants_grad |= in->wants_grad;
        pbi_emit_edge(t->emit, in->node, value.node);
        if (r->overwrites >> i & 1)
            pbi_emit_inplace(t->emit, value.node, in->node);
    }
    pbi_tape_record record = {.op = *op, .group = t->group};
    if (op->side != PB_NO_NODE)
        pbi_emit_edge(t->emit, op->side, value.node);
    if (op->side_size) {
        spec = node_spec(&label, t->group, op->name, ".saved");
        spec.size = op->side_size;
        record.op.side = pbi_emit_part(t->emit, &spec, value.node);
    }
    t->parameters = pbi_add_saturated(t->parameters, op->parameters);
    record.out = add_value(t, &value);
    return record.out != PBI_NO_VALUE && remember(t, &record) ? record.out : PBI_NO_VALUE;
}

/* ---- The way back ---- */

static void read_saved(pbi_tape *t, const pbi_tape_record *o, uint8_t reads, pb_node reader)
{
    for (int i = 0; i < PBI_OP_INPUTS; i++)
        if (reads >> i & 1)
            pbi_emit_edge(t->emit, t->values[o->op.in[i]].node, reader);
    if (reads & OUT)
        pbi_emit_edge(t->emit, t->values[o->out].node, reader);
    if (reads & SIDE)
        pbi_emit_edge(t->emit, o->op.side, reader);
}

/* Add `grad` to the gradient of `value`; the second and later ones need a node that adds. */
static void contribute(pbi_tape *t, pbi_value index, pb_node grad)
{
    pbi_tape_value *value = &t->values[index];
    if (value->grad == PB_NO_NODE) {
        value->grad = grad;
        return;
    }
    const pbi_tape_record *maker = &t->ops[value->maker];
    pbi_label label;
    pb_node_spec spec = node_spec(&label, maker->group, maker->op.name, ".dsum");
    if (value->sums++) {
        pbi_label_number(&label, value->sums);
        spec.name_length = label.length;
    }
    spec.cost = pbi_dims_elements(value->dims);
    spec.size = value_size(t, value);
    pb_node sum = pbi_emit_step(t->emit, &spec);
    pbi_emit_edge(t->emit, value->grad, sum);
    pbi_emit_edge(t->emit, grad, sum);
    pbi_emit_inplace(t->emit, sum, value->grad);
    pbi_emit_inplace(t->emit, sum, grad);
    value->grad = sum;
}

static pb_node emit_input_gradient(pbi_tape *t, const pbi_tape_record *o, int i, pb_node owner)
{
    static const char *const suffixes[] = {".dx0", ".dx1", ".dx2"};
    const rule *r = &rules[o->op.kind];
    const pbi_tape_value *in = &t->values[o->op.in[i]];
    pbi_label label;
    bool alone = r->inputs == 1 || r->last;
    pb_node_spec spec = node_spec(&label, o->group, o->op.name, alone ? ".dx" : suffixes[i]);
    spec.size = value_size(t, in);
    if (owner != PB_NO_NODE)
        return pbi_emit_part(t->emit, &spec, owner);
    spec.cost = o->op.grad_cost ? o->op.grad_cost : pbi_times(pbi_dims_elements(in->dims), r->grad_per_element);
    spec.workspace = o->op.workspace;
    pb_node v = pbi_emit_step(t->emit, &spec);
    pb_node arriving = t->values[o->out].grad;
    if (!r->last) {
        pbi_emit_edge(t->emit, arriving, v);
        if (r->grad_overwrites)
            pbi_emit_inplace(t->emit, v, arriving);
    }
    read_saved(t, o, r->grad_reads[i], v);
    return v;
}

static void emit_input_gradients(pbi_tape *t, const pbi_tape_record *o)
{
    const rule *r = &rules[o->op.kind];
    pb_node owner = PB_NO_NODE;
    pb_node grads[PBI_OP_INPUTS];
    for (int i = 0; i < r->inputs; i++) {
        grads[i] = PB_NO_NODE;
        if (!t->values[o->op.in[i]].wants_grad)
            continue;
        grads[i] = r->passes ? t->values[o->out].grad : emit_input_gradient(t, o, i, owner);
        if (r->joint && owner == PB_NO_NODE)
            owner = grads[i];
    }
    for (int i = 0; i < r->inputs; i++)
        if (grads[i] != PB_NO_NODE)
            contribute(t, o->op.in[i], grads[i]);
}

static void emit_weight_gradient(pbi_tape *t, const pbi_tape_record *o)
{
    const rule *r = &rules[o->op.kind];
    const pbi_tape_options *options = &t->options;
    pbi_label label;
    pb_node_spec spec = node_spec(&label, o->group, o->op.name, ".dw");
    uint64_t elements = pbi_dims_elements(t->values[o->out].dims);
    spec.cost = o->op.weight_cost ? o->op.weight_cost : pbi_times(elements, r->weight_per_element);
    spec.workspace = o->op.workspace;
    if (options->grads != PBI_GRADS_ACCUMULATE)
        spec.size = pbi_times(o->op.parameters, options->element_size);
    if (options->grads == PBI_GRADS_KEEP)
        spec.flags = PB_NODE_KEEP;
    pb_node dw = pbi_emit_step(t->emit, &spec);
    pbi_emit_edge(t->emit, t->values[o->out].grad, dw);
    read_saved(t, o, r->weight_reads, dw);
    if (options->grads == PBI_GRADS_UPDATE && options->update_cost) {
        spec = node_spec(&label, o->group, o->op.name, ".update");
        spec.cost = pbi_times(o->op.parameters, options->update_cost);
        pb_node update = pbi_emit_step(t->emit, &spec);
        pbi_emit_edge(t->emit, dw, update);
        dw = update;
    }
    pbi_emit_target(t->emit, dw);
}

/* Parameters, the buffer their gradients are added into, and the optimiser's state (never below four bytes a number).
 */
static uint64_t fixed_size(const pbi_tape *t)
{
    const pbi_tape_options *options = &t->options;
    uint64_t state = options->element_size < 4 ? 4 : options->element_size;
    uint64_t each = options->element_size + options->state_per_parameter * state;
    if (options->grads == PBI_GRADS_ACCUMULATE)
        each += options->element_size;
    return pbi_times(t->parameters, each);
}

pb_status pbi_tape_backward(pbi_tape *t)
{
    for (size_t i = t->op_count; i-- > 0 && t->emit->status == PB_OK;) {
        const pbi_tape_record *o = &t->ops[i];
        if (rules[o->op.kind].last)
            pbi_emit_target(t->emit, t->values[o->out].node);
        else if (t->values[o->out].grad == PB_NO_NODE)
            continue;
        emit_input_gradients(t, o);
        if (o->op.parameters)
            emit_weight_gradient(t, o);
    }
    if (t->emit->status == PB_OK)
        pb_builder_set_fixed_size(t->emit->builder, fixed_size(t));
    return t->emit->status;
}
