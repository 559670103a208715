/* family_mlp.c -- a training step of a multi-layer perceptron. */
#include "generate/families.h"
#include "generate/training.h"

static pbi_value hidden_layer(pbi_tape *t, const pbi_params *params, pbi_value x)
{
    x = pbi_op_linear(t, "fc", x, pbi_param_integer(params, "width"));
    if (pbi_param_is(params, "norm", "batch"))
        x = pbi_op_batch_norm(t, "norm", x);
    else if (pbi_param_is(params, "norm", "layer"))
        x = pbi_op_layer_norm(t, "norm", x);
    x = pbi_param_is(params, "activation", "relu") ? pbi_op_relu(t, "relu", x) : pbi_op_gelu(t, "gelu", x);
    return pbi_op_dropout(t, "drop", x);
}

static pb_status write_mlp(pbi_training *s, const pbi_params *params)
{
    pbi_tape *t = &s->tape;
    uint64_t depth = pbi_param_integer(params, "depth"), batch = pbi_param_integer(params, "batch");
    if (pbi_emit_budget(&s->emit, 14 * depth + 8, 24 * depth + 16) != PB_OK)
        return s->emit.status;
    pbi_dims sample = {batch, pbi_param_integer(params, "inputs"), 1, 1};
    pbi_value x = pbi_tape_input(t, "batch", sample, t->options.type);
    pbi_value labels = pbi_tape_input(t, "labels", (pbi_dims){batch, 1, 1, 1}, PBI_INDEX);
    for (uint64_t i = 0; i < depth && s->emit.status == PB_OK; i++) {
        pbi_tape_block(t, "layer", i);
        x = hidden_layer(t, params, x);
    }
    pbi_tape_group(t, "head");
    x = pbi_op_linear(t, "fc", x, pbi_param_integer(params, "classes"));
    pbi_op_loss(t, "loss", x, labels);
    return pbi_training_finish(s, params);
}

pb_status pbi_generate_mlp(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    pbi_training s;
    pbi_training_start(&s, ctx, params, builder, &arena);
    pb_status status = write_mlp(&s, params);
    pb_arena_release(&arena);
    return status;
}
