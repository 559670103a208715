/* fuse.c -- recognizes kernels that exporters wrote as several operators: attention, and x sigmoid(x).
 *
 * Problem     frameworks compute softmax(scale q k^T + mask) v in one kernel that keeps no scores; in the file it is
 *             five to ten operators, whose scores would be most of the memory.
 * Idea        from each softmax along the last axis go back, through scaling, masks and casts, to the product of two
 *             computed tensors, and forward, through casts and the guard against rows without a key, to the product
 *             with the values. The last product becomes the kernel; the others are left out.
 * Invariants  what is left out has one reader each, none of them is an output, and no gradient goes to the mask.
 *             Scaling and the transpositions in front of the kernel, and the one behind it, are left out too: kernels
 *             read and write tensors with any strides.
 */
#include "io/onnx/model.h"

#include "base/context.h"

enum { MAX_CHAIN = 24, MAX_MASKS = 4 };

typedef struct finder {
    pbi_onnx *m;
    uint32_t *maker;   /* by tensor: the node that computes it, or PBI_ONNX_NONE */
    uint32_t *readers; /* by tensor */
    uint32_t *reader;  /* one of them */
    uint8_t *active;   /* by tensor: a gradient may go to a parameter through it */
} finder;

/* What was found around one softmax. */
typedef struct found {
    size_t chain[MAX_CHAIN]; /* nodes to leave out */
    uint32_t chain_count;
    uint32_t mask[MAX_MASKS], masks;
    uint32_t q, k, v;
    size_t scores, last; /* the two products */
} found;

static const pbi_onnx_node *maker_of(const finder *f, uint32_t tensor)
{
    return tensor == PBI_ONNX_NONE || f->maker[tensor] == PBI_ONNX_NONE ? NULL : &f->m->node[f->maker[tensor]];
}

static bool is_op(const pbi_onnx_node *n, const char *op) { return n && strcmp(n->op, op) == 0; }

static bool leave_out(found *r, const finder *f, const pbi_onnx_node *n)
{
    if (r->chain_count == MAX_CHAIN)
        return false;
    r->chain[r->chain_count++] = (size_t)(n - f->m->node);
    return true;
}

static bool is_output(const pbi_onnx *m, uint32_t tensor)
{
    for (size_t i = 0; i < m->output_count; i++)
        if (m->output[i] == tensor)
            return true;
    return false;
}

static bool has_one_reader(const finder *f, uint32_t tensor)
{
    return f->readers[tensor] == 1 && !is_output(f->m, tensor);
}

static bool is_one_number(const finder *f, uint32_t tensor)
{
    return tensor != PBI_ONNX_NONE && pbi_onnx_elements(&f->m->tensor[tensor]) == 1;
}

/* Of two inputs of a node, the one that comes from a product of computed tensors by scaling, masks and casts. */
static bool is_scores(const finder *f, uint32_t tensor, int depth)
{
    const pbi_onnx_node *n = maker_of(f, tensor);
    if (!n || depth > 6 || f->m->tensor[tensor].rank < 3)
        return false;
    if (is_op(n, "MatMul"))
        return maker_of(f, n->in[0]) && maker_of(f, n->in[1]) && f->m->tensor[n->in[1]].rank >= 3;
    if (is_op(n, "Cast") || is_op(n, "Identity"))
        return is_scores(f, n->in[0], depth + 1);
    if ((is_op(n, "Mul") || is_op(n, "Div")) && n->in_count == 2)
        return (is_one_number(f, n->in[1]) && is_scores(f, n->in[0], depth + 1)) ||
               (is_one_number(f, n->in[0]) && is_scores(f, n->in[1], depth + 1));
    if (is_op(n, "Add") && n->in_count == 2)
        return is_scores(f, n->in[0], depth + 1) || is_scores(f, n->in[1], depth + 1);
    if (is_op(n, "Where") && n->in_count == 3)
        return is_scores(f, n->in[1], depth + 1) || is_scores(f, n->in[2], depth + 1);
    return false;
}

/* Back from the softmax to the scores; collects masks. */
static bool walk_back(const finder *f, uint32_t tensor, found *r)
{
    for (;;) {
        const pbi_onnx_node *n = maker_of(f, tensor);
        if (!n || !has_one_reader(f, tensor) || !is_scores(f, tensor, 0))
            return false;
        if (is_op(n, "MatMul")) {
            r->scores = (size_t)(n - f->m->node);
            r->q = n->in[0];
            r->k = n->in[1];
            return leave_out(r, f, n);
        }
        uint32_t next = n->in[0], first_mask = 1;
        if (is_op(n, "Where")) {
            if (r->masks == MAX_MASKS)
                return false;
            r->mask[r->masks++] = n->in[0];
            next = is_scores(f, n->in[1], 0) ? n->in[1] : n->in[2];
            first_mask = next == n->in[1] ? 2 : 1;
        } else if (n->in_count == 2 && !is_op(n, "Cast") && !is_scores(f, next, 0)) {
            next = n->in[1];
            first_mask = 0;
        }
        uint32_t other = n->in_count > 1 ? n->in[first_mask] : PBI_ONNX_NONE;
        if (other != PBI_ONNX_NONE && !is_one_number(f, other)) {
            if (r->masks == MAX_MASKS || f->active[other])
                return false;
            r->mask[r->masks++] = other;
        }
        if (!leave_out(r, f, n))
            return false;
        tensor = next;
    }
}

/* Where(IsNaN(p), 0, p): the guard against rows in which every key is masked. */
static const pbi_onnx_node *guard_of(const finder *f, uint32_t tensor, found *r)
{
    const pbi_onnx *m = f->m;
    if (f->readers[tensor] != 2 || is_output(m, tensor))
        return NULL;
    for (size_t i = f->maker[tensor] + 1; i < m->node_count; i++) {
        const pbi_onnx_node *n = &m->node[i];
        if (!is_op(n, "Where") || n->in_count != 3 || n->in[2] != tensor)
            continue;
        const pbi_onnx_node *test = maker_of(f, n->in[0]);
        if (is_op(test, "IsNaN") && test->in[0] == tensor && has_one_reader(f, n->in[0]) && leave_out(r, f, test))
            return n;
    }
    return NULL;
}

static bool walk_on(const finder *f, uint32_t tensor, found *r)
{
    const pbi_onnx *m = f->m;
    for (;;) {
        const pbi_onnx_node *n = guard_of(f, tensor, r);
        if (!n && !has_one_reader(f, tensor))
            return false;
        n = n ? n : &m->node[f->reader[tensor]];
        if (is_op(n, "MatMul") && n->in[0] == tensor && m->tensor[n->in[1]].rank >= 3) {
            r->last = (size_t)(n - m->node);
            r->v = n->in[1];
            return maker_of(f, r->v) != NULL;
        }
        bool dropped = is_op(n, "Dropout") && n->view;
        if (!is_op(n, "Cast") && !is_op(n, "Identity") && !is_op(n, "Where") && !dropped)
            return false;
        if (is_op(n, "Where") && n->in[2] != tensor)
            return false;
        if (!leave_out(r, f, n))
            return false;
        tensor = n->out[0];
    }
}

/* Scaling by a constant, and transpositions, in front of the kernel. */
static uint32_t behind_layout(const finder *f, uint32_t tensor, found *r)
{
    for (;;) {
        const pbi_onnx_node *n = maker_of(f, tensor);
        if (!n || n->folded || !has_one_reader(f, tensor))
            return tensor;
        bool scaled = (is_op(n, "Mul") || is_op(n, "Div")) && n->in_count == 2 && is_one_number(f, n->in[1]) &&
                      !f->active[n->in[1]];
        if ((!scaled && !is_op(n, "Transpose")) || !maker_of(f, n->in[0]) || !leave_out(r, f, n))
            return tensor;
        tensor = n->in[0];
    }
}

/* Turns the last product into the kernel. */
static pb_status fuse(finder *f, const pbi_onnx_node *softmax, found *r)
{
    pbi_onnx *m = f->m;
    pbi_onnx_node *last = &m->node[r->last];
    const pbi_onnx_node *scores = &m->node[r->scores];
    const pbi_onnx_tensor *p = &m->tensor[scores->out[0]];
    uint64_t keys = p->dims[p->rank - 1], numbers = pbi_onnx_elements(p), both;
    uint32_t *in = pb_arena_alloc(m->arena, 3 + (size_t)r->masks, sizeof *in);
    if (!in)
        return PB_ENOMEM;
    if (!leave_out(r, f, softmax))
        return PB_OK;
    r->q = behind_layout(f, r->q, r);
    r->k = behind_layout(f, r->k, r);
    r->v = behind_layout(f, r->v, r);
    in[0] = r->q;
    in[1] = r->k;
    in[2] = r->v;
    for (uint32_t i = 0; i < r->masks; i++)
        in[3 + i] = r->mask[i];
    both = pbi_add_saturated(scores->cost, last->cost); /* two products in the forward pass, five in the backward */
    last->in = in;
    last->in_count = 3 + r->masks;
    last->cost = pbi_add_saturated(both, pbi_times(5, numbers));
    last->grad_cost = pbi_add_saturated(pbi_times(5, both) / 2, pbi_times(9, numbers));
    last->side_size = keys ? pbi_times(numbers / keys, 4) : 0;
    last->kind = PBI_OP_ATTENTION;
    last->work = PBI_WORK_ATTENTION;
    for (uint32_t i = 0; i < r->chain_count; i++)
        m->node[r->chain[i]].fused = true;
    uint32_t out = last->out[0];
    pbi_onnx_node *turned = has_one_reader(f, out) ? &m->node[f->reader[out]] : NULL;
    if (turned && is_op(turned, "Transpose")) {
        turned->view = true;
        m->tensor[turned->out[0]].base = out;
        for (uint32_t t = 0; t < m->tensor_count; t++) /* views of the transposed tensor */
            if (m->tensor[t].base == turned->out[0])
                m->tensor[t].base = out;
    }
    return PB_OK;
}

static bool is_active(const finder *f, const pbi_onnx_node *n)
{
    for (uint32_t i = 0; i < n->in_count; i++)
        if (n->in[i] != PBI_ONNX_NONE && f->active[n->in[i]])
            return n->kind != PBI_OP_BLOCKED;
    return false;
}

static void look_around(finder *f)
{
    pbi_onnx *m = f->m;
    for (uint32_t t = 0; t < m->tensor_count; t++) {
        f->maker[t] = PBI_ONNX_NONE;
        f->active[t] = m->tensor[t].learnable;
    }
    for (size_t i = 0; i < m->node_count; i++) {
        const pbi_onnx_node *n = &m->node[i];
        bool active = is_active(f, n);
        for (uint32_t k = 0; k < n->in_count; k++)
            if (n->in[k] != PBI_ONNX_NONE) {
                f->readers[n->in[k]]++;
                f->reader[n->in[k]] = (uint32_t)i;
            }
        for (uint32_t k = 0; k < n->out_count; k++)
            if (n->out[k] != PBI_ONNX_NONE) {
                f->active[n->out[k]] = active;
                f->maker[n->out[k]] = n->folded ? PBI_ONNX_NONE : (uint32_t)i;
            }
    }
}

static bool is_last_axis(const pbi_onnx *m, const pbi_onnx_node *n)
{
    const pbi_onnx_tensor *x = &m->tensor[n->in[0]];
    int64_t axis = pbi_onnx_integer(n, "axis", m->opset >= 13 ? -1 : 1);
    return x->rank >= 3 && (axis == -1 || axis == (int64_t)x->rank - 1);
}

/* x sigmoid(x), which frameworks compute in one kernel that keeps only x. */
static pb_status fuse_swish(finder *f, pbi_onnx_node *n)
{
    for (uint32_t i = 0; n->in_count == 2 && i < 2; i++) {
        const pbi_onnx_node *gate = maker_of(f, n->in[i]);
        if (!is_op(gate, "Sigmoid") || gate->in[0] != n->in[1 - i] || !has_one_reader(f, n->in[i]))
            continue;
        uint64_t numbers = pbi_onnx_elements(&f->m->tensor[n->out[0]]);
        const pbi_onnx_rule *rule = pbi_onnx_rule_find("Swish");
        uint32_t *in = pb_arena_alloc(f->m->arena, 1, sizeof *in);
        if (!in)
            return PB_ENOMEM;
        in[0] = n->in[1 - i];
        n->in = in;
        n->in_count = 1;
        n->kind = rule->kind;
        n->work = rule->work;
        n->cost = pbi_times(numbers, rule->flops);
        n->grad_cost = pbi_times(numbers, rule->grads);
        f->m->node[f->maker[gate->out[0]]].fused = true;
    }
    return PB_OK;
}

pb_status pbi_onnx_fuse(pbi_onnx *m, bool attention)
{
    finder f = {.m = m,
                .maker = pb_arena_zero(m->arena, m->tensor_count + 1u, sizeof *f.maker),
                .readers = pb_arena_zero(m->arena, m->tensor_count + 1u, sizeof *f.readers),
                .reader = pb_arena_zero(m->arena, m->tensor_count + 1u, sizeof *f.reader),
                .active = pb_arena_zero(m->arena, m->tensor_count + 1u, sizeof *f.active)};
    if (!f.maker || !f.readers || !f.reader || !f.active)
        return PB_ENOMEM;
    look_around(&f);
    pb_status status = PB_OK;
    for (size_t i = 0; i < m->node_count && status == PB_OK; i++) {
        pbi_onnx_node *n = &m->node[i];
        found r = {.chain_count = 0};
        if (is_op(n, "Mul") && !n->folded && !n->fused)
            status = fuse_swish(&f, n);
        if (!attention || !is_op(n, "Softmax") || n->folded || n->fused || !is_last_axis(m, n))
            continue;
        if (walk_back(&f, n->in[0], &r) && walk_on(&f, n->out[0], &r))
            status = fuse(&f, n, &r);
        if (status == PB_OK && i % 64 == 0)
            status = pbi_poll(m->ctx);
    }
    return status;
}
