/* tape.c -- see tape.h. One loop forward as operations come in, one loop back over them in reverse. */
#include "tape/tape.h"

#include <string.h>

#include "base/arena.h"

/* What a gradient reads beside the gradient of the output. */
enum { IN0 = 1, IN1 = 2, IN2 = 4, OUT = 8, SIDE = 16, SELF = 32 /* the input that it is the gradient of */ };
enum { RULED = 3 }; /* inputs that a rule tells apart */

typedef struct rule {
    uint8_t inputs;            /* that have gradients; those behind have none */
    uint8_t overwrites;        /* inputs in whose memory the output may be made, where they are as large */
    uint8_t grad_reads[RULED]; /* by each input's gradient */
    uint8_t per_element;       /* flop, where the operation states no cost */
    uint8_t grad_flops[RULED]; /* for each element */
    uint8_t terms;             /* inputs that are only added: their gradients are sums of the output's */
    uint8_t passes;            /* inputs whose gradient is the output's, where they are as large: no node */
    bool by_output;            /* grad_flops count elements of the output, not of the input */
    bool any_number;           /* of inputs, all like the first */
    bool joint;                /* one kernel makes all gradients: the later ones are by-products of the first */
    bool joint_weights;        /* one kernel makes those of all parameters */
    bool grad_overwrites;      /* a gradient may be made in the memory of the output's */
    bool last;                 /* a loss: its gradient starts the way back */
} rule;

/* A product of two inputs, and perhaps a third that is added. */
#define PRODUCT                                             \
    {                                                       \
        .inputs = 3, .grad_reads = {IN1, IN0}, .terms = IN2 \
    }

static const rule rules[PBI_OP_KINDS] = {
    [PBI_OP_LINEAR] = PRODUCT,
    [PBI_OP_CONV] = PRODUCT,
    [PBI_OP_MATMUL] = PRODUCT,
    [PBI_OP_RELU] = {.inputs = 1,
                     .overwrites = IN0,
                     .grad_reads = {OUT},
                     .grad_overwrites = true,
                     .per_element = 1,
                     .grad_flops = {1}},
    [PBI_OP_GELU] = {.inputs = 1,
                     .overwrites = IN0,
                     .grad_reads = {IN0},
                     .grad_overwrites = true,
                     .per_element = 10,
                     .grad_flops = {14}},
    [PBI_OP_NORM] = {.inputs = 3,
                     .grad_reads = {IN0 | IN1 | SIDE, IN0 | SIDE, IN0 | SIDE},
                     .joint_weights = true,
                     .grad_overwrites = true,
                     .by_output = true,
                     .per_element = 7,
                     .grad_flops = {10, 4, 4}},
    [PBI_OP_SCALES] = {.inputs = 3,
                       .overwrites = IN0,
                       .grad_reads = {IN1, IN0},
                       .terms = IN2,
                       .by_output = true,
                       .per_element = 2,
                       .grad_flops = {1, 2}},
    [PBI_OP_MAX_POOL] = {.inputs = 1, .grad_reads = {SIDE}, .grad_flops = {1}},
    [PBI_OP_MEAN_POOL] = {.inputs = 1, .grad_flops = {1}},
    [PBI_OP_ADD] = {.inputs = 1,
                    .any_number = true,
                    .overwrites = IN0 | IN1 | IN2,
                    .passes = IN0,
                    .by_output = true,
                    .per_element = 1,
                    .grad_flops = {1}},
    [PBI_OP_CONCAT] = {.inputs = 1, .any_number = true, .per_element = 1, .grad_flops = {1}},
    [PBI_OP_SOFTMAX] = {.inputs = 1,
                        .overwrites = IN0,
                        .grad_reads = {OUT},
                        .grad_overwrites = true,
                        .per_element = 5,
                        .grad_flops = {4}},
    [PBI_OP_DROPOUT] = {.inputs = 1,
                        .overwrites = IN0,
                        .grad_reads = {SIDE},
                        .grad_overwrites = true,
                        .per_element = 1,
                        .grad_flops = {1}},
    [PBI_OP_EMBED] = {.inputs = 2, .grad_reads = {0, IN0}, .by_output = true, .per_element = 1, .grad_flops = {0, 1}},
    [PBI_OP_ATTENTION] = {.inputs = 3, .joint = true, .grad_reads = {IN0 | IN1 | IN2 | OUT | SIDE}},
    [PBI_OP_LOSS] = {.inputs = 1, .last = true, .grad_reads = {IN0 | IN1}, .grad_flops = {3}},
    [PBI_OP_BY_INPUT] = {.inputs = 1,
                         .overwrites = IN0,
                         .grad_reads = {SELF},
                         .grad_overwrites = true,
                         .per_element = 1,
                         .grad_flops = {2}},
    [PBI_OP_BY_OUTPUT] = {.inputs = 1,
                          .overwrites = IN0,
                          .grad_reads = {OUT},
                          .grad_overwrites = true,
                          .per_element = 1,
                          .grad_flops = {2}},
    [PBI_OP_SCALED] = {.inputs = 1, .overwrites = IN0, .grad_overwrites = true, .per_element = 1, .grad_flops = {1}},
    [PBI_OP_MOVED] = {.inputs = 1, .per_element = 1, .grad_flops = {1}},
    [PBI_OP_BY_BOTH] = {.inputs = 1, .grad_reads = {SELF | OUT}, .per_element = 1, .grad_flops = {2}},
    [PBI_OP_CHOICE] = {.inputs = 1,
                       .any_number = true,
                       .overwrites = IN0 | IN1 | IN2,
                       .grad_reads = {SELF | OUT},
                       .by_output = true,
                       .per_element = 1,
                       .grad_flops = {2}},
    [PBI_OP_SUB] = {.inputs = 2,
                    .overwrites = IN0 | IN1,
                    .passes = IN0,
                    .grad_overwrites = true,
                    .by_output = true,
                    .per_element = 1,
                    .grad_flops = {1, 1}},
    [PBI_OP_MUL] = {.inputs = 2,
                    .overwrites = IN0 | IN1,
                    .grad_reads = {IN1, IN0},
                    .grad_overwrites = true,
                    .by_output = true,
                    .per_element = 1,
                    .grad_flops = {1, 1}},
    [PBI_OP_DIV] = {.inputs = 2,
                    .overwrites = IN0 | IN1,
                    .grad_reads = {IN1, IN1 | OUT},
                    .grad_overwrites = true,
                    .by_output = true,
                    .per_element = 1,
                    .grad_flops = {1, 3}},
    [PBI_OP_POW] = {.inputs = 2,
                    .overwrites = IN0,
                    .grad_reads = {IN0 | IN1, IN0 | OUT},
                    .grad_overwrites = true,
                    .by_output = true,
                    .per_element = 10,
                    .grad_flops = {12, 12}},
    [PBI_OP_WHERE] = {.inputs = 3,
                      .overwrites = IN1 | IN2,
                      .grad_reads = {0, IN0, IN0},
                      .by_output = true,
                      .per_element = 1,
                      .grad_flops = {0, 1, 1}},
    [PBI_OP_PICKED] =
        {.inputs = 3, .grad_reads = {IN1, 0, IN1}, .by_output = true, .per_element = 1, .grad_flops = {1, 0, 1}},
    [PBI_OP_SORTED] = {.inputs = 1, .grad_reads = {SIDE}, .per_element = 1, .grad_flops = {1}},
    [PBI_OP_BLOCKED] = {.per_element = 1},
};

typedef struct pbi_tape_value {
    pb_node node;     /* PB_NO_NODE: in fixed memory */
    pb_node grad;     /* sum of what has been contributed, PB_NO_NODE before */
    uint32_t sums;    /* additions so far */
    uint32_t readers; /* of a parameter: operations whose gradients are still to come */
    pbi_dims dims;
    uint64_t element_size;
    const char *group, *name;
    bool wants_grad;
    bool reached; /* the loss depends on it in a way that has a gradient */
    bool given;
} pbi_tape_value;

typedef struct pbi_tape_record {
    pbi_op op;
    const char *group;
    const pbi_value *in;
    uint32_t in_count;
    pbi_value out;  /* the first; the others follow it */
    uint32_t parts; /* how many others there are */
} pbi_tape_record;

/* Does the rule give input i a gradient, and which row is it? */
static bool has_gradient(const rule *r, uint32_t i) { return r->any_number || i < r->inputs; }
static uint32_t row_of(const rule *r, uint32_t i) { return r->any_number ? 0 : i; }
static bool marks(uint8_t mask, uint32_t i) { return i < RULED && (mask >> i & 1); }

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

pb_node pbi_tape_node(const pbi_tape *t, pbi_value value)
{
    return value < t->value_count ? t->values[value].node : PB_NO_NODE;
}

bool pbi_tape_wants_grad(const pbi_tape *t, pbi_value value)
{
    return value < t->value_count && t->values[value].wants_grad;
}

static uint64_t value_size(const pbi_tape_value *value)
{
    return pbi_times(pbi_dims_elements(value->dims), value->element_size);
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

static void label_add(pbi_tape *t, const char *text)
{
    size_t length = strlen(text);
    void *label = t->label;
    if (!pbi_arena_reserve(t->arena, &label, &t->label_room, t->label_length + length + 1, 1)) {
        out_of_memory(t);
        return;
    }
    t->label = label;
    memcpy(t->label + t->label_length, text, length + 1);
    t->label_length += length;
}

/* The spec of a node of `group`; its name stands in t->label until the next. */
static pb_node_spec node_spec(pbi_tape *t, const char *group, const char *name, const char *suffix, uint64_t number)
{
    t->label_length = 0;
    if (*group && !t->options.whole_names) {
        label_add(t, group);
        label_add(t, ".");
    }
    label_add(t, name);
    label_add(t, suffix);
    if (number) {
        pbi_label digits = {.length = 0};
        pbi_label_number(&digits, number);
        label_add(t, digits.text);
    }
    pb_node_spec spec = {.name = t->label, .name_length = t->label_length};
    if (*group) {
        spec.group = group;
        spec.group_length = strlen(group);
    }
    return spec;
}

/* Reading what lies in fixed memory is no edge. */
static void read_node(pbi_tape *t, pb_node from, pb_node reader)
{
    if (from != PB_NO_NODE)
        pbi_emit_edge(t->emit, from, reader);
}

pbi_value pbi_tape_input(pbi_tape *t, const char *name, pbi_dims dims, uint64_t element_size)
{
    pb_node_spec spec = node_spec(t, t->group, name, "", 0);
    spec.size = pbi_times(pbi_dims_elements(dims), element_size);
    spec.flags = PB_NODE_GIVEN;
    pbi_tape_value value = {.node = pbi_emit_node(t->emit, &spec),
                            .grad = PB_NO_NODE,
                            .dims = dims,
                            .element_size = element_size,
                            .group = t->group,
                            .name = name,
                            .given = true};
    return add_value(t, &value);
}

pbi_value pbi_tape_fixed(pbi_tape *t, const char *name, pbi_dims dims, uint64_t element_size, bool learnt)
{
    pbi_tape_value value = {.node = PB_NO_NODE,
                            .grad = PB_NO_NODE,
                            .dims = dims,
                            .element_size = element_size,
                            .group = t->group,
                            .name = name,
                            .wants_grad = learnt};
    uint64_t *bytes = learnt ? &t->parameter_bytes : &t->constant_bytes;
    *bytes = pbi_add_saturated(*bytes, value_size(&value));
    if (learnt)
        t->parameters = pbi_add_saturated(t->parameters, pbi_dims_elements(dims));
    return add_value(t, &value);
}

pb_node pbi_tape_source(pbi_tape *t, const char *name, const char *suffix, uint64_t cost, uint64_t size)
{
    pb_node_spec spec = node_spec(t, t->group, name, suffix, 0);
    spec.cost = cost;
    spec.size = size;
    spec.flags = PB_NODE_ONCE;
    return pbi_emit_step(t->emit, &spec);
}

static bool remember(pbi_tape *t, pbi_tape_record *record, const pbi_value *in, uint32_t count)
{
    pbi_value *copy = pb_arena_alloc(t->arena, count ? count : 1, sizeof *in);
    void *ops = t->ops;
    if (!copy || !pbi_arena_reserve(t->arena, &ops, &t->op_room, t->op_count + 1, sizeof *record)) {
        out_of_memory(t);
        return false;
    }
    if (count)
        memcpy(copy, in, count * sizeof *in);
    record->in = copy;
    record->in_count = count;
    t->ops = ops;
    t->ops[t->op_count++] = *record;
    return true;
}

static pbi_tape_value new_value(const pbi_tape *t, const pbi_op *op)
{
    return (pbi_tape_value){.grad = PB_NO_NODE,
                            .dims = op->dims,
                            .element_size = op->element_size ? op->element_size : t->options.element_size,
                            .group = t->group,
                            .name = op->name};
}

static void read_inputs(pbi_tape *t, const rule *r, pbi_tape_value *value, const pbi_value *in, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const pbi_tape_value *from = &t->values[in[i]];
        value->wants_grad |= from->wants_grad && has_gradient(r, i);
        read_node(t, from->node, value->node);
        if (marks(r->overwrites, i) && from->node != PB_NO_NODE && !from->given &&
            value_size(from) == value_size(value) && (i == 0 || in[i] != in[i - 1]))
            pbi_emit_inplace(t->emit, value->node, from->node);
    }
}

pbi_value pbi_tape_op(pbi_tape *t, const pbi_op *op, const pbi_value *in, uint32_t count)
{
    const rule *r = &rules[op->kind];
    if (t->emit->status != PB_OK)
        return PBI_NO_VALUE;
    pbi_tape_value value = new_value(t, op);
    pb_node_spec spec = node_spec(t, t->group, op->name, "", 0);
    spec.cost = op->cost ? op->cost : pbi_times(pbi_dims_elements(op->dims), r->per_element);
    spec.size = value_size(&value);
    spec.workspace = op->workspace;
    spec.flags = op->flags;
    value.node = pbi_emit_step(t->emit, &spec);
    read_inputs(t, r, &value, in, count);
    pbi_tape_record record = {.op = *op, .group = t->group};
    if (op->side != PB_NO_NODE)
        pbi_emit_edge(t->emit, op->side, value.node);
    if (op->side_size) {
        spec = node_spec(t, t->group, op->name, ".saved", 0);
        spec.size = op->side_size;
        record.op.side = pbi_emit_part(t->emit, &spec, value.node);
    }
    record.out = add_value(t, &value);
    return record.out != PBI_NO_VALUE && remember(t, &record, in, count) ? record.out : PBI_NO_VALUE;
}

pbi_value pbi_tape_part(pbi_tape *t, const pbi_op *part, bool saved)
{
    if (t->emit->status != PB_OK)
        return PBI_NO_VALUE;
    pbi_tape_record *record = &t->ops[t->op_count - 1];
    const pbi_tape_value *first = &t->values[record->out];
    pbi_tape_value value = new_value(t, part);
    value.wants_grad = first->wants_grad && part->kind != PBI_OP_BLOCKED;
    pb_node_spec spec = node_spec(t, t->group, part->name, "", 0);
    spec.size = value_size(&value);
    spec.flags = part->flags;
    value.node = pbi_emit_part(t->emit, &spec, first->node);
    if (saved)
        record->op.side = value.node;
    record->parts++;
    return add_value(t, &value);
}

/* ---- The way back ---- */

static void read_saved(pbi_tape *t, const pbi_tape_record *o, uint8_t reads, uint32_t self, pb_node reader)
{
    for (uint32_t i = 0; i < o->in_count; i++)
        if (marks(reads, i) || (i == self && (reads & SELF)))
            read_node(t, t->values[o->in[i]].node, reader);
    if (reads & OUT)
        pbi_emit_edge(t->emit, t->values[o->out].node, reader);
    if (reads & SIDE)
        read_node(t, o->op.side, reader);
}

/* Add `grad` to the gradient of a value; the second and later ones need a node that adds. */
static void contribute(pbi_tape *t, pbi_value index, pb_node grad, uint16_t flags)
{
    pbi_tape_value *value = &t->values[index];
    if (value->grad == PB_NO_NODE) {
        value->grad = grad;
        return;
    }
    uint32_t number = value->sums++ ? value->sums : 0;
    pb_node_spec spec = node_spec(t, value->group, value->name, ".dsum", number);
    spec.cost = pbi_dims_elements(value->dims);
    spec.size = value_size(value);
    spec.flags = flags;
    pb_node sum = pbi_emit_step(t->emit, &spec);
    pbi_emit_edge(t->emit, value->grad, sum);
    pbi_emit_edge(t->emit, grad, sum);
    pbi_emit_inplace(t->emit, sum, value->grad);
    if (grad != value->grad)
        pbi_emit_inplace(t->emit, sum, grad);
    value->grad = sum;
}

static uint64_t gradient_cost(const pbi_tape *t, const pbi_tape_record *o, uint32_t i)
{
    const rule *r = &rules[o->op.kind];
    uint64_t out = pbi_dims_elements(t->values[o->out].dims);
    if (marks(r->terms, i))
        return out;
    if (o->op.grad_cost)
        return o->op.grad_cost;
    uint64_t elements = r->by_output ? out : pbi_dims_elements(t->values[o->in[i]].dims);
    return pbi_times(elements, r->grad_flops[row_of(r, i)]);
}

/* The node that makes the gradient of input i, which `spec` has the name and size of. */
static pb_node emit_gradient(pbi_tape *t, const pbi_tape_record *o, uint32_t i, pb_node_spec *spec)
{
    const rule *r = &rules[o->op.kind];
    spec->cost = gradient_cost(t, o, i);
    spec->workspace = o->op.workspace;
    pb_node v = pbi_emit_step(t->emit, spec);
    for (uint32_t k = 0; k <= o->parts && !r->last; k++) {
        const pbi_tape_value *out = &t->values[o->out + k];
        read_node(t, out->grad, v);
        if (k == 0 && r->grad_overwrites && out->grad != PB_NO_NODE && value_size(out) == spec->size)
            pbi_emit_inplace(t->emit, v, out->grad);
    }
    read_saved(t, o, r->grad_reads[row_of(r, i)], i, v);
    return v;
}

static pb_node emit_input_gradient(pbi_tape *t, const pbi_tape_record *o, uint32_t i, bool alone, pb_node owner)
{
    pbi_label suffix;
    pbi_label_set(&suffix, ".dx");
    if (!alone)
        pbi_label_number(&suffix, i);
    pb_node_spec spec = node_spec(t, o->group, o->op.name, suffix.text, 0);
    spec.size = value_size(&t->values[o->in[i]]);
    return owner == PB_NO_NODE ? emit_gradient(t, o, i, &spec) : pbi_emit_part(t->emit, &spec, owner);
}

/* Is a gradient of input i wanted, of a parameter or of a value that was computed? */
static bool wants(const pbi_tape *t, const pbi_tape_record *o, uint32_t i, bool parameter)
{
    const pbi_tape_value *in = &t->values[o->in[i]];
    return in->wants_grad && (in->node == PB_NO_NODE) == parameter && has_gradient(&rules[o->op.kind], i);
}

static pb_node pass_or_emit(pbi_tape *t, const pbi_tape_record *o, uint32_t i, bool alone, pb_node owner)
{
    const rule *r = &rules[o->op.kind];
    const pbi_tape_value *in = &t->values[o->in[i]], *out = &t->values[o->out];
    bool passes = marks(r->passes, row_of(r, i)) && value_size(in) == value_size(out);
    return passes ? out->grad : emit_input_gradient(t, o, i, alone, owner);
}

static void emit_input_gradients(pbi_tape *t, const pbi_tape_record *o, pb_node *grads)
{
    const rule *r = &rules[o->op.kind];
    pb_node owner = PB_NO_NODE;
    uint32_t computed = 0;
    for (uint32_t i = 0; i < o->in_count; i++)
        computed += t->values[o->in[i]].node != PB_NO_NODE;
    for (uint32_t i = 0; i < o->in_count; i++) {
        grads[i] = PB_NO_NODE;
        if (!wants(t, o, i, false))
            continue;
        grads[i] = pass_or_emit(t, o, i, computed == 1 || r->last, owner);
        if (r->joint && owner == PB_NO_NODE)
            owner = grads[i];
    }
    for (uint32_t i = 0; i < o->in_count; i++)
        if (grads[i] != PB_NO_NODE)
            contribute(t, o->in[i], grads[i], 0);
}

/* What becomes of a parameter's gradient when the last operation that reads it has given its share. */
static void finish_parameter(pbi_tape *t, const pbi_tape_record *o, const pbi_tape_value *w, uint32_t number)
{
    pb_node done = w->grad;
    if (t->options.grads == PBI_GRADS_UPDATE && t->options.update_cost) {
        pb_node_spec spec = node_spec(t, o->group, o->op.name, number ? ".update_b" : ".update", number / 2);
        spec.cost = pbi_times(pbi_dims_elements(w->dims), t->options.update_cost);
        pb_node update = pbi_emit_step(t->emit, &spec);
        pbi_emit_edge(t->emit, done, update);
        done = update;
    }
    pbi_emit_target(t->emit, done);
}

/* Parameter number `number` of the operation is its input i; `owner` makes its gradient already, if it is a node. */
static pb_node emit_weight_gradient(pbi_tape *t, const pbi_tape_record *o, uint32_t i, uint32_t number, pb_node owner)
{
    pbi_tape_value *w = &t->values[o->in[i]];
    bool add_up = t->options.grads == PBI_GRADS_ACCUMULATE, last = --w->readers == 0;
    uint16_t flags = t->options.grads == PBI_GRADS_KEEP && last ? PB_NODE_KEEP : 0;
    if (add_up && owner != PB_NO_NODE)
        return owner; /* it adds to that parameter's buffer as well */
    pb_node_spec spec = node_spec(t, o->group, o->op.name, number ? ".db" : ".dw", number / 2);
    if (!add_up)
        spec.size = value_size(w);
    if (w->grad == PB_NO_NODE)
        spec.flags = flags;
    pb_node dw = owner == PB_NO_NODE ? emit_gradient(t, o, i, &spec) : pbi_emit_part(t->emit, &spec, owner);
    if (add_up) {
        pbi_emit_target(t->emit, dw);
        return dw;
    }
    contribute(t, o->in[i], dw, flags);
    if (last)
        finish_parameter(t, o, w, number);
    return dw;
}

static void emit_weight_gradients(pbi_tape *t, const pbi_tape_record *o)
{
    pb_node owner = PB_NO_NODE;
    uint32_t number = 0;
    for (uint32_t i = 0; i < o->in_count; i++) {
        if (!wants(t, o, i, true))
            continue;
        pb_node dw = emit_weight_gradient(t, o, i, number++, owner);
        if (rules[o->op.kind].joint_weights)
            owner = dw;
    }
}

/* Parameters, the buffer their gradients are added into, and the optimiser's state (never below four bytes a number).
 */
static uint64_t training_size(const pbi_tape *t)
{
    const pbi_tape_options *options = &t->options;
    uint64_t state = options->element_size < 4 ? 4 : options->element_size;
    uint64_t size = pbi_add_saturated(t->parameter_bytes, t->constant_bytes);
    size = pbi_add_saturated(size, pbi_times(t->parameters, options->state_per_parameter * state));
    if (options->grads == PBI_GRADS_ACCUMULATE)
        size = pbi_add_saturated(size, t->parameter_bytes);
    return size;
}

/* Which values get gradients, and how many operations give each parameter a share of its own. */
static uint32_t mark_reached(pbi_tape *t)
{
    uint32_t most = 0;
    for (size_t i = t->op_count; i-- > 0;) {
        const pbi_tape_record *o = &t->ops[i];
        bool reached = rules[o->op.kind].last;
        for (uint32_t k = 0; k <= o->parts; k++)
            reached |= t->values[o->out + k].reached;
        for (uint32_t k = 0; reached && k < o->in_count; k++) {
            pbi_tape_value *in = &t->values[o->in[k]];
            if (!in->wants_grad || !has_gradient(&rules[o->op.kind], k))
                continue;
            in->reached = true;
            in->readers += in->node == PB_NO_NODE;
        }
        if (o->in_count > most)
            most = o->in_count;
    }
    return most;
}

static bool gradient_arrives(const pbi_tape *t, const pbi_tape_record *o)
{
    for (uint32_t k = 0; k <= o->parts; k++)
        if (t->values[o->out + k].grad != PB_NO_NODE)
            return true;
    return false;
}

pb_status pbi_tape_backward(pbi_tape *t)
{
    pb_node *grads = pb_arena_alloc(t->arena, (size_t)mark_reached(t) + 1, sizeof *grads);
    if (!grads)
        out_of_memory(t);
    for (size_t i = t->op_count; i-- > 0 && t->emit->status == PB_OK;) {
        const pbi_tape_record *o = &t->ops[i];
        if (rules[o->op.kind].last)
            pbi_emit_target(t->emit, t->values[o->out].node);
        else if (!gradient_arrives(t, o))
            continue;
        emit_input_gradients(t, o, grads);
        emit_weight_gradients(t, o);
    }
    if (t->emit->status == PB_OK)
        pb_builder_set_fixed_size(t->emit->builder, training_size(t));
    return t->emit->status;
}

pb_status pbi_tape_forward(pbi_tape *t)
{
    if (t->emit->status == PB_OK)
        pb_builder_set_fixed_size(t->emit->builder, pbi_add_saturated(t->parameter_bytes, t->constant_bytes));
    return t->emit->status;
}
