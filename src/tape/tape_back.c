/* tape_back.c -- the backward pass: one loop over the operations in reverse. */
#include "base/arena.h"
#include "tape/tape_parts.h"

#include <inttypes.h>
#include <stdio.h>

static void read_saved(pbi_tape *t, const pbi_tape_record *o, uint8_t reads, uint32_t self, pb_node reader)
{
    for (uint32_t i = 0; i < o->in_count; i++)
        if (pbi_rule_reads(reads, self, i)) {
            pbi_tape_read(t, t->values[o->in[i]].node, reader);
            t->values[o->in[i]].saved = true;
        }
    if (reads & PBI_READS_OUT) {
        pbi_emit_edge(t->emit, t->values[o->out].node, reader);
        t->values[o->out].saved = true;
    }
    if (reads & PBI_READS_SIDE)
        pbi_tape_read(t, o->op.side, reader);
}

/* Adds `grad` to the gradient of a value; the second and later ones need a node that adds. */
static void contribute(pbi_tape *t, pbi_value index, pb_node grad, uint16_t flags)
{
    pbi_tape_value *value = &t->values[index];
    if (value->grad == PB_NO_NODE) {
        value->grad = grad;
        return;
    }
    uint32_t number = value->sums++ ? value->sums : 0;
    pb_node_spec spec = pbi_tape_spec(t, value->group, value->name, ".dsum", number);
    spec.cost = pbi_dims_elements(value->dims);
    spec.size = pbi_tape_grad_size(t, value);
    spec.flags = flags;
    spec.work = pbi_tape_sum_work(t, value, spec.cost, grad == value->grad);
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
    const pbi_tape_rule *r = &pbi_tape_rules[o->op.kind];
    uint64_t out = pbi_dims_elements(t->values[o->out].dims);
    if (pbi_rule_marks(r->terms, i))
        return out;
    if (o->op.grad_cost)
        return o->op.grad_cost;
    uint64_t elements = r->by_output ? out : pbi_dims_elements(t->values[o->in[i]].dims);
    return pbi_times(elements, r->grad_flops[pbi_rule_row(r, i)]);
}

/* The node that computes the gradient of input i, whose name and size are in `spec`. */
static pb_node emit_gradient(pbi_tape *t, const pbi_tape_record *o, uint32_t i, pb_node_spec *spec)
{
    const pbi_tape_rule *r = &pbi_tape_rules[o->op.kind];
    spec->cost = gradient_cost(t, o, i);
    spec->workspace = o->op.workspace;
    spec->work = pbi_tape_gradient_work(t, o, i, spec->cost);
    pb_node v = pbi_emit_step(t->emit, spec);
    for (uint32_t k = 0; k <= o->parts && !r->last; k++) {
        const pbi_tape_value *out = &t->values[o->out + k];
        pbi_tape_read(t, out->grad, v);
        if (k == 0 && r->grad_overwrites && out->grad != PB_NO_NODE && pbi_tape_size(out) == spec->size)
            pbi_emit_inplace(t->emit, v, out->grad);
    }
    read_saved(t, o, r->grad_reads[pbi_rule_row(r, i)], i, v);
    return v;
}

static pb_node emit_input_gradient(pbi_tape *t, const pbi_tape_record *o, uint32_t i, bool alone, pb_node owner)
{
    pbi_label suffix;
    pbi_label_set(&suffix, ".dx");
    if (!alone)
        pbi_label_number(&suffix, i);
    pb_node_spec spec = pbi_tape_spec(t, o->group, o->op.name, suffix.text, 0);
    spec.size = pbi_tape_size(&t->values[o->in[i]]);
    return owner == PB_NO_NODE ? emit_gradient(t, o, i, &spec) : pbi_emit_part(t->emit, &spec, owner);
}

static pb_node pass_or_emit(pbi_tape *t, const pbi_tape_record *o, uint32_t i, bool alone, pb_node owner)
{
    const pbi_tape_rule *r = &pbi_tape_rules[o->op.kind];
    const pbi_tape_value *in = &t->values[o->in[i]], *out = &t->values[o->out];
    bool passes = pbi_rule_marks(r->passes, pbi_rule_row(r, i)) && pbi_tape_size(in) == pbi_tape_size(out);
    return passes ? out->grad : emit_input_gradient(t, o, i, alone, owner);
}

/* Returns the node that computes all of them, if one does. */
static pb_node emit_input_gradients(pbi_tape *t, const pbi_tape_record *o, pb_node *grads)
{
    const pbi_tape_rule *r = &pbi_tape_rules[o->op.kind];
    pb_node owner = PB_NO_NODE;
    uint32_t computed = 0;
    for (uint32_t i = 0; i < o->in_count; i++)
        computed += t->values[o->in[i]].node != PB_NO_NODE;
    for (uint32_t i = 0; i < o->in_count; i++) {
        grads[i] = PB_NO_NODE;
        if (!pbi_tape_needs_gradient(t, o, i, false))
            continue;
        grads[i] = pass_or_emit(t, o, i, computed == 1 || r->last, owner);
        if (r->joint && owner == PB_NO_NODE)
            owner = grads[i];
    }
    for (uint32_t i = 0; i < o->in_count; i++)
        if (grads[i] != PB_NO_NODE)
            contribute(t, o->in[i], grads[i], 0);
    return owner;
}

/* ".dw", ".db", ".db2", ".db3"...: the digits after the name of an operation's parameter number `number`. */
static uint64_t digits_of(uint32_t number) { return number > 1 ? number : 0; }

/* Completes a parameter's gradient after the last operation that reads it has contributed. */
static void finish_parameter(pbi_tape *t, const pbi_tape_record *o, const pbi_tape_value *w, uint32_t number)
{
    pb_node done = w->grad;
    if (t->options.grads == PBI_GRADS_UPDATE && t->options.update_cost) {
        pb_node_spec spec = pbi_tape_spec(t, o->group, o->op.name, number ? ".update_b" : ".update", digits_of(number));
        spec.cost = pbi_times(pbi_dims_elements(w->dims), t->options.update_cost);
        spec.work = pbi_tape_update_work(t, w, spec.cost);
        pb_node update = pbi_emit_step(t->emit, &spec);
        pbi_emit_edge(t->emit, done, update);
        done = update;
    }
    pbi_emit_target(t->emit, done);
}

/* Parameter number `number` of the operation is its input i; `owner` already computes its gradient, if it is a node. */
static pb_node emit_weight_gradient(pbi_tape *t, const pbi_tape_record *o, uint32_t i, uint32_t number, pb_node owner)
{
    pbi_tape_value *w = &t->values[o->in[i]];
    bool add_up = t->options.grads == PBI_GRADS_ACCUMULATE, last = --w->readers == 0;
    uint16_t flags = t->options.grads == PBI_GRADS_KEEP && last ? PB_NODE_KEEP : 0;
    if (add_up && owner != PB_NO_NODE)
        return owner; /* it adds to that parameter's buffer as well */
    pb_node_spec spec = pbi_tape_spec(t, o->group, o->op.name, number ? ".db" : ".dw", digits_of(number));
    if (!add_up)
        spec.size = pbi_tape_grad_size(t, w);
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

/* `owner`: the node that also computes them, or PB_NO_NODE. */
static void emit_weight_gradients(pbi_tape *t, const pbi_tape_record *o, pb_node owner)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < o->in_count; i++) {
        if (!pbi_tape_needs_gradient(t, o, i, true))
            continue;
        pb_node dw = emit_weight_gradient(t, o, i, number++, owner);
        if (pbi_tape_rules[o->op.kind].joint_weights)
            owner = dw;
    }
}

/* The fixed memory, and as an extra field what it consists of. */
static void state_fixed(pbi_tape *t, uint64_t gradients, uint64_t state)
{
    char text[160];
    pb_builder *b = t->emit->builder;
    pb_builder_set_fixed_size(b, pbi_add_saturated(t->fixed_bytes, pbi_add_saturated(gradients, state)));
    int length = snprintf(text, sizeof text,
                          "\"fixed_parts\":{\"parameters\":%" PRIu64 ",\"gradients\":%" PRIu64
                          ",\"optimizer_state\":%" PRIu64 "}",
                          t->fixed_bytes, gradients, state);
    t->emit->status = pb_builder_set_extra(b, PB_NO_NODE, text, (size_t)length);
}

/* Parameters and constants; for each learnable parameter, the buffer of its gradient and the optimiser's state. */
static void state_training_size(pbi_tape *t)
{
    const pbi_tape_options *options = &t->options;
    uint64_t each = options->state_per_parameter * pbi_tape_state_size(t), gradients = 0, state = 0;
    for (size_t i = 0; i < t->value_count; i++) {
        const pbi_tape_value *w = &t->values[i];
        if (w->node != PB_NO_NODE || !w->reached)
            continue;
        state = pbi_add_saturated(state, pbi_times(pbi_dims_elements(w->dims), each));
        if (options->grads == PBI_GRADS_ACCUMULATE)
            gradients = pbi_add_saturated(gradients, pbi_tape_grad_size(t, w));
    }
    state_fixed(t, gradients, state);
}

/* Which values get gradients, and how many operations contribute to each parameter. */
static uint32_t mark_reached(pbi_tape *t)
{
    uint32_t most = 0;
    for (size_t i = t->op_count; i-- > 0;) {
        const pbi_tape_record *o = &t->ops[i];
        bool reached = pbi_tape_rules[o->op.kind].last;
        for (uint32_t k = 0; k <= o->parts; k++)
            reached |= t->values[o->out + k].reached;
        for (uint32_t k = 0; reached && k < o->in_count; k++) {
            pbi_tape_value *in = &t->values[o->in[k]];
            if (!in->wants_grad || !pbi_rule_gives(&pbi_tape_rules[o->op.kind], k))
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
        pbi_tape_no_memory(t);
    for (size_t i = t->op_count; i-- > 0 && t->emit->status == PB_OK;) {
        const pbi_tape_record *o = &t->ops[i];
        if (pbi_tape_rules[o->op.kind].last)
            pbi_emit_target(t->emit, t->values[o->out].node);
        else if (!gradient_arrives(t, o))
            continue;
        pb_node all = emit_input_gradients(t, o, grads);
        emit_weight_gradients(t, o, pbi_tape_rules[o->op.kind].joint_weights ? all : PB_NO_NODE);
    }
    if (t->emit->status == PB_OK)
        state_training_size(t);
    return t->emit->status;
}

pb_status pbi_tape_forward(pbi_tape *t)
{
    if (t->emit->status == PB_OK) {
        pb_builder_set_forward_only(t->emit->builder);
        state_fixed(t, 0, 0);
    }
    return t->emit->status;
}

/* ---- recipes ---- */

void pbi_tape_redraw(pbi_tape *t, pb_node mask, uint64_t flops, uint64_t bytes)
{
    pb_recipe_spec spec = {.name = "redraw", .cost = flops, .work = pbi_tape_draw_work(t, bytes, flops)};
    pbi_emit_recipe(t->emit, mask, &spec);
}

/* The by-product's memory is its only cost: packing is counted with the recipe, where a plan uses it. */
void pbi_tape_compress(pbi_tape *t, uint64_t factor, uint64_t flops)
{
    for (size_t i = 0; i < t->value_count && t->emit->status == PB_OK; i++) {
        const pbi_tape_value *value = &t->values[i];
        if (!value->saved || value->given || value->node == PB_NO_NODE)
            continue;
        uint64_t size = pbi_tape_size(value);
        pb_node_spec spec = pbi_tape_spec(t, value->group, value->name, ".packed", 0);
        spec.size = pbi_ceil_div(size, factor);
        pb_node packed = pbi_emit_part(t->emit, &spec, value->node);
        uint64_t cost = pbi_times(pbi_dims_elements(value->dims), flops);
        pb_recipe_spec recipe = {.name = "unpack", .cost = cost};
        recipe.work = (pb_work){.op = "elementwise", .dtype = value->type.name, .flops = cost, .has_flops = true};
        recipe.work.bytes = pbi_times(2, pbi_add_saturated(size, spec.size)); /* written and read, both ways */
        recipe.work.has_bytes = true;
        pbi_emit_recipe_input(t->emit, pbi_emit_recipe(t->emit, value->node, &recipe), packed, false);
    }
}

void pbi_tape_reread(pbi_tape *t, uint64_t cost)
{
    for (size_t i = 0; i < t->value_count; i++)
        if (t->values[i].given) { /* the batch comes first */
            pbi_emit_recipe(t->emit, t->values[i].node, &(pb_recipe_spec){.name = "reread", .cost = cost});
            return;
        }
}
