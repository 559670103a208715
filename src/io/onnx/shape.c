/* shape.c -- shapes and costs of operators that work element by element, reduce or multiply. */
#include "io/onnx/model.h"

static pb_status like(pbi_onnx *m, const pbi_onnx_node *n, uint32_t i, int64_t type, const pbi_onnx_tensor *t)
{
    return pbi_onnx_shape(m, n, i, type, t->rank, t->dims);
}

/* Enlarges the shape in dims[0..*rank) by the rules of broadcasting, so that `t` fits. */
static pb_status widen(pbi_onnx *m, const pbi_onnx_node *n, uint32_t *rank, uint64_t *dims, const pbi_onnx_tensor *t)
{
    if (t->rank > *rank) {
        memmove(dims + (t->rank - *rank), dims, *rank * sizeof *dims);
        for (uint32_t i = 0; i < t->rank - *rank; i++)
            dims[i] = 1;
        *rank = t->rank;
    }
    for (uint32_t i = 0; i < t->rank; i++) {
        uint64_t *have = &dims[*rank - t->rank + i], other = t->dims[i];
        if (*have == 1)
            *have = other;
        else if (other != 1 && other != *have)
            return pbi_onnx_invalid(m, n, "inputs of size %llu and %llu along one axis cannot be broadcast",
                                    (unsigned long long)*have, (unsigned long long)other);
    }
    return PB_OK;
}

/* All inputs from `first` on, broadcast. */
static pb_status broadcast_from(pbi_onnx *m, pbi_onnx_node *n, uint32_t first, int64_t type)
{
    uint64_t dims[PBI_ONNX_RANK];
    uint32_t rank = 0;
    for (uint32_t i = first; i < n->in_count; i++) {
        const pbi_onnx_tensor *t = pbi_onnx_in(m, n, i);
        pb_status status = t ? widen(m, n, &rank, dims, t) : PB_OK;
        if (status != PB_OK)
            return status;
    }
    return pbi_onnx_shape(m, n, 0, type, rank, dims);
}

PBI_ONNX_SHAPER(same)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    return like(m, n, 0, x->type, x);
}

PBI_ONNX_SHAPER(broadcast)
{
    pb_status status = broadcast_from(m, n, 0, pbi_onnx_in(m, n, 0)->type);
    const pbi_onnx_tensor *out = pbi_onnx_out(m, n, 0);
    if (status == PB_OK && out && n->in_count > 2) /* pair by pair */
        n->cost = pbi_times(pbi_onnx_elements(out), pbi_times(n->rule->flops, n->in_count - 1));
    return status;
}

PBI_ONNX_SHAPER(compare) { return broadcast_from(m, n, 0, PBI_ONNX_BOOL); }

PBI_ONNX_SHAPER(where)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 1);
    return x ? broadcast_from(m, n, 0, x->type) : pbi_onnx_invalid(m, n, "its second input is missing");
}

PBI_ONNX_SHAPER(cast)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *type = pbi_onnx_in(m, n, 1);
    int64_t to = type ? type->type : pbi_onnx_integer(n, "to", 0);
    if (!pbi_onnx_is_real(to))
        n->kind = PBI_OP_BLOCKED;
    n->view = to == x->type;
    return like(m, n, 0, to, x);
}

PBI_ONNX_SHAPER(reduce)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *axes;
    uint32_t count, rank = 0;
    bool gone[PBI_ONNX_RANK] = {false}, keep = pbi_onnx_integer(n, "keepdims", 1) != 0;
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status = pbi_onnx_list(m, n, "axes", 1, &axes, &count);
    for (uint32_t i = 0; status == PB_OK && i < count; i++) {
        uint32_t axis;
        status = pbi_onnx_axis(m, n, axes[i], x->rank, &axis);
        if (status == PB_OK)
            gone[axis] = true;
    }
    bool nothing = count == 0 && pbi_onnx_integer(n, "noop_with_empty_axes", 0) != 0;
    n->view |= nothing;
    for (uint32_t i = 0; i < x->rank; i++) {
        bool reduced = !nothing && (count == 0 || gone[i]);
        if (!reduced || keep)
            dims[rank++] = reduced ? 1 : x->dims[i];
    }
    return status == PB_OK ? pbi_onnx_shape(m, n, 0, x->type, rank, dims) : status;
}

PBI_ONNX_SHAPER(arg)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    uint64_t dims[PBI_ONNX_RANK];
    uint32_t axis, rank = 0;
    pb_status status = pbi_onnx_axis(m, n, pbi_onnx_integer(n, "axis", 0), x->rank, &axis);
    for (uint32_t i = 0; status == PB_OK && i < x->rank; i++)
        if (i != axis || pbi_onnx_integer(n, "keepdims", 1))
            dims[rank++] = i == axis ? 1 : x->dims[i];
    return status == PB_OK ? pbi_onnx_shape(m, n, 0, PBI_ONNX_INT64, rank, dims) : status;
}

static uint64_t product_of(const uint64_t *dims, uint32_t from, uint32_t to)
{
    uint64_t product = 1;
    for (uint32_t i = from; i < to; i++)
        product = pbi_times(product, dims[i]);
    return product;
}

/* Statistics that the backward pass reads: mean and deviation per channel of a batch, per row of a layer. */
PBI_ONNX_SHAPER(norm)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    uint64_t rows = x->rank > 1 ? x->dims[1] : 1, statistic[PBI_ONNX_RANK];
    uint32_t axis = 0;
    bool batch = strcmp(n->op, "BatchNormalization") == 0, layer = strcmp(n->op, "LayerNormalization") == 0;
    bool mean_square = strcmp(n->op, "RMSNormalization") == 0;
    pb_status status = PB_OK;
    if (layer || mean_square) {
        status = pbi_onnx_axis(m, n, pbi_onnx_integer(n, "axis", -1), x->rank, &axis);
        rows = status == PB_OK ? product_of(x->dims, 0, axis) : 1;
    } else if (!batch) {
        rows = pbi_times(x->rank ? x->dims[0] : 1, (uint64_t)pbi_onnx_integer(n, "num_groups", (int64_t)rows));
    }
    if (batch && !m->options->train && !pbi_onnx_integer(n, "training_mode", 0)) {
        n->kind = PBI_OP_SCALES;
        n->work = PBI_WORK_ELEMENTWISE;
    } else
        n->side_size = pbi_times(rows, mean_square ? 4 : 8);
    if (status == PB_OK)
        status = like(m, n, 0, x->type, x);
    for (uint32_t i = 0; i < x->rank; i++)
        statistic[i] = i < axis ? x->dims[i] : 1;
    const pbi_onnx_tensor *mean = pbi_onnx_in(m, n, 3);
    for (uint32_t i = 1; status == PB_OK && i < n->out_count; i++)
        status = batch ? pbi_onnx_shape(m, n, i, mean ? mean->type : x->type, 1, &rows)
                       : pbi_onnx_shape(m, n, i, PBI_ONNX_FLOAT, x->rank, statistic);
    return status;
}

/* Dropout has an effect only in training mode. The file may set the mode; otherwise --train does. */
PBI_ONNX_SHAPER(dropout)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *mode = pbi_onnx_in(m, n, 2);
    bool said = mode && mode->values && pbi_onnx_elements(mode) == 1;
    n->view = said ? mode->values[0].i == 0 : !m->options->train;
    pb_status status = like(m, n, 0, x->type, x);
    return status == PB_OK ? like(m, n, 1, PBI_ONNX_BOOL, x) : status;
}

PBI_ONNX_SHAPER(gemm)
{
    const pbi_onnx_tensor *a = pbi_onnx_in(m, n, 0), *b = pbi_onnx_in(m, n, 1);
    if (!b || a->rank != 2 || b->rank != 2)
        return pbi_onnx_invalid(m, n, "its inputs must be two matrices");
    bool at = pbi_onnx_integer(n, "transA", 0) != 0, bt = pbi_onnx_integer(n, "transB", 0) != 0;
    uint64_t inner = a->dims[at ? 0 : 1], dims[2] = {a->dims[at ? 1 : 0], b->dims[bt ? 0 : 1]};
    if (inner != b->dims[bt ? 1 : 0])
        return pbi_onnx_invalid(m, n, "the first matrix has %llu columns, but the second has %llu rows",
                                (unsigned long long)inner, (unsigned long long)b->dims[bt ? 1 : 0]);
    n->cost = n->grad_cost = pbi_times(2, pbi_times(pbi_times(dims[0], inner), dims[1]));
    return pbi_onnx_shape(m, n, 0, a->type, 2, dims);
}

PBI_ONNX_SHAPER(matmul)
{
    const pbi_onnx_tensor *a = pbi_onnx_in(m, n, 0), *b = pbi_onnx_in(m, n, 1);
    if (!b || !a->rank || !b->rank)
        return pbi_onnx_invalid(m, n, "its inputs must have rank 1 or more");
    uint32_t a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0, rank = 0;
    uint64_t dims[PBI_ONNX_RANK + 2], inner = a->dims[a->rank - 1], rows = b->dims[b->rank > 1 ? b->rank - 2 : 0];
    if (inner != rows)
        return pbi_onnx_invalid(m, n, "the first matrix has %llu columns, but the second has %llu rows",
                                (unsigned long long)inner, (unsigned long long)rows);
    pbi_onnx_tensor left = {.rank = a_batch, .dims = a->dims}, right = {.rank = b_batch, .dims = b->dims};
    pb_status status = widen(m, n, &rank, dims, &left);
    if (status == PB_OK)
        status = widen(m, n, &rank, dims, &right);
    if (status != PB_OK)
        return status;
    if (a->rank > 1)
        dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1)
        dims[rank++] = b->dims[b->rank - 1];
    n->cost = n->grad_cost = pbi_times(pbi_times(2, inner), product_of(dims, 0, rank));
    bool whole = strcmp(n->op, "MatMulInteger") == 0;
    return pbi_onnx_shape(m, n, 0, whole ? PBI_ONNX_INT32 : a->type, rank, dims);
}

/* ---- Einsum ---- */

typedef struct einsum {
    uint64_t size[26 * 2];
    bool seen[26 * 2];
    uint32_t times[26 * 2]; /* among the inputs: those that occur once are in the implicit output */
} einsum;

static int letter_of(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? 26 + c - 'a' : -1; }

/* One term of the equation against one input. */
static pb_status einsum_term(pbi_onnx *m, pbi_onnx_node *n, const char **at, uint32_t input, einsum *e)
{
    const pbi_onnx_tensor *t = pbi_onnx_in(m, n, input);
    uint32_t axis = 0;
    if (!t)
        return pbi_onnx_invalid(m, n, "its equation has more terms than there are inputs");
    for (; **at && **at != ',' && **at != '-'; (*at)++) {
        int letter = letter_of(**at);
        if (**at == ' ')
            continue;
        if (letter < 0)
            return pbi_onnx_refuse(
                m, n, "its equation contains '%c'; only letters are supported: write a letter for each dimension",
                **at);
        if (axis == t->rank)
            return pbi_onnx_invalid(m, n, "its equation has more letters than input %u has dimensions", input);
        uint64_t size = t->dims[axis++];
        if (e->seen[letter] && e->size[letter] != size && e->size[letter] != 1 && size != 1)
            return pbi_onnx_invalid(m, n, "letter %c of its equation stands for two sizes, %llu and %llu", **at,
                                    (unsigned long long)e->size[letter], (unsigned long long)size);
        if (!e->seen[letter] || size > 1)
            e->size[letter] = size;
        e->seen[letter] = true;
        e->times[letter]++;
    }
    return axis == t->rank
               ? PB_OK
               : pbi_onnx_invalid(m, n, "its equation has fewer letters than input %u has dimensions", input);
}

PBI_ONNX_SHAPER(einsum)
{
    const char *at = pbi_onnx_text(n, "equation", "");
    einsum e = {.seen = {false}};
    uint64_t dims[PBI_ONNX_RANK], all = 1;
    uint32_t rank = 0, terms = 0;
    pb_status status = einsum_term(m, n, &at, terms++, &e);
    while (status == PB_OK && *at == ',') {
        at++;
        status = einsum_term(m, n, &at, terms++, &e);
    }
    if (status != PB_OK)
        return status;
    if (terms != n->in_count)
        return pbi_onnx_invalid(m, n, "its equation has %u terms for %u inputs", terms, n->in_count);
    for (int i = 0; i < 52; i++)
        if (e.seen[i])
            all = pbi_times(all, e.size[i]);
    if (at[0] == '-' && at[1] == '>') {
        for (at += 2; *at; at++) {
            int letter = letter_of(*at);
            if (*at == ' ')
                continue;
            if (letter < 0 || !e.seen[letter] || rank == PBI_ONNX_RANK)
                return pbi_onnx_invalid(m, n, "letter %c of its equation's result is in none of the inputs", *at);
            dims[rank++] = e.size[letter];
        }
    } else {
        for (int i = 0; i < 52 && rank < PBI_ONNX_RANK; i++)
            if (e.times[i] == 1)
                dims[rank++] = e.size[i];
    }
    if (terms == 1) {
        n->kind = PBI_OP_MOVED;
        n->work = PBI_WORK_REDUCE;
    } else if (terms > 2 && m->options->train)
        return pbi_onnx_refuse(
            m, n, "products of more than two tensors have no backward pass here; split it into products of two");
    n->cost = n->grad_cost = terms == 1 ? all : pbi_times(2, all);
    return pbi_onnx_shape(m, n, 0, pbi_onnx_in(m, n, 0)->type, rank, dims);
}

/* ---- Attention, recurrences, quantisation ---- */

typedef struct heads {
    uint64_t batch, heads, rows, width;
} heads;

static bool split_heads(const pbi_onnx_tensor *t, int64_t count, heads *out)
{
    if (t->rank == 4) {
        *out = (heads){t->dims[0], t->dims[1], t->dims[2], t->dims[3]};
        return true;
    }
    if (t->rank != 3 || count < 1 || t->dims[2] % (uint64_t)count)
        return false;
    *out = (heads){t->dims[0], (uint64_t)count, t->dims[1], t->dims[2] / (uint64_t)count};
    return true;
}

PBI_ONNX_SHAPER(attention)
{
    const pbi_onnx_tensor *q = pbi_onnx_in(m, n, 0), *k = pbi_onnx_in(m, n, 1), *v = pbi_onnx_in(m, n, 2);
    heads of_q, of_k, of_v;
    if (!k || !v || !split_heads(q, pbi_onnx_integer(n, "q_num_heads", 0), &of_q) ||
        !split_heads(k, pbi_onnx_integer(n, "kv_num_heads", 0), &of_k) ||
        !split_heads(v, pbi_onnx_integer(n, "kv_num_heads", 0), &of_v))
        return pbi_onnx_invalid(
            m, n, "queries, keys and values must have rank 4, or rank 3 with q_num_heads and kv_num_heads");
    if (n->out_count > 1 || n->in_count > 4)
        return pbi_onnx_refuse(m, n, "a cache of keys and values is not supported; export the model without it");
    uint64_t flat[3] = {of_q.batch, of_q.rows, pbi_times(of_q.heads, of_v.width)};
    uint64_t deep[4] = {of_q.batch, of_q.heads, of_q.rows, of_v.width};
    uint64_t rows = pbi_times(pbi_times(of_q.batch, of_q.heads), of_q.rows), scores = pbi_times(rows, of_k.rows);
    /* Two products in the forward pass, five in the backward pass. */
    uint64_t products = pbi_times(scores, of_q.width + of_v.width);
    n->cost = pbi_add_saturated(pbi_times(2, products), pbi_times(5, scores));
    n->grad_cost = pbi_add_saturated(pbi_times(5, products), pbi_times(9, scores));
    n->side_size = pbi_times(rows, 4);
    return q->rank == 4 ? pbi_onnx_shape(m, n, 0, q->type, 4, deep) : pbi_onnx_shape(m, n, 0, q->type, 3, flat);
}

/* LSTM, GRU and RNN: gates in W, [directions, gates x hidden, inputs]. */
PBI_ONNX_SHAPER(recurrent)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *w = pbi_onnx_in(m, n, 1), *r = pbi_onnx_in(m, n, 2);
    if (!w || !r || x->rank != 3 || w->rank != 3 || r->rank != 3)
        return pbi_onnx_invalid(m, n, "its input, weights and recurrent weights must have rank 3");
    if (pbi_onnx_integer(n, "layout", 0))
        return pbi_onnx_refuse(m, n, "only layout=0 (steps first) is supported; export the model with it");
    uint64_t hidden = r->dims[2], directions = w->dims[0];
    uint64_t all[4] = {x->dims[0], directions, x->dims[1], hidden}, last[3] = {directions, x->dims[1], hidden};
    uint64_t gates = pbi_times(w->dims[1], pbi_add_saturated(w->dims[2], hidden));
    uint64_t tokens = pbi_times(directions, pbi_times(x->dims[0], x->dims[1]));
    n->cost = pbi_times(pbi_times(2, gates), tokens);
    n->grad_cost = pbi_times(2, n->cost);
    /* What kernels save of each step for the backward pass: gates and cells, and states if the output is not all of
     * them. */
    uint64_t saved = strcmp(n->op, "LSTM") == 0 ? 5 : strcmp(n->op, "GRU") == 0 ? 4 : 0;
    saved += !pbi_onnx_out(m, n, 0);
    n->side_size = pbi_times(pbi_times(tokens, hidden), saved * pbi_onnx_bits(x->type) / 8);
    pb_status status = pbi_onnx_shape(m, n, 0, x->type, 4, all);
    for (uint32_t i = 1; status == PB_OK && i < n->out_count; i++)
        status = pbi_onnx_shape(m, n, i, x->type, 3, last);
    return status;
}

/* Losses over classes: scores or their logarithms [batch, classes, ...] and labels [batch, ...]. */
PBI_ONNX_SHAPER(class_loss)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *labels = pbi_onnx_in(m, n, 1);
    const char *reduction = pbi_onnx_text(n, "reduction", "mean");
    bool each = strcmp(reduction, "none") == 0, softmax = strcmp(n->op, "SoftmaxCrossEntropyLoss") == 0;
    if (!labels || x->rank < 2 || labels->rank + 1 != x->rank || labels->dims[0] != x->dims[0])
        return pbi_onnx_invalid(m, n, "its scores need one axis, of classes, more than its labels");
    if (n->in_count > 2 && n->in[2] != PBI_ONNX_NONE)
        m->tensor[n->in[2]].learnable = false; /* weights of classes are constants */
    uint64_t scores = pbi_onnx_elements(x);
    n->cost = pbi_times(softmax ? 6 : 1, scores);
    n->grad_cost = pbi_times(softmax ? 3 : 1, scores);
    n->side_size = softmax ? pbi_times(scores, pbi_onnx_bits(x->type) / 8) : 0; /* logarithms of probabilities */
    pb_status status = pbi_onnx_shape(m, n, 0, x->type, each ? labels->rank : 0, labels->dims);
    return status == PB_OK && softmax ? like(m, n, 1, x->type, x) : status;
}

/* Before version 7 a list of slopes has one for each channel. */
PBI_ONNX_SHAPER(slope)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *slopes = pbi_onnx_in(m, n, 1);
    bool channels = m->opset && m->opset < 7 && slopes && slopes->rank == 1 && x->rank > 1 &&
                    (slopes->dims[0] == x->dims[1] || slopes->dims[0] == 1);
    return channels ? like(m, n, 0, x->type, x) : broadcast_from(m, n, 0, x->type);
}

PBI_ONNX_SHAPER(quantize)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *zero = pbi_onnx_in(m, n, 2);
    int64_t type = pbi_onnx_integer(n, "output_dtype", 0);
    if (!type)
        type = zero && strcmp(n->op, "QuantizeLinear") == 0 ? zero->type : PBI_ONNX_UINT8;
    pb_status status = like(m, n, 0, type, x);
    if (status == PB_OK)
        status = pbi_onnx_shape(m, n, 1, PBI_ONNX_FLOAT, 0, NULL);
    return status == PB_OK ? pbi_onnx_shape(m, n, 2, type, 0, NULL) : status;
}

PBI_ONNX_SHAPER(dequantize)
{
    const pbi_onnx_tensor *scale = pbi_onnx_in(m, n, 1);
    int64_t type = pbi_onnx_integer(n, "output_dtype", 0);
    if (!scale)
        return pbi_onnx_invalid(m, n, "its scale is missing");
    return like(m, n, 0, type ? type : scale->type, pbi_onnx_in(m, n, 0));
}
