/* training.c -- see training.h. */
#include "generate/training.h"

static const char *const optimizers[] = {"none", "sgd", "momentum", "adam"};

static uint64_t element_size(const pbi_params *params)
{
    if (pbi_param_is(params, "dtype", "f64"))
        return 8;
    return pbi_param_is(params, "dtype", "f32") ? 4 : 2;
}

void pbi_training_start(pbi_training *s, pb_context *ctx, const pbi_params *params, pb_builder *builder,
                        pb_arena *arena)
{
    pbi_tape_options options = {.element_size = element_size(params)};
    if (pbi_param_is(params, "grads", "keep"))
        options.grads = PBI_GRADS_KEEP;
    else if (pbi_param_is(params, "grads", "update"))
        options.grads = PBI_GRADS_UPDATE;
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
        if (!pbi_param_is(params, "optimizer", optimizers[i]))
            continue;
        const pbi_optimizer *optimizer = pbi_optimizer_find(optimizers[i]);
        options.state_per_parameter = optimizer->state;
        options.update_cost = optimizer->flops;
    }
    if (pbi_params_has(params, "workspace"))
        options.im2col = pbi_param_is(params, "workspace", "im2col");
    if (pbi_params_has(params, "dropout")) {
        options.dropout = pbi_param_real(params, "dropout") > 0;
        options.dropout_seed = pbi_param_is(params, "dropout-state", "seed");
    }
    pbi_emit_init(&s->emit, ctx, params->family->name, builder);
    pbi_tape_init(&s->tape, &s->emit, arena, &options);
}
