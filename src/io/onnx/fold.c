/* fold.c -- constant folding: exporters compute shapes this way. */
#include "io/onnx/model.h"

#include <math.h>

typedef struct fold {
    const pbi_onnx *m;
    const pbi_onnx_node *n;
    const pbi_onnx_tensor *in[3], *out;
    pbi_onnx_number *to;
    uint64_t count;
    bool real; /* the inputs are real numbers */
} fold;

/* The element of `t` that broadcasts to element `linear` of `out`. */
static uint64_t source_of(const pbi_onnx_tensor *t, const pbi_onnx_tensor *out, uint64_t linear)
{
    uint64_t at = 0, stride = 1;
    for (uint32_t i = 0; i < out->rank; i++) {
        uint64_t size = out->dims[out->rank - 1 - i], index = linear % size;
        linear /= size;
        if (i < t->rank) {
            uint64_t own = t->dims[t->rank - 1 - i];
            at += own == 1 ? 0 : index * stride;
            stride *= own;
        }
    }
    return at;
}

static int64_t wrap(uint64_t value)
{
    int64_t out;
    memcpy(&out, &value, sizeof out);
    return out;
}

static int64_t whole_power(int64_t base, int64_t exponent)
{
    uint64_t result = 1, factor = (uint64_t)base;
    for (; exponent > 0; exponent >>= 1, factor *= factor)
        if (exponent & 1)
            result *= factor;
    return wrap(result);
}

/* False: not an operator that is handled here, or no result. */
static bool whole_pair(const char *op, int64_t a, int64_t b, int64_t *out)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    if (strcmp(op, "Add") == 0 || strcmp(op, "Sum") == 0)
        *out = wrap(ua + ub);
    else if (strcmp(op, "Sub") == 0)
        *out = wrap(ua - ub);
    else if (strcmp(op, "Mul") == 0)
        *out = wrap(ua * ub);
    else if (strcmp(op, "Div") == 0 && b != 0 && b != -1)
        *out = a / b;
    else if (strcmp(op, "Div") == 0 && b == -1)
        *out = wrap(0 - ua);
    else if (strcmp(op, "Mod") == 0 && b != 0 && b != -1)
        *out = a % b != 0 && (a % b < 0) != (b < 0) ? a % b + b : a % b;
    else if (strcmp(op, "Pow") == 0 && b >= 0)
        *out = whole_power(a, b);
    else if (strcmp(op, "Min") == 0)
        *out = a < b ? a : b;
    else if (strcmp(op, "Max") == 0)
        *out = a > b ? a : b;
    else if (strcmp(op, "Equal") == 0)
        *out = a == b;
    else if (strcmp(op, "Less") == 0)
        *out = a < b;
    else if (strcmp(op, "LessOrEqual") == 0)
        *out = a <= b;
    else if (strcmp(op, "Greater") == 0)
        *out = a > b;
    else if (strcmp(op, "GreaterOrEqual") == 0)
        *out = a >= b;
    else if (strcmp(op, "And") == 0)
        *out = a && b;
    else if (strcmp(op, "Or") == 0)
        *out = a || b;
    else
        return false;
    return true;
}

static bool real_pair(const char *op, double a, double b, pbi_onnx_number *out)
{
    if (strcmp(op, "Add") == 0)
        out->f = a + b;
    else if (strcmp(op, "Sub") == 0)
        out->f = a - b;
    else if (strcmp(op, "Mul") == 0)
        out->f = a * b;
    else if (strcmp(op, "Div") == 0)
        out->f = a / b;
    else if (strcmp(op, "Pow") == 0)
        out->f = pow(a, b);
    else if (strcmp(op, "Min") == 0)
        out->f = a < b ? a : b;
    else if (strcmp(op, "Max") == 0)
        out->f = a > b ? a : b;
    else if (strcmp(op, "Equal") == 0)
        out->i = a == b;
    else if (strcmp(op, "Less") == 0)
        out->i = a < b;
    else if (strcmp(op, "Greater") == 0)
        out->i = a > b;
    else
        return false;
    return true;
}

static bool fold_pair(fold *f)
{
    /* Pow may have a base of whole numbers with a real exponent, and vice versa. */
    bool done = f->n->in_count == 2 && pbi_onnx_is_real(f->in[1]->type) == f->real;
    for (uint64_t i = 0; done && i < f->count; i++) {
        pbi_onnx_number a = f->in[0]->values[source_of(f->in[0], f->out, i)];
        pbi_onnx_number b = f->in[1]->values[source_of(f->in[1], f->out, i)];
        done = f->real ? real_pair(f->n->op, a.f, b.f, &f->to[i]) : whole_pair(f->n->op, a.i, b.i, &f->to[i].i);
    }
    return done;
}

static bool fold_single(fold *f)
{
    const char *op = f->n->op;
    for (uint64_t i = 0; i < f->count; i++) {
        pbi_onnx_number a = f->in[0]->values[i];
        if (strcmp(op, "Not") == 0)
            f->to[i].i = !a.i;
        else if (strcmp(op, "Neg") == 0 && f->real)
            f->to[i].f = -a.f;
        else if (strcmp(op, "Neg") == 0)
            f->to[i].i = wrap(0 - (uint64_t)a.i);
        else if (strcmp(op, "Abs") == 0 && f->real)
            f->to[i].f = fabs(a.f);
        else if (strcmp(op, "Abs") == 0)
            f->to[i].i = a.i < 0 ? wrap(0 - (uint64_t)a.i) : a.i;
        else if (strcmp(op, "Sqrt") == 0 && f->real)
            f->to[i].f = sqrt(a.f);
        else if (strcmp(op, "Floor") == 0 && f->real)
            f->to[i].f = floor(a.f);
        else if (strcmp(op, "Ceil") == 0 && f->real)
            f->to[i].f = ceil(a.f);
        else if (strcmp(op, "Round") == 0 && f->real)
            f->to[i].f = nearbyint(a.f);
        else if (strcmp(op, "Reciprocal") == 0 && f->real)
            f->to[i].f = 1 / a.f;
        else
            return false;
    }
    return true;
}

static bool fold_cast(fold *f)
{
    bool real = pbi_onnx_is_real(f->out->type);
    for (uint64_t i = 0; i < f->count; i++) {
        pbi_onnx_number a = f->in[0]->values[i];
        if (real)
            f->to[i].f = f->real ? a.f : (double)a.i;
        else if (f->out->type == PBI_ONNX_BOOL)
            f->to[i].i = f->real ? a.f != 0 : a.i != 0;
        else if (f->real && !(a.f > -9.2e18 && a.f < 9.2e18))
            return false;
        else
            f->to[i].i = f->real ? (int64_t)a.f : a.i;
    }
    return true;
}

static bool fold_copy(fold *f)
{
    if (pbi_onnx_elements(f->in[0]) != f->count)
        return false;
    for (uint64_t i = 0; i < f->count; i++)
        f->to[i] = f->in[0]->values[i];
    return true;
}

static bool fold_expand(fold *f)
{
    for (uint64_t i = 0; i < f->count; i++)
        f->to[i] = f->in[0]->values[source_of(f->in[0], f->out, i)];
    return true;
}

static bool fold_where(fold *f)
{
    for (uint64_t i = 0; i < f->count; i++) {
        const pbi_onnx_tensor *from = f->in[0]->values[source_of(f->in[0], f->out, i)].i ? f->in[1] : f->in[2];
        f->to[i] = from->values[source_of(from, f->out, i)];
    }
    return true;
}

/* Along axis 0 of lists and tables, which is enough for shapes. */
static bool fold_gather(fold *f)
{
    const pbi_onnx_tensor *x = f->in[0], *at = f->in[1];
    int64_t axis = pbi_onnx_integer(f->n, "axis", 0);
    if (x->rank == 0 || (axis != 0 && axis != -(int64_t)x->rank))
        return false;
    uint64_t rows = x->dims[0], row = rows ? pbi_onnx_elements(x) / rows : 0, picks = pbi_onnx_elements(at);
    for (uint64_t i = 0; i < picks; i++) {
        int64_t index = at->values[i].i;
        if (index < 0)
            index += (int64_t)rows;
        if (index < 0 || (uint64_t)index >= rows)
            return false;
        for (uint64_t k = 0; k < row; k++)
            f->to[i * row + k] = x->values[(uint64_t)index * row + k];
    }
    return true;
}

static bool fold_concat(fold *f)
{
    uint64_t at = 0;
    if (f->out->rank != 1)
        return false;
    for (uint32_t k = 0; k < f->n->in_count; k++) {
        const pbi_onnx_tensor *t = pbi_onnx_in(f->m, f->n, k);
        for (uint64_t i = 0; i < t->dims[0]; i++)
            f->to[at++] = t->values[i];
    }
    return true;
}

static bool fold_slice(fold *f)
{
    const int64_t *starts, *steps;
    uint32_t count, step_count;
    int64_t size = f->in[0]->rank == 1 ? (int64_t)f->in[0]->dims[0] : 0;
    if (f->in[0]->rank != 1 || pbi_onnx_list(f->m, f->n, "starts", 1, &starts, &count) != PB_OK ||
        pbi_onnx_list(f->m, f->n, NULL, 4, &steps, &step_count) != PB_OK || count != 1)
        return false;
    int64_t step = steps ? steps[0] : 1, start = starts[0] < 0 ? starts[0] < -size ? 0 : starts[0] + size : starts[0];
    if (start > size - (step < 0))
        start = size - (step < 0);
    for (uint64_t i = 0; i < f->count; i++)
        f->to[i] = f->in[0]->values[start + (int64_t)i * step];
    return true;
}

static bool fold_split(fold *f, uint32_t part)
{
    uint64_t at = 0;
    if (f->in[0]->rank != 1)
        return false;
    for (uint32_t i = 0; i < part; i++) {
        const pbi_onnx_tensor *before = pbi_onnx_out(f->m, f->n, i);
        if (!before)
            return false;
        at += before->dims[0];
    }
    for (uint64_t i = 0; i < f->count; i++)
        f->to[i] = f->in[0]->values[at + i];
    return true;
}

/* Reduces all numbers to one. */
static bool fold_reduce(fold *f)
{
    const char *op = f->n->op;
    uint64_t count = pbi_onnx_elements(f->in[0]);
    if (f->count != 1 || f->real || count == 0)
        return false;
    const char *pair = strcmp(op, "ReduceProd") == 0  ? "Mul"
                       : strcmp(op, "ReduceSum") == 0 ? "Add"
                       : strcmp(op, "ReduceMax") == 0 ? "Max"
                       : strcmp(op, "ReduceMin") == 0 ? "Min"
                                                      : "";
    int64_t result = f->in[0]->values[0].i;
    for (uint64_t i = 1; i < count; i++)
        if (!whole_pair(pair, result, f->in[0]->values[i].i, &result))
            return false;
    f->to[0].i = result;
    return *pair != 0;
}

static bool fold_range(fold *f)
{
    for (uint64_t i = 0; i < f->count; i++) {
        if (f->real)
            f->to[i].f = f->in[0]->values[0].f + (double)i * f->in[2]->values[0].f;
        else
            f->to[i].i = wrap((uint64_t)f->in[0]->values[0].i + i * (uint64_t)f->in[2]->values[0].i);
    }
    return true;
}

static bool fold_fill(fold *f)
{
    const pbi_onnx_attribute *value = pbi_onnx_attribute_find(f->n, "value");
    pbi_onnx_number fill = {.i = 0};
    if (value && value->tensor != PBI_ONNX_NONE) {
        const pbi_onnx_tensor *t = &f->m->tensor[value->tensor];
        if (!t->values || pbi_onnx_elements(t) != 1)
            return false;
        fill = t->values[0];
    } else {
        fill.f = 0;
    }
    for (uint64_t i = 0; i < f->count; i++)
        f->to[i] = fill;
    return true;
}

static bool fold_nonzero(fold *f)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < f->in[0]->dims[0]; i++)
        if (f->real ? f->in[0]->values[i].f != 0 : f->in[0]->values[i].i != 0)
            f->to[at++].i = (int64_t)i;
    return at == f->count;
}

/* A list, or a table of one row or column, has the same order when transposed. */
static bool fold_transpose(fold *f)
{
    uint32_t long_axes = 0;
    for (uint32_t i = 0; i < f->in[0]->rank; i++)
        long_axes += f->in[0]->dims[i] != 1;
    return long_axes <= 1 && fold_copy(f);
}

static bool run(fold *f, uint32_t part)
{
    static const struct {
        const char *op;
        bool (*fold)(fold *);
    } by_name[] = {
        {"CastLike", fold_cast},        {"Cast", fold_cast},         {"Where", fold_where},
        {"Gather", fold_gather},        {"Concat", fold_concat},     {"Slice", fold_slice},
        {"Range", fold_range},          {"Expand", fold_expand},     {"Reshape", fold_copy},
        {"Squeeze", fold_copy},         {"Unsqueeze", fold_copy},    {"Flatten", fold_copy},
        {"Identity", fold_copy},        {"NonZero", fold_nonzero},   {"Transpose", fold_transpose},
        {"ConstantOfShape", fold_fill}, {"ReduceProd", fold_reduce}, {"ReduceSum", fold_reduce},
        {"ReduceMax", fold_reduce},     {"ReduceMin", fold_reduce},
    };
    if (strcmp(f->n->op, "Split") == 0)
        return fold_split(f, part);
    for (size_t i = 0; i < sizeof by_name / sizeof *by_name; i++)
        if (strcmp(f->n->op, by_name[i].op) == 0)
            return by_name[i].fold(f);
    return f->n->in_count == 2 ? fold_pair(f) : f->n->in_count == 1 && fold_single(f);
}

/* Whether all input numbers are known, and none is a learnable parameter. */
static bool inputs_known(const pbi_onnx *m, const pbi_onnx_node *n)
{
    for (uint32_t i = 0; i < n->in_count; i++) {
        const pbi_onnx_tensor *t = pbi_onnx_in(m, n, i);
        if (i == 1 && strcmp(n->op, "CastLike") == 0)
            continue; /* only its type counts */
        if (!t || !t->values || t->learnable)
            return false;
    }
    return true;
}

pb_status pbi_onnx_fold(pbi_onnx *m, pbi_onnx_node *n)
{
    if (n->rule->random || !inputs_known(m, n))
        return PB_OK;
    for (uint32_t part = 0; part < n->out_count; part++) {
        pbi_onnx_tensor *out = pbi_onnx_out(m, n, part);
        if (!out || out->values || pbi_onnx_elements(out) > PBI_ONNX_VALUES)
            continue;
        fold f = {.m = m, .n = n, .out = out, .count = pbi_onnx_elements(out)};
        for (uint32_t i = 0; i < 3; i++)
            f.in[i] = pbi_onnx_in(m, n, i);
        f.real = f.in[0] && pbi_onnx_is_real(f.in[0]->type);
        f.to = pb_arena_alloc(m->arena, f.count ? (size_t)f.count : 1, sizeof *f.to);
        if (!f.to)
            return PB_ENOMEM;
        if (run(&f, part))
            out->values = f.to;
    }
    return PB_OK;
}
