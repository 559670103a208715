/* train_ops.c -- see train.h: operations on tensors of any shape, and the loss. */
#include "workloads/train.h"

static uint64_t floats_of(const pbi_train *t, pbi_tensor x) { return t->tensor[x].bytes / sizeof(float); }

/* A tensor like x, computed from it by a loop. */
static pbi_making begin_like(pbi_train *t, const char *name, const char *suffix, pbi_tensor x)
{
    uint64_t floats = floats_of(t, x);
    pbi_making m = pbi_making_begin(t, name, suffix, t->tensor[x].bytes, PBI_FLOP_MOVE * floats);
    m.job->n[0] = floats;
    pbi_making_does(&m, "elementwise", floats);
    return m;
}

static pbi_tensor end_like(pbi_train *t, pbi_making *m, pbi_tensor x)
{
    pb_node v = pbi_making_end(t, m);
    dnnl_memory_desc_t md = t->tensor[x].md;
    return pbi_net_tensor(t, m->name, v, &md, t->tensor[x].learns);
}

/* ---- rectified: the gradient reads the output, so the input may be overwritten ---- */

static pb_status run_relu(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    pbi_loop_relu(call->value[job->in[0]], call->value[call->node], job->n[0]);
    return PB_OK;
}

static pb_status run_relu_back(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    pbi_loop_relu_back(call->value[job->in[0]], call->value[job->in[1]], call->value[call->node], job->n[0]);
    return PB_OK;
}

static void relu_back(pbi_train *t, const pbi_op *op)
{
    pbi_making m = begin_like(t, op->name, ".dx", op->out);
    pbi_making_reads(t, &m, t->tensor[op->out].node);
    pbi_making_reads(t, &m, t->tensor[op->out].grad);
    pbi_making_over(&m, t->tensor[op->out].grad);
    m.job->loop = run_relu_back;
    pbi_net_add_grad(t, op->in[0], pbi_making_end(t, &m));
}

pbi_tensor pbi_net_relu(pbi_train *t, const char *name, pbi_tensor x)
{
    if (t->status != PB_OK)
        return 0;
    pbi_making m = begin_like(t, name, "", x);
    pbi_making_reads(t, &m, t->tensor[x].node);
    pbi_making_over(&m, t->tensor[x].node);
    m.job->loop = run_relu;
    pbi_tensor y = end_like(t, &m, x);
    pbi_net_op(t, name, y, relu_back)->in[0] = x;
    return y;
}

/* ---- sums: the gradient is that of the output, without a node ---- */

static pb_status run_add(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    pbi_loop_add(call->value[job->in[0]], call->value[job->in[1]], call->value[call->node], job->n[0]);
    return PB_OK;
}

static void add_back(pbi_train *t, const pbi_op *op)
{
    pbi_net_add_grad(t, op->in[0], t->tensor[op->out].grad);
    pbi_net_add_grad(t, op->in[1], t->tensor[op->out].grad);
}

pbi_tensor pbi_net_add(pbi_train *t, const char *name, pbi_tensor a, pbi_tensor b)
{
    if (t->status == PB_OK && !dnnl_memory_desc_equal(&t->tensor[a].md, &t->tensor[b].md))
        b = pbi_net_reorder(t, pbi_net_text(t, name, 0), b, &t->tensor[a].md);
    if (t->status != PB_OK)
        return 0;
    pbi_making m = begin_like(t, name, "", a);
    pbi_making_reads(t, &m, t->tensor[a].node);
    pbi_making_reads(t, &m, t->tensor[b].node);
    pbi_making_over(&m, t->tensor[a].node);
    pbi_making_over(&m, t->tensor[b].node);
    m.job->loop = run_add;
    pbi_tensor y = end_like(t, &m, a);
    pbi_op *op = pbi_net_op(t, name, y, add_back);
    op->in[0] = a;
    op->in[1] = b;
    return y;
}

/* ---- dropout: forward and backward pass read the seed and draw the same mask ---- */

static pb_status run_dropout(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    const uint64_t *seed = call->value[job->in[1]];
    pbi_mask mask = {.seed = seed[0], .step = seed[1], .layer = job->n[1], .rate = job->f};
    pbi_loop_dropout(&mask, call->value[job->in[0]], call->value[call->node], job->n[0]);
    return PB_OK;
}

static pbi_making begin_dropout(pbi_train *t, const char *name, const char *suffix, pbi_tensor x, pb_node from,
                                uint64_t layer)
{
    pbi_making m = begin_like(t, name, suffix, x);
    pbi_making_reads(t, &m, from);
    pbi_making_reads(t, &m, t->seed_node);
    pbi_making_over(&m, from);
    m.cost = PBI_FLOP_DROPOUT * m.job->n[0];
    pbi_making_does(&m, "dropout", 9 * m.job->n[0]); /* eight for the draw */
    m.job->n[1] = layer;
    m.job->f = t->options.dropout;
    m.job->loop = run_dropout;
    return m;
}

static void dropout_back(pbi_train *t, const pbi_op *op)
{
    pbi_making m = begin_dropout(t, op->name, ".dx", op->out, t->tensor[op->out].grad, op->n[0]);
    pbi_net_add_grad(t, op->in[0], pbi_making_end(t, &m));
}

pbi_tensor pbi_net_dropout(pbi_train *t, const char *name, pbi_tensor x)
{
    if (t->status != PB_OK || t->options.dropout <= 0)
        return x;
    pbi_making m = begin_dropout(t, name, "", x, t->tensor[x].node, t->dropouts);
    pbi_tensor y = end_like(t, &m, x);
    pbi_op *op = pbi_net_op(t, name, y, dropout_back);
    op->in[0] = x;
    op->n[0] = t->dropouts++;
    return y;
}

/* ---- GELU ---- */

static void gelu_back(pbi_train *t, const pbi_op *op)
{
    const pbi_tensor_row *x = &t->tensor[op->in[0]];
    dnnl_eltwise_desc_t desc;
    pbi_dnn_good(t, dnnl_eltwise_backward_desc_init(&desc, dnnl_eltwise_gelu_erf, &x->md, &x->md, 0, 0), "gelu");
    pbi_making m = begin_like(t, op->name, ".dx", op->out);
    pb_node dy = t->tensor[op->out].grad;
    m.cost = PBI_FLOP_GELU * m.job->n[0];
    pbi_making_does(&m, "math", 14 * m.job->n[0]);
    pbi_making_reads(t, &m, x->node);
    pbi_making_reads(t, &m, dy);
    pbi_making_over(&m, dy);
    pbi_dnn *d = pbi_making_call(t, &m, pbi_dnn_pd(t, &desc, op->pd));
    pbi_dnn_arg(t, d, DNNL_ARG_SRC, &x->md, pbi_at_value(x->node));
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_DST, &x->md, pbi_at_value(dy));
    pbi_dnn_arg(t, d, DNNL_ARG_DIFF_SRC, &x->md, pbi_at_value(m.node));
    pbi_net_add_grad(t, op->in[0], pbi_making_end(t, &m));
}

pbi_tensor pbi_net_gelu(pbi_train *t, const char *name, pbi_tensor x)
{
    if (t->status != PB_OK)
        return 0;
    dnnl_memory_desc_t md = t->tensor[x].md;
    dnnl_eltwise_desc_t desc;
    pbi_dnn_good(t, dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_training, dnnl_eltwise_gelu_erf, &md, 0, 0),
                 "gelu");
    dnnl_primitive_desc_t pd = pbi_dnn_pd(t, &desc, NULL);
    pbi_making m = begin_like(t, name, "", x);
    m.cost = PBI_FLOP_GELU * m.job->n[0];
    pbi_making_does(&m, "math", 10 * m.job->n[0]);
    pbi_making_reads(t, &m, t->tensor[x].node);
    pbi_dnn *d = pbi_making_call(t, &m, pd);
    pbi_dnn_arg(t, d, DNNL_ARG_SRC, &md, pbi_at_value(t->tensor[x].node));
    pbi_dnn_arg(t, d, DNNL_ARG_DST, &md, pbi_at_value(m.node));
    pbi_tensor y = end_like(t, &m, x);
    pbi_op *op = pbi_net_op(t, name, y, gelu_back);
    op->in[0] = x;
    op->pd = pd;
    return y;
}

/* ---- another layout ---- */

static pb_node reordered(pbi_train *t, const char *name, const char *suffix, pb_node from,
                         const dnnl_memory_desc_t *from_md, const dnnl_memory_desc_t *to_md)
{
    uint64_t bytes = dnnl_memory_desc_get_size(to_md);
    pbi_making m = pbi_making_begin(t, name, suffix, bytes, PBI_FLOP_MOVE * (bytes / sizeof(float)));
    pbi_making_reads(t, &m, from);
    pbi_making_does(&m, "copy", 0);
    pbi_dnn *d = pbi_making_call(t, &m, pbi_dnn_reorder(t, from_md, to_md));
    pbi_dnn_arg(t, d, DNNL_ARG_FROM, from_md, pbi_at_value(from));
    pbi_dnn_arg(t, d, DNNL_ARG_TO, to_md, pbi_at_value(m.node));
    return pbi_making_end(t, &m);
}

static void reorder_back(pbi_train *t, const pbi_op *op)
{
    dnnl_memory_desc_t from = t->tensor[op->out].md, to = t->tensor[op->in[0]].md;
    pbi_net_add_grad(t, op->in[0], reordered(t, op->name, ".dx", t->tensor[op->out].grad, &from, &to));
}

pbi_tensor pbi_net_reorder(pbi_train *t, const char *name, pbi_tensor x, const dnnl_memory_desc_t *md)
{
    if (t->status != PB_OK || dnnl_memory_desc_equal(&t->tensor[x].md, md))
        return x;
    dnnl_memory_desc_t from = t->tensor[x].md, to = *md;
    pb_node v = reordered(t, name, "", t->tensor[x].node, &from, &to);
    pbi_tensor y = pbi_net_tensor(t, name, v, &to, t->status == PB_OK && t->tensor[x].learns);
    pbi_op *op = pbi_net_op(t, name, y, reorder_back);
    op->in[0] = x;
    if (t->status == PB_OK && !t->tensor[x].learns)
        t->op_count--; /* its gradient is never needed */
    return y;
}

/* ---- the loss ---- */

static pb_status run_loss(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    double *out = call->value[call->node];
    *out = pbi_loop_loss(call->value[job->in[0]], call->value[job->in[1]], job->n[0], job->n[1]);
    return PB_OK;
}

static pb_status run_loss_back(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    pbi_loop_loss_back(call->value[job->in[0]], call->value[job->in[1]], call->value[call->node], job->n[0], job->n[1]);
    return PB_OK;
}

static pb_node loss_node(pbi_train *t, pbi_tensor logits, const char *suffix, uint64_t bytes, pbi_loop loop,
                         const uint64_t shape[2])
{
    pbi_making m = pbi_making_begin(t, "loss", suffix, bytes, PBI_FLOP_LOSS * shape[0] * shape[1]);
    pbi_making_reads(t, &m, t->tensor[logits].node);
    pbi_making_reads(t, &m, t->label_node);
    m.job->loop = loop;
    m.job->n[0] = shape[0];
    m.job->n[1] = shape[1];
    if (loop == run_loss) {
        m.flags = PB_NODE_KEEP;
        pbi_making_does(&m, "loss", 5 * shape[0] * shape[1]);
    } else {
        pbi_making_over(&m, t->tensor[logits].node);
        pbi_making_does(&m, "loss.dx", 3 * shape[0] * shape[1]);
    }
    return pbi_making_end(t, &m);
}

/* The backward pass starts here: the gradient needs the logits and not the loss. */
void pbi_net_loss(pbi_train *t, pbi_tensor logits, uint64_t rows, uint64_t classes)
{
    if (t->status != PB_OK)
        return;
    const uint64_t shape[2] = {rows, classes};
    t->loss_node = loss_node(t, logits, "", sizeof(double), run_loss, shape);
    pb_node dx = loss_node(t, logits, ".dx", rows * classes * sizeof(float), run_loss_back, shape);
    pbi_net_add_grad(t, logits, dx);
}
