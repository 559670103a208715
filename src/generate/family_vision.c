/* family_vision.c -- training steps of convolutional networks: residual networks and U-Nets. */
#include "base/context.h"
#include "generate/families.h"
#include "generate/training.h"

/* Convolution, normalisation, and relu if `relu` is not NULL. */
typedef struct unit {
    const char *conv, *norm, *relu;
    uint64_t channels, kernel, stride;
} unit;

static pbi_value write_unit(pbi_tape *t, pbi_value x, const unit *u)
{
    x = pbi_op_conv(t, u->conv, x, u->channels, u->kernel, u->stride);
    x = pbi_op_batch_norm(t, u->norm, x);
    return u->relu ? pbi_op_relu(t, u->relu, x) : x;
}

/* A bottleneck's last convolution is four times as wide as the others. */
static pbi_value residual_block(pbi_tape *t, pbi_value x, bool bottleneck, uint64_t width, uint64_t stride)
{
    uint64_t outputs = bottleneck ? 4 * width : width;
    pbi_value way = x;
    if (bottleneck) {
        way = write_unit(t, way, &(unit){"conv1", "norm1", "relu1", width, 1, 1});
        way = write_unit(t, way, &(unit){"conv2", "norm2", "relu2", width, 3, stride});
        way = write_unit(t, way, &(unit){"conv3", "norm3", NULL, outputs, 1, 1});
    } else {
        way = write_unit(t, way, &(unit){"conv1", "norm1", "relu1", width, 3, stride});
        way = write_unit(t, way, &(unit){"conv2", "norm2", NULL, outputs, 3, 1});
    }
    if (stride > 1 || pbi_tape_dims(t, x).channels != outputs)
        x = write_unit(t, x, &(unit){"short", "short_norm", NULL, outputs, 1, stride});
    return pbi_op_relu(t, "relu", pbi_op_add(t, "add", way, x));
}

typedef struct resnet_kind {
    const char *depth;
    uint64_t blocks[4];
    bool bottleneck;
} resnet_kind;

static const resnet_kind resnet_kinds[] = {
    {"18", {2, 2, 2, 2}, false},  {"34", {3, 4, 6, 3}, false},  {"50", {3, 4, 6, 3}, true},
    {"101", {3, 4, 23, 3}, true}, {"152", {3, 8, 36, 3}, true},
};

static resnet_kind read_resnet(const pbi_params *params)
{
    resnet_kind kind = resnet_kinds[0];
    for (size_t i = 0; i < sizeof resnet_kinds / sizeof *resnet_kinds; i++)
        if (pbi_param_is(params, "depth", resnet_kinds[i].depth))
            kind = resnet_kinds[i];
    uint64_t blocks = pbi_param_integer(params, "blocks");
    for (int stage = 0; blocks && stage < 4; stage++)
        kind.blocks[stage] = blocks;
    if (!pbi_param_is(params, "block", "auto"))
        kind.bottleneck = pbi_param_is(params, "block", "bottleneck");
    return kind;
}

static pb_status write_resnet(pbi_training *s, const pbi_params *params)
{
    pbi_tape *t = &s->tape;
    resnet_kind kind = read_resnet(params);
    uint64_t blocks = kind.blocks[0] + kind.blocks[1] + kind.blocks[2] + kind.blocks[3];
    uint64_t side = pbi_param_integer(params, "image"), batch = pbi_param_integer(params, "batch");
    uint64_t width = pbi_param_integer(params, "width");
    if (pbi_emit_budget(&s->emit, 48 * blocks + 40, 96 * blocks + 80) != PB_OK)
        return s->emit.status;
    pbi_dims image = {batch, pbi_param_integer(params, "channels"), side, side};
    pbi_value x = pbi_tape_input(t, "images", image, t->options.type);
    pbi_value labels = pbi_tape_input(t, "labels", (pbi_dims){batch, 1, 1, 1}, PBI_INDEX);
    pbi_tape_group(t, "stem");
    x = write_unit(t, x, &(unit){"conv", "norm", "relu", width, 7, 2});
    x = pbi_op_max_pool(t, "pool", x, 3, 2);
    for (uint64_t stage = 0; stage < 4; stage++) {
        pbi_label prefix;
        pbi_label_set(&prefix, "stage");
        pbi_label_number(&prefix, stage + 1);
        pbi_label_text(&prefix, ".block");
        for (uint64_t i = 0; i < kind.blocks[stage] && s->emit.status == PB_OK; i++) {
            pbi_tape_block(t, prefix.text, i);
            x = residual_block(t, x, kind.bottleneck, width << stage, stage && i == 0 ? 2 : 1);
        }
    }
    pbi_tape_group(t, "head");
    x = pbi_op_mean_pool(t, "pool", x);
    x = pbi_op_linear(t, "fc", x, pbi_param_integer(params, "classes"));
    pbi_op_loss(t, "loss", x, labels);
    return pbi_training_finish(s, params);
}

pb_status pbi_generate_resnet(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    pbi_training s;
    pbi_training_start(&s, ctx, params, builder, &arena);
    pb_status status = write_resnet(&s, params);
    pb_arena_release(&arena);
    return status;
}

static pbi_value unet_level(pbi_tape *t, pbi_value x, uint64_t convs, uint64_t channels)
{
    for (uint64_t i = 1; i <= convs && t->emit->status == PB_OK; i++) {
        unit u = {.channels = channels, .kernel = 3, .stride = 1};
        u.conv = pbi_tape_text(t, "conv", i);
        u.norm = pbi_tape_text(t, "norm", i);
        u.relu = pbi_tape_text(t, "relu", i);
        x = write_unit(t, x, &u);
    }
    return x;
}

#define UNET_DEPTH 12 /* the max that families.def allows */

static pb_status write_unet(pbi_training *s, const pbi_params *params)
{
    pbi_tape *t = &s->tape;
    uint64_t depth = pbi_param_integer(params, "depth"), convs = pbi_param_integer(params, "convs");
    uint64_t side = pbi_param_integer(params, "image"), batch = pbi_param_integer(params, "batch");
    uint64_t width = pbi_param_integer(params, "width");
    if (side >> depth == 0)
        return pbi_fail(s->emit.ctx, PB_ERANGE,
                        "unet: an image of side %llu cannot be halved %llu times; use a smaller depth",
                        (unsigned long long)side, (unsigned long long)depth);
    uint64_t units = convs * (2 * depth + 1);
    if (pbi_emit_budget(&s->emit, 10 * units + 12 * depth + 12, 20 * units + 24 * depth + 24) != PB_OK)
        return s->emit.status;
    pbi_dims image = {batch, pbi_param_integer(params, "channels"), side, side};
    pbi_value x = pbi_tape_input(t, "images", image, t->options.type);
    pbi_value labels = pbi_tape_input(t, "labels", (pbi_dims){batch, 1, side, side}, PBI_INDEX);
    pbi_value skips[UNET_DEPTH];
    for (uint64_t level = 0; level < depth; level++) {
        pbi_tape_block(t, "down", level);
        skips[level] = unet_level(t, x, convs, width << level);
        x = pbi_op_max_pool(t, "pool", skips[level], 2, 2);
    }
    pbi_tape_group(t, "bottom");
    x = unet_level(t, x, convs, width << depth);
    for (uint64_t level = depth; level-- > 0;) {
        pbi_tape_block(t, "up", level);
        x = pbi_op_conv_up(t, "upconv", x, width << level, skips[level]);
        x = pbi_op_concat(t, "concat", skips[level], x);
        x = unet_level(t, x, convs, width << level);
    }
    pbi_tape_group(t, "head");
    x = pbi_op_conv(t, "conv", x, pbi_param_integer(params, "classes"), 1, 1);
    pbi_op_loss(t, "loss", x, labels);
    return pbi_training_finish(s, params);
}

pb_status pbi_generate_unet(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    pbi_training s;
    pbi_training_start(&s, ctx, params, builder, &arena);
    pb_status status = write_unet(&s, params);
    pb_arena_release(&arena);
    return status;
}
