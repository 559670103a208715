/* tape.c -- see tape.h: records operations in forward order. */
#include <string.h>

#include "base/arena.h"
#include "tape/tape_parts.h"

void pbi_tape_init(pbi_tape *t, pbi_emit *emit, pb_arena *arena, const pbi_tape_options *options)
{
    *t = (pbi_tape){.emit = emit, .arena = arena, .options = *options, .group = ""};
    pbi_emit_units(emit, "flop", "byte");
}

void pbi_tape_no_memory(pbi_tape *t)
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
        pbi_tape_no_memory(t);
    return copy ? copy : "";
}

void pbi_tape_group(pbi_tape *t, const char *name)
{
    const char *copy = pb_arena_text(t->arena, name, strlen(name));
    if (!copy)
        pbi_tape_no_memory(t);
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

static pbi_value add_value(pbi_tape *t, const pbi_tape_value *value)
{
    void *values = t->values;
    if (!pbi_arena_reserve(t->arena, &values, &t->value_room, t->value_count + 1, sizeof *value)) {
        pbi_tape_no_memory(t);
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
        pbi_tape_no_memory(t);
        return;
    }
    t->label = label;
    memcpy(t->label + t->label_length, text, length + 1);
    t->label_length += length;
}

pb_node_spec pbi_tape_spec(pbi_tape *t, const char *group, const char *name, const char *suffix, uint64_t number)
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

void pbi_tape_read(pbi_tape *t, pb_node from, pb_node reader)
{
    if (from != PB_NO_NODE)
        pbi_emit_edge(t->emit, from, reader);
}

pbi_value pbi_tape_input(pbi_tape *t, const char *name, pbi_dims dims, pbi_type type)
{
    pb_node_spec spec = pbi_tape_spec(t, t->group, name, "", 0);
    spec.size = pbi_times(pbi_dims_elements(dims), type.size);
    spec.flags = PB_NODE_GIVEN;
    pbi_tape_value value = {.node = pbi_emit_node(t->emit, &spec),
                            .grad = PB_NO_NODE,
                            .dims = dims,
                            .type = type,
                            .group = t->group,
                            .name = name,
                            .given = true};
    return add_value(t, &value);
}

pbi_value pbi_tape_fixed(pbi_tape *t, const char *name, pbi_dims dims, pbi_type type, bool learnt)
{
    pbi_tape_value value = {.node = PB_NO_NODE,
                            .grad = PB_NO_NODE,
                            .dims = dims,
                            .type = type,
                            .group = t->group,
                            .name = name,
                            .wants_grad = learnt};
    t->fixed_bytes = pbi_add_saturated(t->fixed_bytes, pbi_tape_size(&value));
    if (learnt)
        t->fixed_bytes = pbi_add_saturated(t->fixed_bytes, pbi_times(pbi_dims_elements(dims), t->options.master.size));
    return add_value(t, &value);
}

pb_node pbi_tape_source(pbi_tape *t, const char *name, const char *suffix, uint64_t cost, uint64_t size)
{
    pb_node_spec spec = pbi_tape_spec(t, t->group, name, suffix, 0);
    spec.cost = cost;
    spec.size = size;
    spec.flags = PB_NODE_ONCE;
    spec.work = pbi_tape_draw_work(t, size, cost);
    return pbi_emit_step(t->emit, &spec);
}

static bool remember(pbi_tape *t, pbi_tape_record *record)
{
    uint32_t count = record->in_count;
    pbi_value *copy = pb_arena_alloc(t->arena, count ? count : 1, sizeof *copy);
    void *ops = t->ops;
    if (!copy || !pbi_arena_reserve(t->arena, &ops, &t->op_room, t->op_count + 1, sizeof *record)) {
        pbi_tape_no_memory(t);
        return false;
    }
    if (count)
        memcpy(copy, record->in, count * sizeof *copy);
    record->in = copy;
    t->ops = ops;
    t->ops[t->op_count++] = *record;
    return true;
}

static pbi_tape_value new_value(const pbi_tape *t, const pbi_op *op)
{
    return (pbi_tape_value){.grad = PB_NO_NODE,
                            .dims = op->dims,
                            .type = op->type.size ? op->type : t->options.type,
                            .group = t->group,
                            .name = op->name};
}

static void read_inputs(pbi_tape *t, const pbi_tape_rule *r, pbi_tape_value *value, const pbi_value *in, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const pbi_tape_value *from = &t->values[in[i]];
        value->wants_grad |= from->wants_grad && pbi_rule_gives(r, i);
        pbi_tape_read(t, from->node, value->node);
        if (pbi_rule_marks(r->overwrites, i) && from->node != PB_NO_NODE && !from->given &&
            pbi_tape_size(from) == pbi_tape_size(value) && (i == 0 || in[i] != in[i - 1]))
            pbi_emit_inplace(t->emit, value->node, from->node);
    }
}

/* The node of the record's output, and of what it saves as a by-product. */
static pb_node emit_forward(pbi_tape *t, pbi_tape_record *record)
{
    const pbi_op *op = &record->op;
    pb_node_spec spec = pbi_tape_spec(t, t->group, op->name, "", 0);
    spec.cost = op->cost ? op->cost : pbi_times(pbi_dims_elements(op->dims), pbi_tape_rules[op->kind].per_element);
    spec.size = pbi_tape_size(&t->values[record->out]);
    spec.workspace = op->workspace;
    spec.flags = op->flags;
    spec.work = pbi_tape_forward_work(t, record, spec.cost);
    return pbi_emit_step(t->emit, &spec);
}

static void emit_side(pbi_tape *t, pbi_tape_record *record, pb_node node)
{
    if (record->op.side != PB_NO_NODE) {
        pbi_emit_edge(t->emit, record->op.side, node);
    } else if (record->op.side_size) {
        pb_node_spec spec = pbi_tape_spec(t, t->group, record->op.name, ".saved", 0);
        spec.size = record->op.side_size;
        record->op.side = pbi_emit_part(t->emit, &spec, node);
    }
}

pbi_value pbi_tape_op(pbi_tape *t, const pbi_op *op, const pbi_value *in, uint32_t count)
{
    if (t->emit->status != PB_OK)
        return PBI_NO_VALUE;
    pbi_tape_value value = new_value(t, op);
    pbi_tape_record record = {.op = *op, .group = t->group, .in = in, .in_count = count, .out = add_value(t, &value)};
    if (record.out == PBI_NO_VALUE)
        return PBI_NO_VALUE;
    pbi_tape_value *out = &t->values[record.out];
    out->node = emit_forward(t, &record);
    read_inputs(t, &pbi_tape_rules[op->kind], out, in, count);
    emit_side(t, &record, out->node);
    return remember(t, &record) ? record.out : PBI_NO_VALUE;
}

pbi_value pbi_tape_part(pbi_tape *t, const pbi_op *part, bool saved)
{
    if (t->emit->status != PB_OK)
        return PBI_NO_VALUE;
    pbi_tape_record *record = &t->ops[t->op_count - 1];
    const pbi_tape_value *first = &t->values[record->out];
    pbi_tape_value value = new_value(t, part);
    value.wants_grad = first->wants_grad && part->kind != PBI_OP_BLOCKED;
    pb_node_spec spec = pbi_tape_spec(t, t->group, part->name, "", 0);
    spec.size = pbi_tape_size(&value);
    spec.flags = part->flags;
    value.node = pbi_emit_part(t->emit, &spec, first->node);
    if (saved) {
        record->op.side = value.node;
        record->op.side_size = spec.size;
    }
    record->parts++;
    return add_value(t, &value);
}
