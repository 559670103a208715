/* train_image.c -- see train.h: normalisation over a batch, pooling, concatenation. */
#include "workloads/train.h"

#include "base/context.h"

#include <string.h>

#define EPSILON 1e-5f
#define SLOWNESS 0.9f /* of running statistics */

/* ---- batch normalisation ---- */

enum { CHANNELS, VARIANCE_AT, SPARE, STATISTICS, RUNNING };

/* The first computation of a run updates the running statistics; recomputations do not change them. */
static pb_status run_statistics(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    if (call->times)
        return PB_OK;
    const unsigned char *made = call->value[job->n[STATISTICS]];
    made = made ? made : (const unsigned char *)call->workspace + job->n[SPARE];
    const float *mean = (const float *)made, *variance = (const float *)(made + job->n[VARIANCE_AT]);
    float *running = (float *)((unsigned char *)call->fixed + job->n[RUNNING]);
    for (uint64_t c = 0; c < job->n[CHANNELS]; c++) {
        running[2 * c] = SLOWNESS * running[2 * c] + (1 - SLOWNESS) * mean[c];
        running[2 * c + 1] = SLOWNESS * running[2 * c + 1] + (1 - SLOWNESS) * variance[c];
    }
    return PB_OK;
}

static void batch_norm_back(pbi_train *t, const pbi_op *op)
{
    const pbi_tensor_row *x = &t->tensor[op->in[0]];
    pbi_param *p = &t->param[op->param];
    pb_node dy = t->tensor[op->out].grad;
    uint64_t channels = (uint64_t)x->md.dims[1], bytes = 2 * channels * sizeof(float);
    dnnl_memory_desc_t stat = pbi_md_vector(channels), scale = pbi_md_rows(2, channels);
    dnnl_batch_normalization_desc_t desc;
    pbi_dnn_good(
        t,
        dnnl_batch_normalization_backward_desc_init(&desc, dnnl_backward, &x->md, &x->md, EPSILON, dnnl_use_scaleshift),
        "a normalisation back");
    dnnl_primitive_desc_t pd = pbi_dnn_pd(t, &desc, op->pd);
    pbi_making m = pbi_making_begin(t, op->name, ".dx", x->bytes, op->cost);
    pbi_making_does(&m, "norm.dx", 14 * x->count); /* and the gradients of gain and bias */
    pbi_making_reads(t, &m, x->node);
    pbi_making_reads(t, &m, op->side);
    pbi_making_reads(t, &m, dy);
    pbi_making_over(&m, dy);
    pbi_place grad = pbi_at_value(m.node + 1), variance = pbi_at_value(op->side);
    grad.spare = pbi_making_work(&m, bytes);
    variance.offset = channels * sizeof(float);
    pbi_dnn *d = pbi_making_call(t, &m, pd);
    pbi_dnn_arg(t, d, DNNL_ARG_SRC, &x->md, pbi_at_value(x->node));
    pbi_dnn_arg(t, d, DNNL_ARG_MEAN, &stat, pbi_at_value(op->side));
    pbi_dnn_arg(t, d, DNNL_ARG_VARIANCE, &stat, variance);
    pbi_dnn_arg(t, d, DNNL_ARG_SCALE_SHIFT, &scale, pbi_at_fixed(p->at));
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_DST, &x->md, pbi_at_value(dy));
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_SRC, &x->md, pbi_at_value(m.node));
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_SCALE_SHIFT, &scale, grad);
    pb_node dx = pbi_making_end(t, &m);
    p->grad = pbi_net_byproduct(t, dx, op->name, ".dw", bytes, PB_NODE_KEEP);
    pbi_net_add_grad(t, op->in[0], dx);
}

pbi_tensor pbi_net_batch_norm(pbi_train *t, const char *name, pbi_tensor x)
{
    if (t->status != PB_OK)
        return 0;
    dnnl_memory_desc_t md = t->tensor[x].md;
    uint64_t channels = (uint64_t)md.dims[1], variance_at = channels * sizeof(float);
    dnnl_memory_desc_t stat = pbi_md_vector(channels), scale = pbi_md_rows(2, channels);
    dnnl_batch_normalization_desc_t desc;
    pbi_dnn_good(
        t, dnnl_batch_normalization_forward_desc_init(&desc, dnnl_forward_training, &md, EPSILON, dnnl_use_scaleshift),
        "a normalisation");
    dnnl_primitive_desc_t pd = pbi_dnn_pd(t, &desc, NULL);
    uint32_t param = pbi_net_param(t, 2 * channels, channels, 0);
    uint64_t running = pbi_net_fixed(t, 2 * channels * sizeof(float)), cost = PBI_FLOP_NORM * t->tensor[x].count;
    if (t->status != PB_OK)
        return 0;
    pbi_making m = pbi_making_begin(t, name, "", t->tensor[x].bytes, cost);
    pbi_making_does(&m, "norm", 7 * t->tensor[x].count);
    pbi_making_reads(t, &m, t->tensor[x].node);
    pbi_place mean = pbi_at_value(m.node + 1), variance = mean;
    mean.spare = pbi_making_work(&m, 2 * variance_at);
    variance.offset = variance_at;
    variance.spare = mean.spare + variance_at;
    pbi_dnn *d = pbi_making_call(t, &m, pd);
    pbi_dnn_arg(t, d, DNNL_ARG_SRC, &md, pbi_at_value(t->tensor[x].node));
    pbi_dnn_arg(t, d, DNNL_ARG_SCALE_SHIFT, &scale, pbi_at_fixed(t->param[param].at));
    pbi_dnn_arg(t, d, DNNL_ARG_MEAN, &stat, mean);
    pbi_dnn_arg(t, d, DNNL_ARG_VARIANCE, &stat, variance);
    pbi_dnn_arg(t, d, DNNL_ARG_DST, &md, pbi_at_value(m.node));
    memcpy(m.job->n, (const uint64_t[]){channels, variance_at, mean.spare, m.node + 1, running}, 5 * sizeof(uint64_t));
    m.job->loop = run_statistics;
    pb_node v = pbi_making_end(t, &m);
    pb_node side = pbi_net_byproduct(t, v, name, ".stats", 2 * variance_at, 0);
    pbi_tensor y = pbi_net_tensor(t, name, v, &md, true);
    pbi_op *op = pbi_net_op(t, name, y, batch_norm_back);
    op->in[0] = x;
    op->side = side;
    op->param = param;
    op->pd = pd;
    op->cost = cost;
    return y;
}

/* ---- pooling: 2 x 2 maxima with their places, or the mean of all ---- */

static void pool_dims(const pbi_op *op, dnnl_dims_t size, dnnl_dims_t none)
{
    size[0] = size[1] = (int64_t)op->n[0];
    none[0] = none[1] = 0;
}

static void pool_back(pbi_train *t, const pbi_op *op)
{
    const pbi_tensor_row *x = &t->tensor[op->in[0]], *y = &t->tensor[op->out];
    bool mean = op->side == PB_NO_NODE;
    dnnl_dims_t size, none;
    pool_dims(op, size, none);
    dnnl_pooling_desc_t desc;
    pbi_dnn_good(t,
                 dnnl_pooling_backward_desc_init(&desc, mean ? dnnl_pooling_avg_exclude_padding : dnnl_pooling_max,
                                                 &x->md, &y->md, size, size, none, none),
                 "pooling back");
    pbi_making m = pbi_making_begin(t, op->name, ".dx", x->bytes, op->cost);
    pbi_making_does(&m, "pool.dx", x->count);
    pbi_making_reads(t, &m, y->grad);
    pbi_dnn *d = pbi_making_call(t, &m, pbi_dnn_pd(t, &desc, op->pd));
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_DST, &y->md, pbi_at_value(y->grad));
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_SRC, &x->md, pbi_at_value(m.node));
    if (!mean) {
        dnnl_memory_desc_t places = pbi_dnn_md(op->pd, dnnl_query_workspace_md);
        pbi_making_reads(t, &m, op->side);
        pbi_dnn_arg(t, d, DNNL_ARG_WORKSPACE, &places, pbi_at_value(op->side));
    }
    pbi_net_add_grad(t, op->in[0], pbi_making_end(t, &m));
}

static pbi_tensor pool(pbi_train *t, const char *name, pbi_tensor x, uint64_t size, dnnl_alg_kind_t kind)
{
    if (t->status != PB_OK)
        return 0;
    dnnl_memory_desc_t in = t->tensor[x].md;
    dnnl_memory_desc_t out = pbi_md_image((uint64_t)in.dims[0], (uint64_t)in.dims[1], (uint64_t)in.dims[2] / size,
                                          (uint64_t)in.dims[3] / size, dnnl_format_tag_any);
    dnnl_dims_t window, none;
    pool_dims(&(pbi_op){.n = {size}}, window, none);
    dnnl_pooling_desc_t desc;
    pbi_dnn_good(
        t, dnnl_pooling_forward_desc_init(&desc, dnnl_forward_training, kind, &in, &out, window, window, none, none),
        "pooling");
    dnnl_primitive_desc_t pd = pbi_dnn_pd(t, &desc, NULL);
    if (t->status != PB_OK)
        return 0;
    out = pbi_dnn_md(pd, dnnl_query_dst_md);
    bool mean = kind != dnnl_pooling_max;
    dnnl_memory_desc_t places = pbi_dnn_md(pd, dnnl_query_workspace_md);
    uint64_t cost = PBI_FLOP_POOL * t->tensor[x].count, place_bytes = mean ? 0 : dnnl_memory_desc_get_size(&places);
    pbi_making m = pbi_making_begin(t, name, "", dnnl_memory_desc_get_size(&out), cost);
    pbi_making_does(&m, "pool", t->tensor[x].count);
    pbi_making_reads(t, &m, t->tensor[x].node);
    pbi_dnn *d = pbi_making_call(t, &m, pd);
    pbi_dnn_arg(t, d, DNNL_ARG_SRC, &in, pbi_at_value(t->tensor[x].node));
    pbi_dnn_arg(t, d, DNNL_ARG_DST, &out, pbi_at_value(m.node));
    if (!mean) {
        pbi_place side = pbi_at_value(m.node + 1);
        side.spare = pbi_making_work(&m, place_bytes);
        pbi_dnn_arg(t, d, DNNL_ARG_WORKSPACE, &places, side);
    }
    pb_node v = pbi_making_end(t, &m);
    pb_node side = mean ? PB_NO_NODE : pbi_net_byproduct(t, v, name, ".places", place_bytes, 0);
    pbi_tensor y = pbi_net_tensor(t, name, v, &out, t->tensor[x].learns);
    pbi_op *op = pbi_net_op(t, name, y, pool_back);
    op->in[0] = x;
    op->n[0] = size;
    op->side = side;
    op->pd = pd;
    op->cost = cost;
    return y;
}

pbi_tensor pbi_net_max_pool(pbi_train *t, const char *name, pbi_tensor x)
{
    return pool(t, name, x, 2, dnnl_pooling_max);
}

pbi_tensor pbi_net_mean_pool(pbi_train *t, const char *name, pbi_tensor x)
{
    uint64_t size = t->status == PB_OK ? (uint64_t)t->tensor[x].md.dims[2] : 1;
    return pool(t, name, x, size, dnnl_pooling_avg_exclude_padding);
}

/* ---- concatenation: in layouts with channels outside, the channels of an image are contiguous; with channels
 * inside, those of a pixel are ---- */

enum { RUNS, FIRST, SECOND };

static pb_status run_concat(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    const unsigned char *a = call->value[job->in[0]], *b = call->value[job->in[1]];
    unsigned char *y = call->value[call->node];
    uint64_t first = job->n[FIRST], second = job->n[SECOND];
    for (uint64_t i = 0; i < job->n[RUNS]; i++) {
        memcpy(y + i * (first + second), a + i * first, first);
        memcpy(y + i * (first + second) + first, b + i * second, second);
    }
    return PB_OK;
}

/* n: runs, bytes before it, of it and after it in each. */
static pb_status run_slice(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    const unsigned char *from = call->value[job->in[0]];
    unsigned char *to = call->value[call->node];
    uint64_t all = job->n[1] + job->n[2] + job->n[3];
    for (uint64_t i = 0; i < job->n[0]; i++)
        memcpy(to + i * job->n[2], from + i * all + job->n[1], job->n[2]);
    return PB_OK;
}

static void slice_back(pbi_train *t, const pbi_op *op, int which)
{
    const pbi_tensor_row *x = &t->tensor[op->in[which]];
    pb_node dy = t->tensor[op->out].grad;
    uint64_t floats = x->bytes / sizeof(float);
    pbi_making m = pbi_making_begin(t, op->name, which ? ".dx1" : ".dx0", x->bytes, PBI_FLOP_MOVE * floats);
    pbi_making_reads(t, &m, dy);
    m.job->n[0] = op->n[RUNS];
    m.job->n[1] = which ? op->n[FIRST] : 0;
    m.job->n[2] = which ? op->n[SECOND] : op->n[FIRST];
    m.job->n[3] = which ? 0 : op->n[SECOND];
    m.job->loop = run_slice;
    pbi_making_does(&m, "copy", 0);
    m.slices = true;
    pbi_net_add_grad(t, op->in[which], pbi_making_end(t, &m));
}

static void concat_back(pbi_train *t, const pbi_op *op)
{
    slice_back(t, op, 0);
    slice_back(t, op, 1);
}

/* The layout's tag, if the channels of an image or of a pixel are contiguous, in order and without gaps. */
static dnnl_format_tag_t run_tag(const dnnl_memory_desc_t *md)
{
    static const dnnl_format_tag_t tags[] = {dnnl_nChw16c, dnnl_nChw8c, dnnl_nChw4c, dnnl_nchw, dnnl_nhwc};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        dnnl_memory_desc_t same;
        if (dnnl_memory_desc_init_by_tag(&same, 4, md->dims, dnnl_f32, tags[i]) == dnnl_success &&
            dnnl_memory_desc_equal(&same, md) && same.padded_dims[1] == same.dims[1])
            return tags[i];
    }
    return dnnl_format_tag_undef;
}

/* The library chooses layouts for the processor, and may choose different ones for the two. */
static dnnl_format_tag_t common_tag(const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b)
{
    dnnl_format_tag_t tag = run_tag(a);
    if (tag == dnnl_format_tag_undef)
        return dnnl_nhwc;
    dnnl_memory_desc_t other;
    dnnl_memory_desc_init_by_tag(&other, 4, b->dims, dnnl_f32, tag);
    return other.padded_dims[1] == other.dims[1] ? tag : dnnl_nhwc;
}

static pbi_tensor in_layout(pbi_train *t, const char *name, uint64_t which, pbi_tensor x, dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t md;
    dnnl_memory_desc_init_by_tag(&md, 4, t->tensor[x].md.dims, dnnl_f32, tag);
    return pbi_net_reorder(t, pbi_net_text(t, name, which), x, &md);
}

pbi_tensor pbi_net_concat(pbi_train *t, const char *name, pbi_tensor a, pbi_tensor b)
{
    if (t->status != PB_OK)
        return 0;
    dnnl_format_tag_t tag = common_tag(&t->tensor[a].md, &t->tensor[b].md);
    a = in_layout(t, name, 0, a, tag);
    b = in_layout(t, name, 1, b, tag);
    if (t->status != PB_OK)
        return 0;
    const int64_t *dims = t->tensor[a].md.dims;
    uint64_t n = (uint64_t)dims[0], height = (uint64_t)dims[2], width = (uint64_t)dims[3];
    dnnl_memory_desc_t out = pbi_md_image(n, (uint64_t)(dims[1] + t->tensor[b].md.dims[1]), height, width, tag);
    uint64_t runs = tag == dnnl_nhwc ? n * height * width : n;
    uint64_t first = t->tensor[a].bytes / runs, second = t->tensor[b].bytes / runs, bytes = runs * (first + second);
    pbi_making m = pbi_making_begin(t, name, "", bytes, PBI_FLOP_MOVE * bytes / sizeof(float));
    pbi_making_reads(t, &m, t->tensor[a].node);
    pbi_making_reads(t, &m, t->tensor[b].node);
    memcpy(m.job->n, (const uint64_t[]){runs, first, second}, 3 * sizeof(uint64_t));
    m.job->loop = run_concat;
    pbi_making_does(&m, "copy", 0);
    pbi_tensor y = pbi_net_tensor(t, name, pbi_making_end(t, &m), &out, true);
    pbi_op *op = pbi_net_op(t, name, y, concat_back);
    op->in[0] = a;
    op->in[1] = b;
    memcpy(op->n, (const uint64_t[]){runs, first, second}, 3 * sizeof(uint64_t));
    return y;
}
