/* circuit.c -- see circuit.h. */
#include "io/circuit/circuit.h"

#include "base/arena.h"
#include "base/context.h"
#include "pebble/graph.h"

#include <inttypes.h>
#include <stdio.h>

pb_status pbi_circuit_init(pbi_circuit *c, pb_context *ctx, pb_arena *arena, pb_inputs inputs)
{
    *c = (pbi_circuit){.ctx = ctx, .arena = arena, .inputs = inputs == PB_INPUTS_AUTO ? PB_INPUTS_FREE : inputs};
    pb_buffer_init(&c->text, arena);
    return pbi_bytes_add(&c->text, "", 1) ? PB_OK : PB_ENOMEM; /* so that no text has offset 0 */
}

pb_status pbi_circuit_label(pbi_circuit *c, const char *text, size_t length, uint64_t *out)
{
    uint64_t at = c->text.length;
    if (!pbi_bytes_add(&c->text, text, length) || !pbi_bytes_add(&c->text, "", 1))
        return PB_ENOMEM;
    *out = at;
    return PB_OK;
}

pb_status pbi_circuit_signal(pbi_circuit *c, const char *name, size_t length, pbi_place place, uint32_t *out)
{
    *out = pbi_name_index_find(&c->index, c->text.bytes, c->start, name, length);
    if (*out != UINT32_MAX)
        return PB_OK;
    uint32_t s = c->count;
    if (s >= PB_MAX_NODES)
        return pbi_fail(c->ctx, PB_ERANGE, "the circuit has more signals than the limit of %u; use a smaller one",
                        PB_MAX_NODES);
    void *start = c->start, *signal = c->signal;
    if (!pbi_arena_reserve(c->arena, &start, &c->start_room, (size_t)s + 1, sizeof *c->start))
        return PB_ENOMEM;
    c->start = start;
    if (!pbi_arena_reserve(c->arena, &signal, &c->signal_room, (size_t)s + 1, sizeof *c->signal))
        return PB_ENOMEM;
    c->signal = signal;
    pb_status status = pbi_circuit_label(c, name, length, &c->start[s]);
    if (status != PB_OK)
        return status;
    if (!pbi_name_index_add(&c->index, c->arena, c->text.bytes, c->start, s))
        return PB_ENOMEM;
    c->signal[s] = (pbi_signal){.line = place.line, .column = place.column, .node = PB_NO_NODE};
    c->count++;
    *out = s;
    return PB_OK;
}

static const char *signal_name(const pbi_circuit *c, uint32_t signal) { return c->text.bytes + c->start[signal]; }

static pb_status append_item(pbi_circuit *c, uint32_t **list, size_t *count, size_t *room, uint32_t item)
{
    void *items = *list;
    if (!pbi_arena_reserve(c->arena, &items, room, *count + 1, sizeof **list))
        return PB_ENOMEM;
    *list = items;
    (*list)[(*count)++] = item;
    return PB_OK;
}

pb_status pbi_circuit_operand(pbi_circuit *c, uint32_t signal)
{
    return append_item(c, &c->operand, &c->operand_count, &c->operand_room, signal);
}

pbi_signal_kind pbi_circuit_kind(size_t operands)
{
    return operands == 0 ? PBI_SIGNAL_CONSTANT : operands == 1 ? PBI_SIGNAL_WIRE : PBI_SIGNAL_GATE;
}

pb_status pbi_circuit_define(pbi_circuit *c, uint32_t signal, pbi_signal_kind kind, pbi_place place)
{
    pbi_signal *s = &c->signal[signal];
    if (s->kind != PBI_SIGNAL_UNKNOWN)
        return pbi_fail_at(c->ctx, PB_EGRAPH, place.line, place.column,
                           "signal \"%.80s\" is also defined in line %" PRIu64 "; remove one of the definitions",
                           signal_name(c, signal), s->defined);
    if (c->operand_count - c->taken > UINT32_MAX)
        return pbi_fail_at(c->ctx, PB_ERANGE, place.line, place.column, "a gate has too many inputs; split it");
    s->kind = (uint8_t)kind;
    s->defined = place.line;
    if (kind == PBI_SIGNAL_GATE || kind == PBI_SIGNAL_WIRE) {
        s->first = c->taken;
        s->operand_count = (uint32_t)(c->operand_count - c->taken);
        c->taken = c->operand_count;
    }
    return append_item(c, &c->order, &c->order_count, &c->order_room, signal);
}

pb_status pbi_circuit_output_add(pbi_circuit *c, uint32_t signal)
{
    void *items = c->output;
    if (!pbi_arena_reserve(c->arena, &items, &c->output_room, c->output_count + 1, sizeof *c->output))
        return PB_ENOMEM;
    c->output = items;
    c->output[c->output_count++] = (pbi_circuit_output){.signal = signal};
    return PB_OK;
}

pb_status pbi_circuit_latch(pbi_circuit *c, uint32_t holds, uint32_t next, pbi_place place)
{
    pb_status status = pbi_circuit_define(c, holds, PBI_SIGNAL_INPUT, place);
    c->latches++;
    return status == PB_OK ? pbi_circuit_output_add(c, next) : status;
}

/* ---- the graph ---- */

static pb_status check_defined(pbi_circuit *c)
{
    for (uint32_t s = 0; s < c->count; s++) {
        pbi_signal *signal = &c->signal[s];
        if (signal->kind != PBI_SIGNAL_UNKNOWN)
            continue;
        if (!c->open_inputs)
            return pbi_fail_at(
                c->ctx, PB_EGRAPH, signal->line, signal->column,
                "signal \"%.80s\" is used, but no input, gate or latch defines it; add one, or check the spelling",
                signal_name(c, s));
        pb_status status = pbi_circuit_define(c, s, PBI_SIGNAL_INPUT, (pbi_place){signal->line, signal->column});
        if (status != PB_OK)
            return status;
    }
    return PB_OK;
}

/* The source of a wire. All wires on the path point to it afterwards, so that resolving all of them takes linear
 * time. */
static pb_status follow(pbi_circuit *c, uint32_t from, uint32_t *out)
{
    uint32_t s = from, steps = 0;
    for (; c->signal[s].kind == PBI_SIGNAL_WIRE; s = c->operand[c->signal[s].first])
        if (steps++ > c->count)
            return pbi_fail_at(c->ctx, PB_EGRAPH, c->signal[from].line, c->signal[from].column,
                               "signal \"%.80s\" is a cycle of buffers and inverters; break it with a gate or latch",
                               signal_name(c, from));
    while (c->signal[from].kind == PBI_SIGNAL_WIRE) {
        uint32_t *to = &c->operand[c->signal[from].first];
        from = *to;
        *to = s;
    }
    *out = s;
    return PB_OK;
}

/* Replaces operands of gates and outputs by their sources, and marks inputs that are read. */
static pb_status resolve(pbi_circuit *c)
{
    pb_status status = PB_OK;
    for (size_t i = 0; i < c->order_count && status == PB_OK; i++) {
        const pbi_signal *gate = &c->signal[c->order[i]];
        uint32_t root;
        if (gate->kind == PBI_SIGNAL_WIRE)
            status = follow(c, c->order[i], &root);
        for (uint32_t k = 0; gate->kind == PBI_SIGNAL_GATE && k < gate->operand_count && status == PB_OK; k++) {
            status = follow(c, c->operand[gate->first + k], &root);
            if (status != PB_OK)
                return status;
            c->operand[gate->first + k] = root;
            c->signal[root].read = true;
        }
    }
    for (size_t i = 0; i < c->output_count && status == PB_OK; i++) {
        uint32_t root;
        status = follow(c, c->output[i].signal, &root);
        if (status != PB_OK)
            return status;
        c->output[i].signal = root;
        if (c->inputs == PB_INPUTS_COMPUTED)
            c->signal[root].read = true;
        if (!c->signal[root].label)
            c->signal[root].label = c->output[i].label;
    }
    return status;
}

/* Names of the form n17 are used for signals without a label. */
static bool looks_numbered(const char *name)
{
    return name[0] == 'n' && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1);
}

static pb_status add_node(pbi_circuit *c, pb_builder *b, uint32_t s)
{
    pbi_signal *signal = &c->signal[s];
    bool input = signal->kind == PBI_SIGNAL_INPUT, given = input && c->inputs == PB_INPUTS_GIVEN;
    if (signal->kind != PBI_SIGNAL_GATE && !(input && c->inputs != PB_INPUTS_FREE && signal->read))
        return PB_OK;
    const char *name = signal_name(c, s);
    if (signal->label) {
        const char *label = c->text.bytes + signal->label;
        bool free = *label && !looks_numbered(label) && pb_builder_find(b, label, strlen(label)) == PB_NO_NODE;
        name = free ? label : name;
    }
    pb_node_spec spec = {.name = name, .cost = !given, .size = 1, .flags = given ? PB_NODE_GIVEN : 0};
    return pb_builder_add_node(b, &spec, &signal->node);
}

static pb_status add_edges(pbi_circuit *c, pb_builder *b, uint32_t s)
{
    const pbi_signal *gate = &c->signal[s];
    pb_status status = PB_OK;
    for (uint32_t k = 0; gate->kind == PBI_SIGNAL_GATE && k < gate->operand_count && status == PB_OK; k++) {
        uint32_t from = c->operand[gate->first + k];
        if (from == s)
            return pbi_fail_at(c->ctx, PB_EGRAPH, gate->defined, gate->defined != 0,
                               "gate \"%.80s\" reads its own value; put a latch between them", signal_name(c, s));
        if (c->signal[from].node != PB_NO_NODE)
            status = pb_builder_add_edge(b, c->signal[from].node, gate->node);
    }
    return status;
}

/* Outputs that are given values, free inputs or constants are not targets: they need no computation. */
static pb_status add_targets(pbi_circuit *c, pb_builder *b)
{
    size_t left_out = 0;
    pb_status status = PB_OK;
    for (size_t i = 0; i < c->output_count && status == PB_OK; i++) {
        const pbi_signal *s = &c->signal[c->output[i].signal];
        bool computed = s->node != PB_NO_NODE && !(s->kind == PBI_SIGNAL_INPUT && c->inputs == PB_INPUTS_GIVEN);
        left_out += !computed;
        if (computed)
            status = pb_builder_add_target(b, s->node);
    }
    if (status != PB_OK || !left_out)
        return status;
    if (left_out == c->output_count)
        return pbi_fail(
            c->ctx, PB_EGRAPH,
            "every output is an input or a constant, so there is nothing to compute; use a circuit with gates");
    if (c->ctx->log) {
        char message[120];
        snprintf(message, sizeof message, "%zu output%s an input or a constant, and not a target", left_out,
                 left_out == 1 ? " is" : "s are");
        c->ctx->log(c->ctx->callback_state, message);
    }
    return PB_OK;
}

static void log_latches(const pbi_circuit *c)
{
    char message[160];
    if (!c->latches || !c->ctx->log)
        return;
    snprintf(message, sizeof message,
             "%" PRIu64
             " register%s cut: the graph is one clock step, from the registers' contents to their next contents",
             c->latches, c->latches == 1 ? " is" : "s are");
    c->ctx->log(c->ctx->callback_state, message);
}

static pb_status fill(pbi_circuit *c, pb_builder *b, const char *name)
{
    pb_status status = pb_builder_set_texts(b, name, "step", "pebble");
    pb_builder_set_forward_only(b);
    for (size_t i = 0; i < c->order_count && status == PB_OK; i++)
        status = add_node(c, b, c->order[i]);
    for (size_t i = 0; i < c->order_count && status == PB_OK; i++)
        status = add_edges(c, b, c->order[i]);
    return status == PB_OK ? add_targets(c, b) : status;
}

pb_status pbi_circuit_freeze(pbi_circuit *c, const char *name, pb_arena *result, const pb_graph **out)
{
    pb_status status = check_defined(c);
    if (status == PB_OK)
        status = resolve(c);
    if (status != PB_OK)
        return status;
    pb_builder *b;
    status = pb_builder_new(c->ctx, &b);
    if (status != PB_OK)
        return status;
    status = fill(c, b, name);
    if (status == PB_OK)
        status = pb_builder_freeze(b, result, out);
    pb_builder_free(b);
    if (status == PB_OK)
        log_latches(c);
    return status;
}
