/* train_attention.c -- see train.h: softmax(Q K^T) V; scores and probabilities are values that a plan may keep or not.
 *
 * Q, K, V and the result are rows of tokens with the columns of the heads next to each other: products use a stride, so
 * that no head is ever copied. Squares (scores, probabilities) are sequence x sequence for each sequence and head,
 * contiguous. A token attends to itself and to those before it.
 */
#include "workloads/train.h"

#include <math.h>
#include <string.h>

#define HIDDEN (-1e9f) /* a score that becomes the probability 0 */

enum { BATCH, HEADS, LENGTH, WIDTH };

/* One side of a product for each head: a square, or the head's columns of rows of tokens. */
typedef struct side {
    const float *at;
    bool square, turned;
} side;

static pbi_matrix head_of(const pbi_job *job, side s, uint64_t b, uint64_t h)
{
    uint64_t length = job->n[LENGTH], width = job->n[WIDTH], heads = job->n[HEADS];
    if (s.square)
        return (pbi_matrix){s.at + (b * heads + h) * length * length, length, s.turned};
    return (pbi_matrix){s.at + b * length * width + h * (width / heads), width, s.turned};
}

/* out = scale * first second, for every head; `out` is a square or rows of tokens. */
static pb_status products(const pbi_train *t, const pbi_job *job, side first, side second, float *out, bool square)
{
    uint64_t length = job->n[LENGTH], depth = job->n[WIDTH] / job->n[HEADS];
    pbi_product p = {
        .rows = length, .columns = square ? length : depth, .inner = square ? depth : length, .scale = job->f};
    pb_status status = PB_OK;
    for (uint64_t b = 0; b < job->n[BATCH]; b++)
        for (uint64_t h = 0; h < job->n[HEADS] && status == PB_OK; h++) {
            pbi_matrix to = head_of(job, (side){out, square, false}, b, h);
            float *at = out + (to.at - out);
            status = pbi_multiply(t, &p, head_of(job, first, b, h), head_of(job, second, b, h), at, to.stride);
        }
    return status;
}

static void hide_future(const pbi_job *job, float *scores)
{
    uint64_t length = job->n[LENGTH], squares = job->n[BATCH] * job->n[HEADS];
    for (uint64_t r = 0; r < squares * length; r++)
        for (uint64_t j = r % length + 1; j < length; j++)
            scores[r * length + j] = HIDDEN;
}

static pb_status run_scores(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    float *out = call->value[call->node];
    pb_status status = products(t, job, (side){call->value[job->in[0]], false, false},
                                (side){call->value[job->in[1]], false, true}, out, true);
    if (status == PB_OK)
        hide_future(job, out);
    return status;
}

/* square = rows rows^T: the gradient of probabilities. */
static pb_status run_outer(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    return products(t, job, (side){call->value[job->in[0]], false, false}, (side){call->value[job->in[1]], false, true},
                    call->value[call->node], true);
}

/* rows = square rows */
static pb_status run_apply(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    return products(t, job, (side){call->value[job->in[0]], true, false}, (side){call->value[job->in[1]], false, false},
                    call->value[call->node], false);
}

/* rows = square^T rows */
static pb_status run_apply_turned(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    return products(t, job, (side){call->value[job->in[0]], true, true}, (side){call->value[job->in[1]], false, false},
                    call->value[call->node], false);
}

typedef struct product_spec {
    const char *name, *suffix;
    pb_node first, second;
    bool square;
    float scale;
    pbi_loop loop;
} product_spec;

static pb_node product_node(pbi_train *t, const product_spec *s)
{
    const pbi_train_options *o = &t->options;
    uint64_t rows = o->batch * o->sequence;
    uint64_t bytes = rows * (s->square ? o->heads * o->sequence : o->width) * sizeof(float);
    pbi_making m = pbi_making_begin(t, s->name, s->suffix, bytes, 2 * rows * o->sequence * o->width);
    pbi_making_reads(t, &m, s->first);
    pbi_making_reads(t, &m, s->second);
    memcpy(m.job->n, (const uint64_t[]){o->batch, o->heads, o->sequence, o->width}, 4 * sizeof(uint64_t));
    m.job->f = s->scale;
    m.job->loop = s->loop;
    pbi_making_does(&m, "matmul", m.cost);
    m.traffic = s->loop == run_scores ? bytes / 2 : 0; /* scores of later tokens are written again */
    return pbi_making_end(t, &m);
}

static float scale_of(const pbi_train *t) { return 1.0f / sqrtf((float)(t->options.width / t->options.heads)); }

static pbi_tensor two_inputs(pbi_train *t, const product_spec *s, pbi_tensor a, pbi_tensor b,
                             const dnnl_memory_desc_t *md, void (*back)(pbi_train *, const pbi_op *))
{
    pbi_tensor y = pbi_net_tensor(t, s->name, product_node(t, s), md, true);
    pbi_op *op = pbi_net_op(t, s->name, y, back);
    op->in[0] = a;
    op->in[1] = b;
    return y;
}

static void scores_back(pbi_train *t, const pbi_op *op)
{
    pb_node ds = t->tensor[op->out].grad, q = t->tensor[op->in[0]].node, k = t->tensor[op->in[1]].node;
    pb_node dq = product_node(t, &(product_spec){op->name, ".dq", ds, k, false, scale_of(t), run_apply});
    pbi_net_add_grad(t, op->in[0], dq);
    pb_node dk = product_node(t, &(product_spec){op->name, ".dk", ds, q, false, scale_of(t), run_apply_turned});
    pbi_net_add_grad(t, op->in[1], dk);
}

pbi_tensor pbi_net_scores(pbi_train *t, const char *name, pbi_tensor q, pbi_tensor k)
{
    if (t->status != PB_OK)
        return 0;
    const pbi_train_options *o = &t->options;
    dnnl_memory_desc_t md = pbi_md_rows(o->batch * o->heads * o->sequence, o->sequence);
    product_spec s = {name, "", t->tensor[q].node, t->tensor[k].node, true, scale_of(t), run_scores};
    return two_inputs(t, &s, q, k, &md, scores_back);
}

static void context_back(pbi_train *t, const pbi_op *op)
{
    pb_node dy = t->tensor[op->out].grad, probs = t->tensor[op->in[0]].node, v = t->tensor[op->in[1]].node;
    pb_node dp = product_node(t, &(product_spec){op->name, ".dp", dy, v, true, 1, run_outer});
    pbi_net_add_grad(t, op->in[0], dp);
    pb_node dv = product_node(t, &(product_spec){op->name, ".dv", probs, dy, false, 1, run_apply_turned});
    pbi_net_add_grad(t, op->in[1], dv);
}

pbi_tensor pbi_net_context(pbi_train *t, const char *name, pbi_tensor probs, pbi_tensor v)
{
    if (t->status != PB_OK)
        return 0;
    dnnl_memory_desc_t md = t->tensor[v].md;
    product_spec s = {name, "", t->tensor[probs].node, t->tensor[v].node, false, 1, run_apply};
    return two_inputs(t, &s, probs, v, &md, context_back);
}

/* ---- softmax of rows: the gradient reads the output, so the input may be overwritten ---- */

static pb_status run_softmax_back(const pbi_train *t, const pbi_job *job, const pb_call *call)
{
    (void)t;
    pbi_loop_softmax_back(call->value[job->in[0]], call->value[job->in[1]], call->value[call->node], job->n[0],
                          job->n[1]);
    return PB_OK;
}

/* Our own loop: the library's is slow on processors without AVX-512. */
static void softmax_back(pbi_train *t, const pbi_op *op)
{
    const pbi_tensor_row *y = &t->tensor[op->out];
    pbi_making m = pbi_making_begin(t, op->name, ".dx", y->bytes, op->cost);
    pbi_making_reads(t, &m, y->node);
    pbi_making_reads(t, &m, y->grad);
    pbi_making_over(&m, y->grad);
    m.job->n[0] = (uint64_t)y->md.dims[0];
    m.job->n[1] = (uint64_t)y->md.dims[1];
    m.job->loop = run_softmax_back;
    pbi_making_does(&m, "softmax.dx", 4 * y->count);
    pbi_net_add_grad(t, op->in[0], pbi_making_end(t, &m));
}

pbi_tensor pbi_net_softmax(pbi_train *t, const char *name, pbi_tensor x)
{
    if (t->status != PB_OK)
        return 0;
    dnnl_memory_desc_t md = t->tensor[x].md;
    dnnl_softmax_desc_t desc;
    pbi_dnn_good(t, dnnl_softmax_forward_desc_init(&desc, dnnl_forward_training, &md, 1), "softmax");
    dnnl_primitive_desc_t pd = pbi_dnn_pd(t, &desc, NULL);
    pbi_making m = pbi_making_begin(t, name, "", t->tensor[x].bytes, PBI_FLOP_SOFTMAX * t->tensor[x].count);
    pbi_making_does(&m, "softmax", 5 * t->tensor[x].count);
    pbi_making_reads(t, &m, t->tensor[x].node);
    pbi_making_over(&m, t->tensor[x].node);
    pbi_dnn *d = pbi_making_call(t, &m, pd);
    pbi_dnn_arg(t, d, DNNL_ARG_SRC, &md, pbi_at_value(t->tensor[x].node));
    pbi_dnn_arg(t, d, DNNL_ARG_DST, &md, pbi_at_value(m.node));
    pbi_tensor y = pbi_net_tensor(t, name, pbi_making_end(t, &m), &md, true);
    pbi_op *op = pbi_net_op(t, name, y, softmax_back);
    op->in[0] = x;
    op->cost = m.cost;
    return y;
}
