/* train_models.c -- see train.h: the networks. */
#include "workloads/train.h"

#include "base/context.h"

#include <string.h>

enum { COLOURS = 3 };

static pbi_tensor images(pbi_train *t, pb_node node, bool flat)
{
    const pbi_train_options *o = &t->options;
    dnnl_memory_desc_t md = flat ? pbi_md_rows(o->batch, COLOURS * o->image * o->image)
                                 : pbi_md_image(o->batch, COLOURS, o->image, o->image, dnnl_nchw);
    return pbi_net_tensor(t, "images", node, &md, false);
}

/* ---- mlp: depth hidden layers of the same width ---- */

static void build_mlp(pbi_train *t)
{
    const pbi_train_options *o = &t->options;
    uint64_t inputs = COLOURS * o->image * o->image;
    pbi_tensor x = images(t, pbi_data_images(t, COLOURS), true);
    for (uint64_t i = 0; i < o->depth && t->status == PB_OK; i++) {
        pbi_net_group(t, "layer", i);
        x = pbi_net_linear(t, "fc", x, inputs, o->width, 2);
        x = pbi_net_relu(t, "relu", x);
        x = pbi_net_dropout(t, "drop", x);
        inputs = o->width;
    }
    pbi_net_group(t, "head", UINT64_MAX);
    x = pbi_net_linear(t, "fc", x, inputs, o->classes, 1);
    pbi_net_loss(t, x, o->batch, o->classes);
}

/* ---- resnet: three stages of depth blocks, each stage with half the size and twice the channels ---- */

static pbi_tensor conv_norm(pbi_train *t, const char *conv, const char *norm, pbi_tensor x, uint64_t channels,
                            uint64_t stride)
{
    x = pbi_net_conv(t, conv, x, channels, 3, stride);
    return pbi_net_batch_norm(t, norm, x);
}

static pbi_tensor residual(pbi_train *t, pbi_tensor x, uint64_t channels, uint64_t stride, bool first)
{
    pbi_tensor way = conv_norm(t, "conv1", "norm1", x, channels, stride);
    way = pbi_net_relu(t, "relu1", way);
    way = conv_norm(t, "conv2", "norm2", way, channels, 1);
    if (first) /* the shortcut to the new shape */
        x = pbi_net_batch_norm(t, "norm0", pbi_net_conv(t, "conv0", x, channels, 1, stride));
    return pbi_net_relu(t, "relu2", pbi_net_add(t, "add", way, x));
}

static void build_resnet(pbi_train *t)
{
    const pbi_train_options *o = &t->options;
    pbi_tensor x = images(t, pbi_data_images(t, COLOURS), false);
    pbi_net_group(t, "stem", UINT64_MAX);
    x = pbi_net_relu(t, "relu", conv_norm(t, "conv", "norm", x, o->width, 1));
    for (uint64_t stage = 0; stage < 3; stage++)
        for (uint64_t i = 0; i < o->depth && t->status == PB_OK; i++) {
            pbi_net_group(t, "block", stage * o->depth + i);
            bool first = stage > 0 && i == 0;
            x = residual(t, x, o->width << stage, first ? 2 : 1, first);
        }
    pbi_net_group(t, "head", UINT64_MAX);
    dnnl_memory_desc_t flat = pbi_md_image(o->batch, 4 * o->width, 1, 1, dnnl_nchw);
    x = pbi_net_reorder(t, "flat", pbi_net_mean_pool(t, "pool", x), &flat);
    x = pbi_net_dropout(t, "drop", x);
    x = pbi_net_linear(t, "fc", x, 4 * o->width, o->classes, 1);
    pbi_net_loss(t, x, o->batch, o->classes);
}

/* ---- unet: depth times down and up, with shortcuts from each level down to the same level up ---- */

static pbi_tensor twice(pbi_train *t, pbi_tensor x, uint64_t channels)
{
    x = pbi_net_relu(t, "relu1", conv_norm(t, "conv1", "norm1", x, channels, 1));
    return pbi_net_relu(t, "relu2", conv_norm(t, "conv2", "norm2", x, channels, 1));
}

static void build_unet(pbi_train *t)
{
    enum { MAX_DEPTH = 8 };
    const pbi_train_options *o = &t->options;
    pbi_tensor shortcut[MAX_DEPTH] = {0};
    if (o->depth > MAX_DEPTH || o->image % (UINT64_C(1) << o->depth)) {
        t->status = pbi_fail(t->ctx, PB_EINVAL,
                             "train: unet: the image must be a multiple of 2^depth, and depth at most %d", MAX_DEPTH);
        return;
    }
    pbi_tensor x = images(t, pbi_data_scenes(t, COLOURS), false);
    for (uint64_t i = 0; i < o->depth; i++) {
        pbi_net_group(t, "down", i);
        shortcut[i] = twice(t, x, o->width << i);
        x = pbi_net_max_pool(t, "pool", shortcut[i]);
    }
    pbi_net_group(t, "bottom", UINT64_MAX);
    x = pbi_net_dropout(t, "drop", twice(t, x, o->width << o->depth));
    for (uint64_t i = o->depth; i-- > 0;) {
        pbi_net_group(t, "up", i);
        x = pbi_net_conv_up(t, "conv0", x, o->width << i);
        x = twice(t, pbi_net_concat(t, "concat", shortcut[i], x), o->width << i);
    }
    pbi_net_group(t, "head", UINT64_MAX);
    dnnl_memory_desc_t pixels = pbi_md_image(o->batch, o->classes, o->image, o->image, dnnl_nhwc);
    x = pbi_net_reorder(t, "pixels", pbi_net_conv(t, "conv", x, o->classes, 1, 1), &pixels);
    pbi_net_loss(t, x, o->batch * o->image * o->image, o->classes);
}

/* ---- transformer: depth blocks, normalisation first ---- */

static pbi_tensor block(pbi_train *t, pbi_tensor x)
{
    const pbi_train_options *o = &t->options;
    uint64_t rows = o->batch * o->sequence, width = o->width;
    pbi_tensor way = pbi_net_layer_norm(t, "norm1", x, rows, width);
    pbi_tensor q = pbi_net_linear(t, "q", way, width, width, 1), k = pbi_net_linear(t, "k", way, width, width, 1),
               v = pbi_net_linear(t, "v", way, width, width, 1);
    pbi_tensor probs = pbi_net_softmax(t, "probs", pbi_net_scores(t, "scores", q, k));
    way = pbi_net_context(t, "context", pbi_net_dropout(t, "probs_drop", probs), v);
    way = pbi_net_linear(t, "proj", way, width, width, 1);
    x = pbi_net_add(t, "add1", x, pbi_net_dropout(t, "proj_drop", way));
    way = pbi_net_layer_norm(t, "norm2", x, rows, width);
    way = pbi_net_gelu(t, "gelu", pbi_net_linear(t, "fc1", way, width, 4 * width, 2));
    way = pbi_net_linear(t, "fc2", way, 4 * width, width, 1);
    return pbi_net_add(t, "add2", x, pbi_net_dropout(t, "fc2_drop", way));
}

static void build_transformer(pbi_train *t)
{
    const pbi_train_options *o = &t->options;
    if (o->width % o->heads) {
        t->status =
            pbi_fail(t->ctx, PB_EINVAL, "train: transformer: heads (%llu) must divide width (%llu); change one of them",
                     (unsigned long long)o->heads, (unsigned long long)o->width);
        return;
    }
    uint64_t rows = o->batch * o->sequence;
    pb_node tokens = pbi_data_tokens(t);
    pbi_net_group(t, "embedding", UINT64_MAX);
    pbi_tensor x = pbi_net_dropout(t, "drop", pbi_net_embed(t, "embed", tokens));
    for (uint64_t i = 0; i < o->depth && t->status == PB_OK; i++) {
        pbi_net_group(t, "block", i);
        x = block(t, x);
    }
    pbi_net_group(t, "head", UINT64_MAX);
    x = pbi_net_layer_norm(t, "norm", x, rows, o->width);
    x = pbi_net_linear(t, "fc", x, o->width, o->classes, 1);
    pbi_net_loss(t, x, rows, o->classes);
}

/* ---- revnet: two streams; blocks add a function of one to the other, and both come back by subtraction ---- */

/* stream + relu(linear(other)); `stream` comes back from the sum. */
static pbi_tensor couple(pbi_train *t, const char *const names[3], pbi_tensor stream, pbi_tensor other)
{
    uint64_t width = t->options.width;
    pbi_tensor way = pbi_net_linear(t, names[0], other, width, width, 0.5f / (float)t->options.depth);
    pb_node linear = t->status == PB_OK ? t->tensor[way].node : 0;
    pbi_tensor sum = pbi_net_add(t, names[2], stream, pbi_net_relu(t, names[1], way));
    pbi_net_inverse(t, stream, sum, other, linear);
    return sum;
}

static void build_revnet(pbi_train *t)
{
    static const char *const first[] = {"f.fc", "f.relu", "a"}, *const second[] = {"g.fc", "g.relu", "b"};
    const pbi_train_options *o = &t->options;
    uint64_t inputs = COLOURS * o->image * o->image;
    if (o->dropout > 0) {
        t->status = pbi_fail(t->ctx, PB_EINVAL, "train: revnet: blocks with dropout are not inverted; set dropout=0");
        return;
    }
    pbi_tensor x = images(t, pbi_data_images(t, COLOURS), true);
    pbi_net_group(t, "stem", UINT64_MAX);
    pbi_tensor a = pbi_net_linear(t, "a", x, inputs, o->width, 1), b = pbi_net_linear(t, "b", x, inputs, o->width, 1);
    for (uint64_t i = 0; i < o->depth && t->status == PB_OK; i++) {
        pbi_net_group(t, "block", i);
        a = couple(t, first, a, b);
        b = couple(t, second, b, a);
    }
    pbi_net_group(t, "head", UINT64_MAX);
    x = pbi_net_linear(t, "fc", pbi_net_add(t, "add", a, b), o->width, o->classes, 1);
    pbi_net_loss(t, x, o->batch, o->classes);
}

void pbi_train_model(pbi_train *t)
{
    const char *model = t->options.model;
    if (t->options.dropout > 0)
        pbi_data_seed(t);
    if (strcmp(model, "mlp") == 0)
        build_mlp(t);
    else if (strcmp(model, "resnet") == 0)
        build_resnet(t);
    else if (strcmp(model, "revnet") == 0)
        build_revnet(t);
    else if (strcmp(model, "unet") == 0)
        build_unet(t);
    else
        build_transformer(t);
    if (t->status == PB_OK)
        pbi_train_backward(t);
}
