/* train_conv.c -- see train.h: convolutions, forward and transposed.
 *
 * The library chooses the layouts (format_tag_any): those of the forward call become the layouts of values and
 * weights; if another call prefers a different layout, it reorders in its workspace. Gradients of weights have the
 * layout of the weights.
 */
#include "workloads/train.h"

#include <math.h>

enum { KERNEL, STRIDE, BEFORE, BEHIND, UP }; /* numbers of an operation */

typedef struct window {
    dnnl_dims_t stride, before, behind;
} window;

static window window_of(const uint64_t *n)
{
    int64_t s = (int64_t)n[STRIDE], b = (int64_t)n[BEFORE], e = (int64_t)n[BEHIND];
    return (window){{s, s}, {b, b}, {e, e}};
}

static dnnl_memory_desc_t any_layout(const dnnl_memory_desc_t *like)
{
    dnnl_memory_desc_t md = {0};
    dnnl_memory_desc_init_by_tag(&md, like->ndims, like->dims, dnnl_f32, dnnl_format_tag_any);
    return md;
}

static dnnl_primitive_desc_t forward_pd(pbi_train *t, const uint64_t *n, const dnnl_memory_desc_t *x,
                                        const dnnl_memory_desc_t *w, const dnnl_memory_desc_t *y)
{
    window at = window_of(n);
    dnnl_convolution_desc_t desc; /* transposed ones have the same type */
    dnnl_status_t status =
        n[UP] ? dnnl_deconvolution_forward_desc_init(&desc, dnnl_forward_training, dnnl_deconvolution_direct, x, w,
                                                     NULL, y, at.stride, at.before, at.behind)
              : dnnl_convolution_forward_desc_init(&desc, dnnl_forward_training, dnnl_convolution_direct, x, w, NULL, y,
                                                   at.stride, at.before, at.behind);
    return pbi_dnn_good(t, status, "a convolution") ? pbi_dnn_pd(t, &desc, NULL) : NULL;
}

static dnnl_primitive_desc_t data_pd(pbi_train *t, const pbi_op *op, const dnnl_memory_desc_t *x,
                                     const dnnl_memory_desc_t *w, const dnnl_memory_desc_t *y)
{
    window at = window_of(op->n);
    dnnl_convolution_desc_t desc;
    dnnl_status_t status = op->n[UP] ? dnnl_deconvolution_backward_data_desc_init(&desc, dnnl_deconvolution_direct, x,
                                                                                  w, y, at.stride, at.before, at.behind)
                                     : dnnl_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, x, w, y,
                                                                                at.stride, at.before, at.behind);
    return pbi_dnn_good(t, status, "a convolution back to its input") ? pbi_dnn_pd(t, &desc, op->pd) : NULL;
}

static dnnl_primitive_desc_t weights_pd(pbi_train *t, const pbi_op *op, const dnnl_memory_desc_t *x,
                                        const dnnl_memory_desc_t *w, const dnnl_memory_desc_t *y)
{
    window at = window_of(op->n);
    dnnl_convolution_desc_t desc;
    dnnl_status_t status = op->n[UP]
                               ? dnnl_deconvolution_backward_weights_desc_init(&desc, dnnl_deconvolution_direct, x, w,
                                                                               NULL, y, at.stride, at.before, at.behind)
                               : dnnl_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, x, w, NULL,
                                                                             y, at.stride, at.before, at.behind);
    return pbi_dnn_good(t, status, "a convolution back to its weights") ? pbi_dnn_pd(t, &desc, op->pd) : NULL;
}

static void weights_back(pbi_train *t, const pbi_op *op, const dnnl_memory_desc_t *w)
{
    pbi_param *p = &t->param[op->param];
    const pbi_tensor_row *x = &t->tensor[op->in[0]], *y = &t->tensor[op->out];
    dnnl_memory_desc_t any = any_layout(w);
    dnnl_primitive_desc_t pd = weights_pd(t, op, &x->md, &any, &y->md);
    dnnl_memory_desc_t made = pbi_dnn_md(pd, dnnl_query_diff_weights_md);
    bool same = dnnl_memory_desc_equal(&made, w);
    pbi_making m = pbi_making_begin(t, op->name, ".dw", p->count * sizeof(float), op->cost);
    m.flags = PB_NODE_KEEP;
    pbi_making_does(&m, "conv.dw", op->cost);
    pbi_making_reads(t, &m, x->node);
    pbi_making_reads(t, &m, y->grad);
    pbi_place to = same ? pbi_at_value(m.node) : pbi_at_work(pbi_making_work(&m, dnnl_memory_desc_get_size(&made)));
    pbi_dnn *d = pbi_making_call(t, &m, pd);
    pbi_dnn_arg(t, d, DNNL_ARG_SRC, &x->md, pbi_at_value(x->node));
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_DST, &y->md, pbi_at_value(y->grad));
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_WEIGHTS, &made, to);
    if (!same) {
        d = pbi_making_call(t, &m, pbi_dnn_reorder(t, &made, w));
        pbi_dnn_arg(t, d, DNNL_ARG_FROM, &made, to);
        pbi_dnn_arg(t, d, DNNL_ARG_TO, w, pbi_at_value(m.node));
    }
    p->grad = pbi_making_end(t, &m);
}

static void data_back(pbi_train *t, const pbi_op *op, const dnnl_memory_desc_t *w)
{
    const pbi_tensor_row *x = &t->tensor[op->in[0]], *y = &t->tensor[op->out];
    dnnl_memory_desc_t any = any_layout(w);
    dnnl_primitive_desc_t pd = data_pd(t, op, &x->md, &any, &y->md);
    dnnl_memory_desc_t liked = pbi_dnn_md(pd, dnnl_query_weights_md);
    pbi_making m = pbi_making_begin(t, op->name, ".dx", x->bytes, op->cost);
    pbi_making_does(&m, "conv.dx", op->cost);
    pbi_making_reads(t, &m, y->grad);
    pbi_place from = pbi_at_fixed(t->param[op->param].at);
    if (!dnnl_memory_desc_equal(&liked, w)) {
        pbi_place work = pbi_at_work(pbi_making_work(&m, dnnl_memory_desc_get_size(&liked)));
        pbi_dnn *d = pbi_making_call(t, &m, pbi_dnn_reorder(t, w, &liked));
        pbi_dnn_arg(t, d, DNNL_ARG_FROM, w, from);
        pbi_dnn_arg(t, d, DNNL_ARG_TO, &liked, work);
        from = work;
    }
    pbi_dnn *d = pbi_making_call(t, &m, pd);
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_DST, &y->md, pbi_at_value(y->grad));
    pbi_dnn_arg(t, d, DNNL_ARG_WEIGHTS, &liked, from);
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_SRC, &x->md, pbi_at_value(m.node));
    pbi_net_add_grad(t, op->in[0], pbi_making_end(t, &m));
}

static void conv_back(pbi_train *t, const pbi_op *op)
{
    dnnl_memory_desc_t w = pbi_dnn_md(op->pd, dnnl_query_weights_md);
    weights_back(t, op, &w);
    if (t->tensor[op->in[0]].learns)
        data_back(t, op, &w);
}

static pbi_tensor convolve(pbi_train *t, const char *name, pbi_tensor x, const dnnl_memory_desc_t *out,
                           const uint64_t *n)
{
    const dnnl_memory_desc_t in = t->tensor[x].md;
    uint64_t k = n[KERNEL], fan = (uint64_t)in.dims[1] * (n[UP] ? 1 : k * k);
    dnnl_memory_desc_t any_in = any_layout(&in), any_w = {0};
    dnnl_memory_desc_init_by_tag(&any_w, 4, (const dnnl_dims_t){out->dims[1], in.dims[1], (int64_t)k, (int64_t)k},
                                 dnnl_f32, dnnl_format_tag_any);
    dnnl_primitive_desc_t pd = forward_pd(t, n, &any_in, &any_w, out);
    dnnl_memory_desc_t liked = pbi_dnn_md(pd, dnnl_query_src_md), w = pbi_dnn_md(pd, dnnl_query_weights_md),
                       y = pbi_dnn_md(pd, dnnl_query_dst_md);
    if (t->status != PB_OK)
        return 0;
    x = pbi_net_reorder(t, pbi_net_text(t, name, 0), x, &liked);
    uint64_t floats = dnnl_memory_desc_get_size(&w) / sizeof(float);
    uint32_t param = pbi_net_param(t, floats, floats, sqrtf(2.0f / (float)fan));
    /* Each number of the smaller side (transposed: of the input) meets each weight once. */
    const int64_t *side = n[UP] ? in.dims : y.dims;
    uint64_t cost = 2 * (uint64_t)(in.dims[0] * in.dims[1] * y.dims[1] * side[2] * side[3]) * k * k;
    if (t->status != PB_OK)
        return 0;
    pbi_making m = pbi_making_begin(t, name, "", dnnl_memory_desc_get_size(&y), cost);
    pbi_making_does(&m, "conv", cost);
    pbi_making_reads(t, &m, t->tensor[x].node);
    pbi_dnn *d = pbi_making_call(t, &m, pd);
    pbi_dnn_arg(t, d, DNNL_ARG_SRC, &liked, pbi_at_value(t->tensor[x].node));
    pbi_dnn_arg(t, d, DNNL_ARG_WEIGHTS, &w, pbi_at_fixed(t->param[param].at));
    pbi_dnn_arg(t, d, DNNL_ARG_DST, &y, pbi_at_value(m.node));
    pbi_tensor made = pbi_net_tensor(t, name, pbi_making_end(t, &m), &y, true);
    pbi_op *op = pbi_net_op(t, name, made, conv_back);
    op->in[0] = x;
    op->param = param;
    op->pd = pd;
    op->cost = cost;
    for (int i = 0; i <= UP; i++)
        op->n[i] = n[i];
    return made;
}

pbi_tensor pbi_net_conv(pbi_train *t, const char *name, pbi_tensor x, uint64_t channels, uint64_t kernel,
                        uint64_t stride)
{
    if (t->status != PB_OK)
        return 0;
    const int64_t *dims = t->tensor[x].md.dims;
    uint64_t in = (uint64_t)dims[2], out = (in + stride - 1) / stride, before = (kernel - 1) / 2;
    uint64_t reach = (out - 1) * stride + kernel, behind = reach > in + before ? reach - in - before : 0;
    dnnl_memory_desc_t md = pbi_md_image((uint64_t)dims[0], channels, out, out, dnnl_format_tag_any);
    return convolve(t, name, x, &md, (const uint64_t[]){kernel, stride, before, behind, 0});
}

pbi_tensor pbi_net_conv_up(pbi_train *t, const char *name, pbi_tensor x, uint64_t channels)
{
    if (t->status != PB_OK)
        return 0;
    const int64_t *dims = t->tensor[x].md.dims;
    dnnl_memory_desc_t md =
        pbi_md_image((uint64_t)dims[0], channels, 2 * (uint64_t)dims[2], 2 * (uint64_t)dims[3], dnnl_format_tag_any);
    return convolve(t, name, x, &md, (const uint64_t[]){2, 2, 0, 0, 1});
}
