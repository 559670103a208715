/* training.c -- see training.h. */
#include "generate/training.h"

static const char *const optimizers[] = {"none", "sgd", "momentum", "adam"};

static const struct {
    const char *word;
    pbi_type type, master;
    const char *multiplies;
} dtypes[] = {
    {"f16", {"float16", 2}, {NULL, 0}, NULL},    {"bf16", {"bfloat16", 2}, {NULL, 0}, NULL},
    {"f32", {"float32", 4}, {NULL, 0}, NULL},    {"f64", {"float64", 8}, {NULL, 0}, NULL},
    {"tf32", {"float32", 4}, {NULL, 0}, "tf32"}, {"mixed", {"bfloat16", 2}, {"float32", 4}, NULL},
};

static void read_dtype(const pbi_params *params, pbi_tape_options *out)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (pbi_param_is(params, "dtype", dtypes[i].word)) {
            out->type = dtypes[i].type;
            out->master = dtypes[i].master;
            out->multiplies = dtypes[i].multiplies;
        }
}

void pbi_training_start(pbi_training *s, pb_context *ctx, const pbi_params *params, pb_builder *builder,
                        pb_arena *arena)
{
    pbi_tape_options options = {.im2col = false};
    read_dtype(params, &options);
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
        options.dropout_redraw = pbi_param_is(params, "dropout-state", "either");
    }
    pbi_emit_init(&s->emit, ctx, params->family->name, builder);
    pbi_tape_init(&s->tape, &s->emit, arena, &options);
}

pb_status pbi_training_finish(pbi_training *s, const pbi_params *params)
{
    uint64_t factor = pbi_param_integer(params, "compress"), reread = pbi_param_integer(params, "reread");
    pb_status status = pbi_tape_backward(&s->tape);
    if (status == PB_OK && factor)
        pbi_tape_compress(&s->tape, factor, pbi_param_integer(params, "compress-cost"));
    if (status == PB_OK && reread)
        pbi_tape_reread(&s->tape, reread);
    return s->emit.status;
}
