/* train_text.c -- see train.h: operations on rows: tokens, linear layers, normalisation, attention with all its
 * values. */
#include "workloads/train.h"

#include <math.h>
#include <string.h>

#define EPSILON 1e-5f

/* ---- linear: y = x W + b; parameters are W by rows, then b ---- */

enum { ROWS, INPUTS, OUTPUTS };

static float *fixed_floats(const pb_call *call, uint64_t at) { return (float *)((unsigned char *)call->fixed + at); }

static pb_status run_linear(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    uint64_t rows = job->n[ROWS], inputs = job->n[INPUTS], outputs = job->n[OUTPUTS];
    const float *w = fixed_floats(call, job->at), *bias = w + inputs * outputs;
    float *y = call->value[call->node];
    for (uint64_t r = 0; r < rows; r++)
        memcpy(y + r * outputs, bias, outputs * sizeof *y);
    pbi_product p = {.rows = rows, .columns = outputs, .inner = inputs, .scale = 1, .add = true};
    return pbi_multiply(t, &p, (pbi_matrix){call->value[job->in[0]], inputs, false}, (pbi_matrix){w, outputs, false}, y,
                        outputs);
}

static pb_status run_linear_dx(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    uint64_t rows = job->n[ROWS], inputs = job->n[INPUTS], outputs = job->n[OUTPUTS];
    pbi_product p = {.rows = rows, .columns = inputs, .inner = outputs, .scale = 1};
    return pbi_multiply(t, &p, (pbi_matrix){call->value[job->in[0]], outputs, false},
                        (pbi_matrix){fixed_floats(call, job->at), outputs, true}, call->value[call->node], inputs);
}

static pb_status run_linear_dw(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    uint64_t rows = job->n[ROWS], inputs = job->n[INPUTS], outputs = job->n[OUTPUTS];
    const float *x = call->value[job->in[0]], *dy = call->value[job->in[1]];
    float *dw = call->value[call->node];
    pbi_product p = {.rows = inputs, .columns = outputs, .inner = rows, .scale = 1};
    pbi_loop_column_sums(dy, dw + inputs * outputs, rows, outputs);
    return pbi_multiply(t, &p, (pbi_matrix){x, inputs, true}, (pbi_matrix){dy, outputs, false}, dw, outputs);
}

static void linear_back(pbi_train *t, const pbi_op *op)
{
    pbi_param *p = &t->param[op->param];
    const pbi_tensor_row *x = &t->tensor[op->in[0]];
    pb_node dy = t->tensor[op->out].grad;
    pbi_making m = pbi_making_begin(t, op->name, ".dw", p->count * sizeof(float), op->cost);
    m.flags = PB_NODE_KEEP;
    pbi_making_reads(t, &m, x->node);
    pbi_making_reads(t, &m, dy);
    memcpy(m.job->n, op->n, sizeof op->n);
    m.job->loop = run_linear_dw;
    pbi_making_does(&m, "matmul", op->cost);
    m.traffic = t->tensor[op->out].bytes; /* read again for the bias */
    p->grad = pbi_making_end(t, &m);
    if (!x->learns)
        return;
    m = pbi_making_begin(t, op->name, ".dx", x->bytes, op->cost);
    pbi_making_reads(t, &m, dy);
    memcpy(m.job->n, op->n, sizeof op->n);
    m.job->at = p->at;
    m.job->loop = run_linear_dx;
    pbi_making_does(&m, "matmul", op->cost);
    m.traffic = p->count * sizeof(float);
    pbi_net_add_grad(t, op->in[0], pbi_making_end(t, &m));
}

pbi_tensor pbi_net_linear(pbi_train *t, const char *name, pbi_tensor x, uint64_t inputs, uint64_t outputs, float gain)
{
    if (t->status != PB_OK)
        return 0;
    uint64_t rows = t->tensor[x].count / inputs, cost = 2 * rows * inputs * outputs;
    uint32_t param = pbi_net_param(t, (inputs + 1) * outputs, inputs * outputs, sqrtf(gain / (float)inputs));
    if (t->status != PB_OK)
        return 0;
    dnnl_memory_desc_t md = pbi_md_rows(rows, outputs);
    pbi_making m = pbi_making_begin(t, name, "", rows * outputs * sizeof(float), cost);
    pbi_making_reads(t, &m, t->tensor[x].node);
    memcpy(m.job->n, (const uint64_t[]){rows, inputs, outputs}, 3 * sizeof(uint64_t));
    m.job->at = t->param[param].at;
    m.job->loop = run_linear;
    pbi_making_does(&m, "matmul", cost);
    m.traffic = t->param[param].count * sizeof(float) + 2 * m.job->used; /* the bias is written, then added to */
    pbi_tensor y = pbi_net_tensor(t, name, pbi_making_end(t, &m), &md, true);
    pbi_op *op = pbi_net_op(t, name, y, linear_back);
    op->in[0] = x;
    op->param = param;
    op->cost = cost;
    memcpy(op->n, (const uint64_t[]){rows, inputs, outputs}, 3 * sizeof(uint64_t));
    return y;
}

/* ---- normalisation of rows ---- */

static void layer_norm_back(pbi_train *t, const pbi_op *op)
{
    const pbi_tensor_row *x = &t->tensor[op->in[0]];
    pbi_param *p = &t->param[op->param];
    pb_node dy = t->tensor[op->out].grad;
    uint64_t rows = op->n[0], width = op->n[1], bytes = 2 * width * sizeof(float);
    dnnl_memory_desc_t stat = pbi_md_vector(rows), scale = pbi_md_rows(2, width);
    dnnl_layer_normalization_desc_t desc;
    pbi_dnn_good(t,
                 dnnl_layer_normalization_backward_desc_init(&desc, dnnl_backward, &x->md, &x->md, &stat, EPSILON,
                                                             dnnl_use_scaleshift),
                 "a normalisation back");
    pbi_making m = pbi_making_begin(t, op->name, ".dx", x->bytes, op->cost);
    pbi_making_does(&m, "norm.dx", 14 * x->count); /* and the gradients of gain and bias */
    pbi_making_reads(t, &m, x->node);
    pbi_making_reads(t, &m, op->side);
    pbi_making_reads(t, &m, dy);
    pbi_making_over(&m, dy);
    pbi_place grad = pbi_at_value(m.node + 1), variance = pbi_at_value(op->side);
    grad.spare = pbi_making_work(&m, bytes);
    variance.offset = rows * sizeof(float);
    pbi_dnn *d = pbi_making_call(t, &m, pbi_dnn_pd(t, &desc, op->pd));
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

pbi_tensor pbi_net_layer_norm(pbi_train *t, const char *name, pbi_tensor x, uint64_t rows, uint64_t width)
{
    uint32_t param = pbi_net_param(t, 2 * width, width, 0);
    if (t->status != PB_OK)
        return 0;
    dnnl_memory_desc_t md = t->tensor[x].md, stat = pbi_md_vector(rows), scale = pbi_md_rows(2, width);
    uint64_t variance_at = rows * sizeof(float), cost = PBI_FLOP_NORM * t->tensor[x].count;
    dnnl_layer_normalization_desc_t desc;
    pbi_dnn_good(t,
                 dnnl_layer_normalization_forward_desc_init(&desc, dnnl_forward_training, &md, &stat, EPSILON,
                                                            dnnl_use_scaleshift),
                 "a normalisation");
    dnnl_primitive_desc_t pd = pbi_dnn_pd(t, &desc, NULL);
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
    pb_node v = pbi_making_end(t, &m);
    pb_node side = pbi_net_byproduct(t, v, name, ".stats", 2 * variance_at, 0);
    pbi_tensor y = pbi_net_tensor(t, name, v, &md, true);
    pbi_op *op = pbi_net_op(t, name, y, layer_norm_back);
    op->in[0] = x;
    op->side = side;
    op->param = param;
    op->pd = pd;
    op->cost = cost;
    op->n[0] = rows;
    op->n[1] = width;
    return y;
}

/* ---- tokens: a row for the token and one for its place; parameters are both tables ---- */

enum { TOKENS, WIDTH, SEQUENCE, VOCABULARY };

static pb_status run_embed(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    const int32_t *token = call->value[job->in[0]];
    uint64_t width = job->n[WIDTH];
    const float *words = fixed_floats(call, job->at), *places = words + job->n[VOCABULARY] * width;
    float *y = call->value[call->node];
    for (uint64_t i = 0; i < job->n[TOKENS]; i++)
        pbi_loop_add(words + (uint64_t)token[i] * width, places + i % job->n[SEQUENCE] * width, y + i * width, width);
    return PB_OK;
}

static pb_status run_embed_back(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    const int32_t *token = call->value[job->in[0]];
    const float *dy = call->value[job->in[1]];
    uint64_t width = job->n[WIDTH];
    float *words = call->value[call->node], *places = words + job->n[VOCABULARY] * width;
    memset(words, 0, (job->n[VOCABULARY] + job->n[SEQUENCE]) * width * sizeof *words);
    for (uint64_t i = 0; i < job->n[TOKENS]; i++) {
        float *word = words + (uint64_t)token[i] * width, *place = places + i % job->n[SEQUENCE] * width;
        pbi_loop_add(word, dy + i * width, word, width);
        pbi_loop_add(place, dy + i * width, place, width);
    }
    return PB_OK;
}

static void embed_back(pbi_train *t, const pbi_op *op)
{
    pbi_param *p = &t->param[op->param];
    pbi_making m = pbi_making_begin(t, op->name, ".dw", p->count * sizeof(float), 2 * op->cost);
    m.flags = PB_NODE_KEEP;
    pbi_making_reads(t, &m, op->side);
    pbi_making_reads(t, &m, t->tensor[op->out].grad);
    memcpy(m.job->n, op->n, sizeof op->n);
    m.job->loop = run_embed_back;
    pbi_making_does(&m, "embed.dw", 2 * op->n[TOKENS] * op->n[WIDTH]);
    m.traffic = 2 * (op->n[TOKENS] + op->n[SEQUENCE]) * op->n[WIDTH] * sizeof(float); /* rows are read and written */
    p->grad = pbi_making_end(t, &m);
}

pbi_tensor pbi_net_embed(pbi_train *t, const char *name, pb_node tokens)
{
    const pbi_train_options *o = &t->options;
    uint64_t rows = o->batch * o->sequence, count = (o->classes + o->sequence) * o->width;
    uint32_t param = pbi_net_param(t, count, count, 0.1f);
    if (t->status != PB_OK)
        return 0;
    const uint64_t n[] = {rows, o->width, o->sequence, o->classes};
    dnnl_memory_desc_t md = pbi_md_rows(rows, o->width);
    pbi_making m = pbi_making_begin(t, name, "", rows * o->width * sizeof(float), PBI_FLOP_MOVE * rows * o->width);
    pbi_making_reads(t, &m, tokens);
    memcpy(m.job->n, n, sizeof n);
    m.job->at = t->param[param].at;
    m.job->loop = run_embed;
    pbi_making_does(&m, "embed", rows * o->width);
    m.traffic = (rows + o->sequence) * o->width * sizeof(float); /* rows of both tables */
    pbi_tensor y = pbi_net_tensor(t, name, pbi_making_end(t, &m), &md, true);
    pbi_op *op = pbi_net_op(t, name, y, embed_back);
    op->side = tokens;
    op->param = param;
    op->cost = m.cost;
    memcpy(op->n, n, sizeof n);
    return y;
}
