/* reader.c -- an ONNX model as a graph: forward, or a training step.
 *
 * Four passes over the nodes in the order of the file: shapes and constants; what the outputs need; the forward
 * nodes on the tape; the backward pass by the tape's rules. Views own no memory: they have no node, and their
 * readers read the tensor they are views of.
 */
#include "base/arena.h"
#include "base/context.h"
#include "io/formats.h"
#include "io/onnx/model.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- Shapes ---- */

static bool is_standard(const char *domain) { return !*domain || strcmp(domain, "ai.onnx") == 0; }

static pb_status choose_rule(pbi_onnx *m, pbi_onnx_node *n)
{
    if (!is_standard(n->domain))
        return pbi_onnx_refuse(m, n,
                               "operators of \"%.60s\" and functions of the model are not supported; export the model "
                               "with standard ONNX operators only, or inline its functions (onnx.inliner)",
                               n->domain);
    n->rule = pbi_onnx_rule_find(n->op);
    if (!n->rule)
        return pbi_onnx_refuse(m, n, "%s", pbi_onnx_advice(n->op));
    n->kind = n->rule->kind;
    n->work = n->rule->work;
    n->once = n->rule->random;
    return PB_OK;
}

static pb_status check_ends(pbi_onnx *m, pbi_onnx_node *n)
{
    for (uint32_t i = 0; i < n->rule->least; i++)
        if (!pbi_onnx_in(m, n, i))
            return pbi_onnx_invalid(m, n, "it has %u inputs, but input %u is missing", n->in_count, i);
    for (uint32_t i = 0; i < n->in_count; i++) {
        const pbi_onnx_tensor *t = pbi_onnx_in(m, n, i);
        if (t && !t->shaped)
            return pbi_onnx_invalid(m, n, "it reads \"%.60s\", which no earlier operator produces",
                                    pbi_onnx_name(m, n->in[i]));
    }
    for (uint32_t i = 0; i < n->out_count; i++) {
        pbi_onnx_tensor *t = pbi_onnx_out(m, n, i);
        if (t && t->role != PBI_ONNX_UNKNOWN)
            return pbi_onnx_invalid(m, n, "\"%.60s\" is already produced by another operator",
                                    pbi_onnx_name(m, n->out[i]));
        if (t)
            t->role = PBI_ONNX_MADE;
    }
    return n->out_count ? PB_OK : pbi_onnx_invalid(m, n, "it has no output");
}

static pb_status infer_node(pbi_onnx *m, pbi_onnx_node *n)
{
    pb_status status = choose_rule(m, n);
    if (status == PB_OK)
        status = check_ends(m, n);
    if (status == PB_OK)
        status = n->rule->shape(m, n);
    if (status == PB_OK)
        status = pbi_onnx_fold(m, n);
    if (status != PB_OK)
        return status;
    n->folded = true;
    for (uint32_t i = 0; i < n->out_count; i++) {
        pbi_onnx_tensor *t = pbi_onnx_out(m, n, i);
        if (t && !t->shaped)
            return pbi_onnx_invalid(m, n, "it has %u outputs, more than the operator produces", n->out_count);
        n->folded &= !t || t->values;
    }
    pbi_onnx_tensor *first = pbi_onnx_out(m, n, 0);
    if (strcmp(n->op, "Constant") == 0)
        n->folded = true; /* a large one: its numbers are in the file */
    if (n->view && first)
        first->base = m->tensor[n->in[0]].base == PBI_ONNX_NONE ? n->in[0] : m->tensor[n->in[0]].base;
    if (first && !pbi_onnx_is_real(first->type))
        n->kind = PBI_OP_BLOCKED;
    return PB_OK;
}

static pb_status infer(pbi_onnx *m)
{
    pb_status status = PB_OK;
    for (size_t i = 0; status == PB_OK && i < m->node_count; i++) {
        status = infer_node(m, &m->node[i]);
        if (status == PB_OK && i % 1024 == 0)
            status = pbi_poll(m->ctx);
    }
    for (size_t i = 0; status == PB_OK && i < m->output_count; i++)
        if (!m->tensor[m->output[i]].shaped)
            status = pbi_fail(m->ctx, PB_EGRAPH, "no operator produces the output \"%.100s\"; export the model again",
                              pbi_onnx_name(m, m->output[i]));
    if (status == PB_OK && m->output_count == 0)
        status = pbi_fail(m->ctx, PB_EGRAPH, "the model has no outputs; export it with at least one");
    return status;
}

/* ---- What the outputs need ---- */

static uint32_t base_of(const pbi_onnx *m, uint32_t tensor)
{
    return m->tensor[tensor].base == PBI_ONNX_NONE ? tensor : m->tensor[tensor].base;
}

static bool is_left_out(const pbi_onnx_node *n) { return n->folded || n->view || n->fused; }

static bool is_needed(const pbi_onnx *m, const pbi_onnx_node *n)
{
    for (uint32_t i = 0; i < n->out_count; i++)
        if (n->out[i] != PBI_ONNX_NONE && m->tensor[n->out[i]].needed)
            return true;
    return false;
}

static void mark_needed(pbi_onnx *m)
{
    size_t outputs = m->options->train ? 1 : m->output_count;
    for (size_t i = 0; i < outputs; i++) {
        pbi_onnx_tensor *t = &m->tensor[base_of(m, m->output[i])];
        t->needed = true;
        t->kept = !m->options->train;
    }
    for (size_t i = m->node_count; i-- > 0;) {
        const pbi_onnx_node *n = &m->node[i];
        if (is_left_out(n) || !is_needed(m, n))
            continue;
        for (uint32_t k = 0; k < n->in_count; k++)
            if (n->in[k] != PBI_ONNX_NONE && pbi_onnx_reads(n->rule, k))
                m->tensor[base_of(m, n->in[k])].needed = true;
    }
}

/* ---- The forward nodes ---- */

/* Elements and their size, whose product is the number of bytes: numbers of less than a byte are packed. */
static pbi_dims layout(const pbi_onnx_tensor *t, pbi_type *type)
{
    uint64_t elements = pbi_onnx_elements(t), bits = pbi_onnx_bits(t->type);
    *type = (pbi_type){pbi_onnx_work_type(t->type), bits < 8 ? 1 : bits / 8};
    return (pbi_dims){bits < 8 ? pbi_ceil_div(elements, 8 / bits) : elements, 1, 1, 1};
}

static pb_status value_of(pbi_onnx *m, pbi_tape *tape, uint32_t index, pbi_value *out)
{
    pbi_onnx_tensor *t = &m->tensor[base_of(m, index)];
    if (t->value == PBI_NO_VALUE) {
        if (!pbi_onnx_bits(t->type))
            return pbi_fail(
                m->ctx, PB_EGRAPH,
                "\"%.100s\" is of type %s, which is not supported; export the model with numbers or booleans",
                pbi_onnx_name(m, index), pbi_onnx_type_name(t->type));
        pbi_type type;
        pbi_dims dims = layout(t, &type);
        t->value = pbi_tape_fixed(tape, pbi_onnx_name(m, index), dims, type, t->learnable && m->options->train);
    }
    *out = t->value;
    return tape->emit->status;
}

/* The path before the last / or . of the node's name. */
static void set_group(pbi_onnx *m, pbi_tape *tape, const pbi_onnx_node *n, uint32_t first)
{
    const char *name = *n->name ? n->name : pbi_onnx_name(m, n->out[first]);
    while (*name == '/')
        name++;
    size_t length = strlen(name);
    while (length && name[length] != '/' && name[length] != '.')
        length--;
    if (strlen(tape->group) == length && memcmp(tape->group, name, length) == 0)
        return;
    const char *group = pb_arena_text(m->arena, name, length);
    if (group)
        tape->group = group;
    else
        tape->emit->status = PB_ENOMEM;
}

/* Whether a later output gets a node: something needs it, or it has the indices that the backward pass reads. */
static bool is_part(const pbi_onnx *m, const pbi_onnx_node *n, uint32_t i, bool indices)
{
    const pbi_onnx_tensor *t = pbi_onnx_out(m, n, i);
    return t && (t->needed || (indices && i == 1));
}

static pbi_op op_of(pbi_onnx *m, const pbi_onnx_node *n, uint32_t i)
{
    const pbi_onnx_tensor *out = pbi_onnx_out(m, n, i);
    const pbi_onnx_tensor *in = pbi_onnx_in(m, n, 0);
    pbi_op op = {.kind = n->kind, .work = n->work, .name = pbi_onnx_name(m, n->out[i]), .side = PB_NO_NODE};
    if (!pbi_onnx_is_real(out->type)) {
        op.kind = PBI_OP_BLOCKED;
        op.counts = in ? pbi_onnx_work_type(in->type) : NULL; /* a comparison, the place of the largest */
    }
    op.dims = layout(out, &op.type);
    if (out->kept)
        op.flags = PB_NODE_KEEP;
    return op;
}

/* Of the later outputs that emit_parts adds. */
static uint64_t parts_size(pbi_onnx *m, const pbi_onnx_node *n, uint32_t first, bool indices)
{
    uint64_t size = 0;
    for (uint32_t i = first + 1; i < n->out_count; i++)
        if (is_part(m, n, i, indices)) {
            pbi_type type;
            pbi_dims dims = layout(pbi_onnx_out(m, n, i), &type);
            size = pbi_add_saturated(size, pbi_times(pbi_dims_elements(dims), type.size));
        }
    return size;
}

static uint64_t at_least_one(uint64_t cost) { return cost ? cost : 1; }

/* Costs by the row of the operator, unless its shape set them; `made` is the number of output elements. */
static void set_costs(pbi_onnx *m, const pbi_onnx_node *n, uint64_t made, pbi_op *op)
{
    const pbi_onnx_tensor *first = pbi_onnx_in(m, n, 0);
    uint64_t inputs = first ? pbi_onnx_elements(first) : 0, most = inputs > made ? inputs : made;
    op->cost = n->cost ? n->cost : pbi_times(most, n->rule->flops);
    op->grad_cost = n->grad_cost ? n->grad_cost : pbi_times(most, n->rule->grads);
    if (!made)
        op->cost = at_least_one(op->cost);
}

/* Outputs after the first are by-products of the same computation. */
static void emit_parts(pbi_onnx *m, pbi_tape *tape, const pbi_onnx_node *n, uint32_t first, bool indices)
{
    for (uint32_t i = first + 1; i < n->out_count; i++) {
        if (!is_part(m, n, i, indices))
            continue;
        pbi_op part = op_of(m, n, i);
        pbi_onnx_out(m, n, i)->value = pbi_tape_part(tape, &part, indices && i == 1);
    }
}

static pb_status emit_node(pbi_onnx *m, pbi_tape *tape, const pbi_onnx_node *n)
{
    pbi_value *in = pb_arena_alloc(m->arena, n->in_count ? n->in_count : 1, sizeof *in);
    uint32_t count = 0, first = 0;
    pb_status status = in ? PB_OK : PB_ENOMEM;
    while (n->out[first] == PBI_ONNX_NONE) /* it is needed, so it has one */
        first++;
    set_group(m, tape, n, first);
    for (uint32_t i = 0; status == PB_OK && i < n->in_count; i++)
        if (n->in[i] != PBI_ONNX_NONE && pbi_onnx_reads(n->rule, i))
            status = value_of(m, tape, n->in[i], &in[count++]);
    if (status != PB_OK)
        return status;
    pbi_op op = op_of(m, n, first);
    set_costs(m, n, pbi_onnx_elements(pbi_onnx_out(m, n, first)), &op);
    if (n->once)
        op.flags |= PB_NODE_ONCE;
    bool train = m->options->train, dropout = op.kind == PBI_OP_DROPOUT;
    bool saves = op.kind == PBI_OP_SORTED || op.kind == PBI_OP_MAX_POOL || op.kind == PBI_OP_SCORES;
    bool indices = train && saves && pbi_onnx_out(m, n, 1);
    if (train && !indices)
        op.side_size = op.kind == PBI_OP_SORTED ? pbi_times(pbi_dims_elements(op.dims), 8) : n->side_size;
    if (dropout) {
        op.side_size = pbi_dims_elements(op.dims);
        op.side = pbi_tape_source(tape, op.name, ".mask", at_least_one(pbi_times(op.side_size, 8)), op.side_size);
    }
    if (op.work == PBI_WORK_GATHER && pbi_tape_node(tape, in[0]) == PB_NO_NODE)
        op.work = PBI_WORK_EMBED;
    op.parts_size = parts_size(m, n, first, indices);
    m->tensor[n->out[first]].value = pbi_tape_op(tape, &op, in, count);
    emit_parts(m, tape, n, first, indices);
    return tape->emit->status;
}

static pb_status emit_forward(pbi_onnx *m, pbi_tape *tape)
{
    uint64_t dropped = 0;
    pb_status status = PB_OK;
    for (size_t i = 0; i < m->input_count; i++) {
        pbi_onnx_tensor *t = &m->tensor[m->input[i]];
        pbi_type type;
        if (!t->needed)
            continue;
        pbi_dims dims = layout(t, &type);
        t->value = pbi_tape_input(tape, pbi_onnx_name(m, m->input[i]), dims, type);
    }
    for (size_t i = 0; status == PB_OK && i < m->node_count; i++) {
        const pbi_onnx_node *n = &m->node[i];
        if (is_left_out(n))
            continue;
        if (is_needed(m, n))
            status = emit_node(m, tape, n);
        else
            dropped++;
    }
    if (status == PB_OK && dropped && m->ctx->log) {
        char text[120];
        snprintf(text, sizeof text, "operators that no output needs are left out: %" PRIu64, dropped);
        m->ctx->log(m->ctx->callback_state, text);
    }
    return status;
}

/* ---- Outputs, loss and the backward pass ---- */

static pb_status finish_forward(pbi_onnx *m, pbi_tape *tape)
{
    uint32_t computed = 0;
    for (size_t i = 0; i < m->output_count; i++) {
        const pbi_onnx_tensor *t = &m->tensor[base_of(m, m->output[i])];
        pb_node v = pbi_tape_node(tape, t->value);
        if (t->role == PBI_ONNX_INPUT || v == PB_NO_NODE)
            continue;
        computed++;
        pbi_emit_target(tape->emit, v);
    }
    if (!computed && tape->emit->status == PB_OK)
        return pbi_fail(m->ctx, PB_EGRAPH,
                        "every output of the model is an input or a constant, so there is nothing to plan; export a "
                        "model that computes something");
    return pbi_tape_forward(tape);
}

/* "loss", or if the model has a tensor of that name "loss2", "loss3", ... */
static const char *loss_name(const pbi_onnx *m, pbi_tape *tape)
{
    const char *name = "loss";
    for (uint64_t number = 2; *name && pbi_onnx_find(m, name) != PBI_ONNX_NONE; number++)
        name = pbi_tape_text(tape, "loss", number);
    return name;
}

/* A loss over the first output, of a few flop per number: about the cost of cross entropy or squares. */
static pb_status finish_training(pbi_onnx *m, pbi_tape *tape)
{
    pbi_value output;
    pb_status status = value_of(m, tape, m->output[0], &output);
    if (status != PB_OK)
        return status;
    if (!pbi_tape_wants_grad(tape, output) || pbi_tape_node(tape, output) == PB_NO_NODE)
        return pbi_fail(m->ctx, PB_EGRAPH,
                        "there is nothing to train: no gradient goes from the first output, \"%.100s\", to a parameter "
                        "(an initializer of real numbers); export the model with its weights, or read it without train",
                        pbi_onnx_name(m, m->output[0]));
    tape->group = "";
    pbi_op loss = {.kind = PBI_OP_LOSS, .dims = {1, 1, 1, 1}, .type = {"float32", 4}, .side = PB_NO_NODE};
    loss.name = loss_name(m, tape);
    loss.cost = at_least_one(pbi_times(5, pbi_dims_elements(pbi_tape_dims(tape, output))));
    pbi_tape_op(tape, &loss, &output, 1);
    return pbi_tape_backward(tape);
}

static pb_status tape_options(pbi_onnx *m, pbi_tape_options *out)
{
    const pb_read_options *o = m->options;
    const pbi_optimizer *optimizer = pbi_optimizer_find(o->optimizer ? o->optimizer : "none");
    *out = (pbi_tape_options){.type = {"float32", 4}, .whole_names = true};
    if (!optimizer)
        return pbi_fail(m->ctx, PB_EINVAL, "there is no optimizer \"%.40s\"; choose none, sgd, momentum or adam",
                        o->optimizer);
    if (!pbi_grads_parse(o->grads ? o->grads : "accumulate", &out->grads))
        return pbi_fail(m->ctx, PB_EINVAL, "grads must be accumulate, keep or update, not \"%.40s\"", o->grads);
    out->state_per_parameter = optimizer->state;
    out->update_cost = optimizer->flops;
    return PB_OK;
}

static pb_status write_graph(pbi_onnx *m, pb_builder *builder)
{
    pbi_emit emit;
    pbi_tape tape;
    pbi_tape_options options;
    pb_status status = tape_options(m, &options);
    if (status != PB_OK)
        return status;
    pbi_emit_init(&emit, m->ctx, "the model", builder);
    pbi_tape_init(&tape, &emit, m->arena, &options);
    status = emit_forward(m, &tape);
    if (status == PB_OK)
        status = m->options->train ? finish_training(m, &tape) : finish_forward(m, &tape);
    return status == PB_OK ? pb_builder_set_texts(builder, m->name, NULL, NULL) : status;
}

/* If the batch size also appears inside the model, it cannot be changed: adds this to the message. */
static pb_status explain_batch(pbi_onnx *m, pb_status status)
{
    char message[sizeof m->ctx->error.message];
    if (status != PB_EGRAPH || !m->batch_replaced)
        return status;
    memcpy(message, m->ctx->error.message, sizeof message);
    return pbi_fail(m->ctx, status,
                    "%.340s; the file fixes the batch size, perhaps inside the model too: export it with an open batch",
                    message);
}

pb_status pbi_graph_onnx_read(pbi_text *text, const pb_read_options *options, pb_arena *scratch, pb_arena *result,
                              const pb_graph **out)
{
    pbi_onnx m = {.ctx = text->ctx, .arena = scratch, .options = options};
    pb_builder *builder = NULL;
    pb_status status = pbi_onnx_read(&m, text);
    if (status == PB_OK)
        status = pbi_onnx_bind(&m);
    if (status == PB_OK)
        status = explain_batch(&m, infer(&m));
    if (status == PB_OK)
        status = pbi_onnx_fuse(&m, !options->attention || strcmp(options->attention, "separate") != 0);
    if (status == PB_OK) {
        mark_needed(&m);
        status = pb_builder_new(m.ctx, &builder);
    }
    if (status == PB_OK)
        status = write_graph(&m, builder);
    if (status == PB_OK)
        status = pb_builder_freeze(builder, result, out);
    if (builder)
        pb_builder_free(builder);
    return status;
}
