/* shape_move.c -- shapes of operators that reshape, select or generate numbers. */
#include "io/onnx/model.h"

PBI_ONNX_SHAPER(view)
{
    n->view = true;
    return pbi_onnx_shape_same(m, n);
}

static pb_status viewed(pbi_onnx *m, pbi_onnx_node *n, uint32_t rank, const uint64_t *dims)
{
    n->view = true;
    return pbi_onnx_shape(m, n, 0, pbi_onnx_in(m, n, 0)->type, rank, dims);
}

PBI_ONNX_SHAPER(reshape)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *shape;
    uint32_t count, open = PBI_ONNX_RANK;
    uint64_t dims[PBI_ONNX_RANK], product = 1, elements = pbi_onnx_elements(x);
    pb_status status = pbi_onnx_list(m, n, "shape", 1, &shape, &count);
    if (status != PB_OK)
        return status;
    if (count > PBI_ONNX_RANK)
        return pbi_onnx_refuse(m, n, "its result has %u dimensions; at most %d are supported: reshape it to fewer",
                               count, PBI_ONNX_RANK);
    for (uint32_t i = 0; i < count; i++) {
        if (shape[i] == 0 && !pbi_onnx_integer(n, "allowzero", 0)) {
            if (i >= x->rank)
                return pbi_onnx_invalid(
                    m, n, "its shape copies dimension %u of the input, which has only %u dimensions", i, x->rank);
            dims[i] = x->dims[i];
        } else if (shape[i] == -1 && open == PBI_ONNX_RANK) {
            open = i;
            continue;
        } else if (shape[i] < 0) {
            return pbi_onnx_invalid(m, n, "its shape contains %lld, which is not a size", (long long)shape[i]);
        } else {
            dims[i] = (uint64_t)shape[i];
        }
        product = pbi_times(product, dims[i]);
    }
    if (open < PBI_ONNX_RANK)
        dims[open] = product ? elements / product : 0;
    if (open < PBI_ONNX_RANK ? (product && elements % product) || (!product && elements) : product != elements)
        return pbi_onnx_invalid(m, n, "its input has %llu elements, which do not fill the new shape",
                                (unsigned long long)elements);
    return viewed(m, n, count, dims);
}

PBI_ONNX_SHAPER(flatten)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    int64_t axis = pbi_onnx_integer(n, "axis", 1);
    uint64_t dims[2] = {1, 1};
    if (axis < -(int64_t)x->rank || axis > (int64_t)x->rank)
        return pbi_onnx_invalid(m, n, "axis %lld does not exist in a tensor of rank %u", (long long)axis, x->rank);
    for (uint32_t i = 0; i < x->rank; i++) {
        uint64_t *side = &dims[(int64_t)i >= (axis < 0 ? axis + x->rank : axis)];
        *side = pbi_times(*side, x->dims[i]);
    }
    return viewed(m, n, 2, dims);
}

/* Marks the axes of the attribute or second input in `marked`, of a tensor of `rank`. */
static pb_status mark_axes(pbi_onnx *m, pbi_onnx_node *n, uint32_t rank, const int64_t *axes, uint32_t count,
                           bool marked[PBI_ONNX_RANK])
{
    if (rank > PBI_ONNX_RANK)
        return pbi_onnx_refuse(
            m, n, "its result has more than %d dimensions, which is not supported; reshape it to fewer", PBI_ONNX_RANK);
    memset(marked, 0, PBI_ONNX_RANK * sizeof *marked);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        pb_status status = pbi_onnx_axis(m, n, axes[i], rank, &axis);
        if (status != PB_OK)
            return status;
        if (marked[axis])
            return pbi_onnx_invalid(m, n, "axis %u is named twice", axis);
        marked[axis] = true;
    }
    return PB_OK;
}

PBI_ONNX_SHAPER(squeeze)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *axes;
    uint32_t count, rank = 0;
    bool marked[PBI_ONNX_RANK];
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status = pbi_onnx_list(m, n, "axes", 1, &axes, &count);
    if (status == PB_OK)
        status = mark_axes(m, n, x->rank, axes, count, marked);
    for (uint32_t i = 0; status == PB_OK && i < x->rank; i++) {
        if (marked[i] && x->dims[i] != 1)
            return pbi_onnx_invalid(m, n, "axis %u cannot be removed: its size is %llu, not 1", i,
                                    (unsigned long long)x->dims[i]);
        if (count ? !marked[i] : x->dims[i] != 1)
            dims[rank++] = x->dims[i];
    }
    return status == PB_OK ? viewed(m, n, rank, dims) : status;
}

PBI_ONNX_SHAPER(unsqueeze)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *axes;
    uint32_t count, from = 0;
    bool marked[PBI_ONNX_RANK];
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status = pbi_onnx_list(m, n, "axes", 1, &axes, &count);
    if (status == PB_OK)
        status = mark_axes(m, n, x->rank + count, axes, count, marked);
    for (uint32_t i = 0; status == PB_OK && i < x->rank + count; i++)
        dims[i] = marked[i] ? 1 : x->dims[from++];
    return status == PB_OK ? viewed(m, n, x->rank + count, dims) : status;
}

static bool same_dims(const pbi_onnx_tensor *x, uint32_t rank, const uint64_t *dims)
{
    return x->rank == rank && (rank == 0 || memcmp(x->dims, dims, rank * sizeof *dims) == 0);
}

PBI_ONNX_SHAPER(expand)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *shape;
    uint32_t count;
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status = pbi_onnx_list(m, n, NULL, 1, &shape, &count);
    uint32_t rank = count > x->rank ? count : x->rank;
    if (status == PB_OK && rank > PBI_ONNX_RANK)
        return pbi_onnx_refuse(
            m, n, "its result has more than %d dimensions, which is not supported; reshape it to fewer", PBI_ONNX_RANK);
    for (uint32_t i = 0; status == PB_OK && i < rank; i++) {
        uint64_t have = i + x->rank >= rank ? x->dims[i + x->rank - rank] : 1;
        int64_t want = i + count >= rank ? shape[i + count - rank] : 1;
        if (want < 0 || (have != 1 && want != 1 && have != (uint64_t)want))
            return pbi_onnx_invalid(m, n, "a dimension of size %llu cannot be expanded to %lld",
                                    (unsigned long long)have, (long long)want);
        dims[i] = have == 1 ? (uint64_t)want : have;
    }
    if (status != PB_OK)
        return status;
    n->view = same_dims(x, rank, dims);
    return pbi_onnx_shape(m, n, 0, x->type, rank, dims);
}

PBI_ONNX_SHAPER(tile)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *times;
    uint32_t count;
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status = pbi_onnx_list(m, n, NULL, 1, &times, &count);
    if (status == PB_OK && count != x->rank)
        return pbi_onnx_invalid(m, n, "it has %u repeats for a tensor of rank %u", count, x->rank);
    for (uint32_t i = 0; status == PB_OK && i < count; i++) {
        if (times[i] < 0)
            return pbi_onnx_invalid(m, n, "one of its repeats is negative");
        dims[i] = pbi_times(x->dims[i], (uint64_t)times[i]);
    }
    return status == PB_OK ? pbi_onnx_shape(m, n, 0, x->type, x->rank, dims) : status;
}

PBI_ONNX_SHAPER(transpose)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *order;
    uint32_t count;
    bool marked[PBI_ONNX_RANK];
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status = pbi_onnx_list(m, n, "perm", UINT32_MAX, &order, &count);
    if (status == PB_OK && count && count != x->rank)
        return pbi_onnx_invalid(m, n, "its perm has %u axes, but the tensor has rank %u", count, x->rank);
    if (status == PB_OK)
        status = mark_axes(m, n, x->rank, order, count, marked);
    for (uint32_t i = 0; status == PB_OK && i < x->rank; i++)
        dims[i] = x->dims[count ? (uint32_t)(order[i] < 0 ? order[i] + x->rank : order[i]) : x->rank - 1 - i];
    return status == PB_OK ? pbi_onnx_shape(m, n, 0, x->type, x->rank, dims) : status;
}

PBI_ONNX_SHAPER(concat)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    uint32_t axis;
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status = pbi_onnx_axis(m, n, pbi_onnx_integer(n, "axis", 1), x->rank, &axis);
    if (status != PB_OK)
        return status;
    memcpy(dims, x->dims, x->rank * sizeof *dims);
    for (uint32_t i = 1; i < n->in_count; i++) {
        const pbi_onnx_tensor *t = pbi_onnx_in(m, n, i);
        bool fits = t && t->rank == x->rank;
        for (uint32_t k = 0; fits && k < x->rank; k++)
            fits = k == axis || t->dims[k] == x->dims[k];
        if (!fits)
            return pbi_onnx_invalid(m, n, "the shapes of input %u and input 0 differ outside of axis %u", i, axis);
        dims[axis] = pbi_add_saturated(dims[axis], t->dims[axis]);
    }
    n->view = n->in_count == 1;
    return pbi_onnx_shape(m, n, 0, x->type, x->rank, dims);
}

PBI_ONNX_SHAPER(split)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *sizes;
    uint32_t count, axis;
    uint64_t dims[PBI_ONNX_RANK], left;
    pb_status status = pbi_onnx_axis(m, n, pbi_onnx_integer(n, "axis", 0), x->rank, &axis);
    if (status == PB_OK)
        status = pbi_onnx_list(m, n, "split", 1, &sizes, &count);
    if (status != PB_OK)
        return status;
    if (count && count != n->out_count)
        return pbi_onnx_invalid(m, n, "it has %u sizes for %u outputs", count, n->out_count);
    memcpy(dims, x->dims, x->rank * sizeof *dims);
    left = x->dims[axis];
    uint64_t each = pbi_ceil_div(left, n->out_count);
    for (uint32_t i = 0; status == PB_OK && i < n->out_count; i++) {
        uint64_t part = count ? (uint64_t)sizes[i] : each < left ? each : left;
        if (part > left)
            return pbi_onnx_invalid(m, n, "the parts together are larger than axis %u, whose size is %llu", axis,
                                    (unsigned long long)x->dims[axis]);
        left -= part;
        dims[axis] = part;
        status = pbi_onnx_shape(m, n, i, x->type, x->rank, dims);
    }
    if (status == PB_OK && left)
        return pbi_onnx_invalid(m, n, "the parts do not cover the last %llu elements of axis %u",
                                (unsigned long long)left, axis);
    n->view = n->out_count == 1;
    return status;
}

/* The number of indices start, start + step, ... before end, by the rules of Slice. */
static uint64_t slice_size(int64_t size, int64_t start, int64_t end, int64_t step)
{
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    start = start < 0 ? (start < -size ? -1 : start + size) : start;
    end = end < 0 ? (end < -size ? -1 : end + size) : end;
    if (step > 0 && start < 0)
        start = 0;
    if (step < 0 && start < 0)
        start = 0;
    if (start > (step > 0 ? size : size - 1))
        start = step > 0 ? size : size - 1;
    end = end < low ? low : end > high ? high : end;
    if (step > 0)
        return start < end ? ((uint64_t)(end - start) - 1) / (uint64_t)step + 1 : 0;
    return start > end ? ((uint64_t)(start - end) - 1) / (uint64_t)(-(step + 1) + 1) + 1 : 0;
}

PBI_ONNX_SHAPER(slice)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *starts, *ends, *axes, *steps;
    uint32_t count, end_count, axis_count, step_count;
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status = pbi_onnx_list(m, n, "starts", 1, &starts, &count);
    if (status == PB_OK)
        status = pbi_onnx_list(m, n, "ends", 2, &ends, &end_count);
    if (status == PB_OK)
        status = pbi_onnx_list(m, n, "axes", 3, &axes, &axis_count);
    if (status == PB_OK)
        status = pbi_onnx_list(m, n, NULL, 4, &steps, &step_count);
    if (status != PB_OK)
        return status;
    if (end_count != count || (axes && axis_count != count) || (steps && step_count != count))
        return pbi_onnx_invalid(m, n, "its starts, ends, axes and steps have different lengths");
    memcpy(dims, x->dims, x->rank * sizeof *dims);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        int64_t step = steps ? steps[i] : 1;
        status = pbi_onnx_axis(m, n, axes ? axes[i] : (int64_t)i, x->rank, &axis);
        if (status != PB_OK)
            return status;
        if (step == 0 || step == INT64_MIN)
            return pbi_onnx_invalid(m, n, "its step of %lld is not valid", (long long)step);
        dims[axis] = slice_size((int64_t)x->dims[axis], starts[i], ends[i], step);
    }
    return pbi_onnx_shape(m, n, 0, x->type, x->rank, dims);
}

PBI_ONNX_SHAPER(pad)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *pads, *axes;
    uint32_t count, axis_count;
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status =
        pbi_onnx_list(m, n, pbi_onnx_attribute_find(n, "paddings") ? "paddings" : "pads", 1, &pads, &count);
    if (status == PB_OK)
        status = pbi_onnx_list(m, n, NULL, 3, &axes, &axis_count);
    if (status != PB_OK)
        return status;
    uint32_t padded = axes ? axis_count : x->rank;
    if (count != 2 * padded)
        return pbi_onnx_invalid(m, n, "it has %u pads for %u axes, but each axis needs two", count, padded);
    memcpy(dims, x->dims, x->rank * sizeof *dims);
    for (uint32_t i = 0; i < padded; i++) {
        uint32_t axis;
        status = pbi_onnx_axis(m, n, axes ? axes[i] : (int64_t)i, x->rank, &axis);
        if (status != PB_OK)
            return status;
        int64_t before = pads[i], after = pads[i + padded];
        if (before < -((int64_t)1 << 60) || before > (int64_t)1 << 60 || after < -((int64_t)1 << 60) ||
            after > (int64_t)1 << 60 || dims[axis] > (uint64_t)1 << 60 || (int64_t)dims[axis] + before + after < 0)
            return pbi_onnx_invalid(m, n, "axis %u cannot be padded by %lld and %lld", axis, (long long)before,
                                    (long long)after);
        dims[axis] = (uint64_t)((int64_t)dims[axis] + before + after);
    }
    return pbi_onnx_shape(m, n, 0, x->type, x->rank, dims);
}

PBI_ONNX_SHAPER(gather)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *at = pbi_onnx_in(m, n, 1);
    uint32_t axis, rank = 0;
    uint64_t dims[2 * PBI_ONNX_RANK];
    if (!at)
        return pbi_onnx_invalid(m, n, "its indices are missing");
    pb_status status = pbi_onnx_axis(m, n, pbi_onnx_integer(n, "axis", 0), x->rank, &axis);
    for (uint32_t i = 0; status == PB_OK && i < x->rank; i++) {
        if (i != axis)
            dims[rank++] = x->dims[i];
        for (uint32_t k = 0; i == axis && k < at->rank; k++)
            dims[rank++] = at->dims[k];
    }
    return status == PB_OK ? pbi_onnx_shape(m, n, 0, x->type, rank, dims) : status;
}

PBI_ONNX_SHAPER(gather_elements)
{
    const pbi_onnx_tensor *at = pbi_onnx_in(m, n, 1);
    if (!at)
        return pbi_onnx_invalid(m, n, "its indices are missing");
    return pbi_onnx_shape(m, n, 0, pbi_onnx_in(m, n, 0)->type, at->rank, at->dims);
}

PBI_ONNX_SHAPER(gather_nd)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *at = pbi_onnx_in(m, n, 1);
    int64_t batch = pbi_onnx_integer(n, "batch_dims", 0);
    uint32_t rank = 0;
    uint64_t dims[2 * PBI_ONNX_RANK];
    if (!at || !at->rank)
        return pbi_onnx_invalid(m, n, "its indices are missing");
    uint64_t depth = at->dims[at->rank - 1];
    if (batch < 0 || batch >= (int64_t)at->rank || depth > x->rank || (uint64_t)batch + depth > x->rank)
        return pbi_onnx_invalid(m, n, "each of its indices has %llu numbers, too many for a tensor of rank %u",
                                (unsigned long long)depth, x->rank);
    for (uint32_t i = 0; i + 1 < at->rank; i++)
        dims[rank++] = at->dims[i];
    for (uint32_t i = (uint32_t)batch + (uint32_t)depth; i < x->rank; i++)
        dims[rank++] = x->dims[i];
    return pbi_onnx_shape(m, n, 0, x->type, rank, dims);
}

PBI_ONNX_SHAPER(topk)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    const int64_t *k;
    uint32_t count, axis;
    int64_t old = pbi_onnx_integer(n, "k", -1);
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status = pbi_onnx_axis(m, n, pbi_onnx_integer(n, "axis", -1), x->rank, &axis);
    if (status == PB_OK)
        status = pbi_onnx_list(m, n, NULL, 1, &k, &count);
    if (status != PB_OK)
        return status;
    int64_t most = count ? k[0] : old;
    if (most < 0 || (uint64_t)most > x->dims[axis])
        return pbi_onnx_invalid(m, n, "its k is %lld, but the axis has %llu elements", (long long)most,
                                (unsigned long long)x->dims[axis]);
    memcpy(dims, x->dims, x->rank * sizeof *dims);
    dims[axis] = (uint64_t)most;
    status = pbi_onnx_shape(m, n, 0, x->type, x->rank, dims);
    return status == PB_OK ? pbi_onnx_shape(m, n, 1, PBI_ONNX_INT64, x->rank, dims) : status;
}

PBI_ONNX_SHAPER(one_hot)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *depth = pbi_onnx_in(m, n, 1), *pair = pbi_onnx_in(m, n, 2);
    uint32_t axis, from = 0;
    uint64_t dims[PBI_ONNX_RANK + 1];
    if (!depth || !depth->values || pbi_onnx_elements(depth) != 1 || !pair)
        return pbi_onnx_refuse(m, n, "its depth is not known before the model runs; make it a constant");
    double size = pbi_onnx_is_real(depth->type) ? depth->values[0].f : (double)depth->values[0].i;
    if (!(size >= 0 && size < 1e15))
        return pbi_onnx_invalid(m, n, "its depth of %g is not valid", size);
    pb_status status = pbi_onnx_axis(m, n, pbi_onnx_integer(n, "axis", -1), x->rank + 1, &axis);
    for (uint32_t i = 0; status == PB_OK && i <= x->rank; i++)
        dims[i] = i == axis ? (uint64_t)size : x->dims[from++];
    return status == PB_OK ? pbi_onnx_shape(m, n, 0, pair->type, x->rank + 1, dims) : status;
}

/* ---- Generated numbers ---- */

static pb_status constant_list(pbi_onnx *m, pbi_onnx_node *n, int64_t type, bool scalar, uint64_t count,
                               const pbi_onnx_number *from)
{
    pb_status status = pbi_onnx_shape(m, n, 0, type, scalar ? 0 : 1, &count);
    pbi_onnx_tensor *t = pbi_onnx_out(m, n, 0);
    if (status == PB_OK && t && count <= PBI_ONNX_VALUES)
        t->values = from;
    return status;
}

PBI_ONNX_SHAPER(constant)
{
    for (uint32_t i = 0; i < n->attribute_count; i++) {
        const pbi_onnx_attribute *a = &n->attributes[i];
        if (strcmp(a->name, "value") == 0 && a->tensor != PBI_ONNX_NONE) {
            const pbi_onnx_tensor *from = &m->tensor[a->tensor];
            pb_status status = pbi_onnx_shape(m, n, 0, from->type, from->rank, from->dims);
            pbi_onnx_tensor *t = pbi_onnx_out(m, n, 0);
            if (status == PB_OK && t)
                t->values = from->values;
            return status;
        }
        bool integers = strcmp(a->name, "value_ints") == 0, reals = strcmp(a->name, "value_floats") == 0;
        bool scalar = strcmp(a->name, "value_int") == 0 || strcmp(a->name, "value_float") == 0;
        if (!integers && !reals && !scalar)
            continue;
        bool real = reals || strcmp(a->name, "value_float") == 0;
        size_t count = scalar ? 1 : real ? a->real_count : a->integer_count;
        pbi_onnx_number *numbers = pb_arena_alloc(m->arena, count ? count : 1, sizeof *numbers);
        if (!numbers)
            return PB_ENOMEM;
        for (size_t k = 0; k < count; k++) {
            if (real)
                numbers[k].f = scalar ? a->real : pbi_wire_as_real(a->reals[k], 4);
            else if (scalar)
                numbers[k].i = a->integer;
            else
                memcpy(&numbers[k].i, &a->integers[k], sizeof numbers[k].i);
        }
        return constant_list(m, n, real ? PBI_ONNX_FLOAT : PBI_ONNX_INT64, scalar, count, numbers);
    }
    return pbi_onnx_refuse(m, n, "texts and sparse tensors are not supported; store it as a dense tensor of numbers");
}

/* The shape given by a list of whole numbers. */
static pb_status made_of(pbi_onnx *m, pbi_onnx_node *n, int64_t type, const int64_t *shape, uint32_t count)
{
    uint64_t dims[PBI_ONNX_RANK];
    if (count > PBI_ONNX_RANK)
        return pbi_onnx_refuse(
            m, n, "its result has more than %d dimensions, which is not supported; reshape it to fewer", PBI_ONNX_RANK);
    for (uint32_t i = 0; i < count; i++) {
        if (shape[i] < 0)
            return pbi_onnx_invalid(m, n, "its shape contains %lld, which is not a size", (long long)shape[i]);
        dims[i] = (uint64_t)shape[i];
    }
    return pbi_onnx_shape(m, n, 0, type, count, dims);
}

PBI_ONNX_SHAPER(constant_of_shape)
{
    const pbi_onnx_attribute *value = pbi_onnx_attribute_find(n, "value");
    const int64_t *shape;
    uint32_t count;
    pb_status status = pbi_onnx_list(m, n, NULL, 0, &shape, &count);
    bool typed = value && value->tensor != PBI_ONNX_NONE;
    return status == PB_OK ? made_of(m, n, typed ? m->tensor[value->tensor].type : PBI_ONNX_FLOAT, shape, count)
                           : status;
}

/* RandomNormal and RandomUniform with a shape, the -Like ones and Bernoulli with an input. */
PBI_ONNX_SHAPER(random)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    int64_t type = pbi_onnx_integer(n, "dtype", x ? x->type : PBI_ONNX_FLOAT);
    const int64_t *shape;
    uint32_t count;
    if (x)
        return pbi_onnx_shape(m, n, 0, type, x->rank, x->dims);
    pb_status status = pbi_onnx_list(m, n, "shape", UINT32_MAX, &shape, &count);
    return status == PB_OK ? made_of(m, n, type, shape, count) : status;
}

PBI_ONNX_SHAPER(shape)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    int64_t rank = x->rank, start = pbi_onnx_integer(n, "start", 0), end = pbi_onnx_integer(n, "end", rank);
    start = start < 0 ? start + rank : start;
    end = end < 0 ? end + rank : end;
    start = start < 0 ? 0 : start > rank ? rank : start;
    end = end < start ? start : end > rank ? rank : end;
    pbi_onnx_number *numbers = pb_arena_alloc(m->arena, PBI_ONNX_RANK, sizeof *numbers);
    if (!numbers)
        return PB_ENOMEM;
    for (int64_t i = start; i < end; i++)
        numbers[i - start].i = (int64_t)x->dims[i];
    return constant_list(m, n, PBI_ONNX_INT64, false, (uint64_t)(end - start), numbers);
}

PBI_ONNX_SHAPER(size)
{
    pbi_onnx_number *number = pb_arena_alloc(m->arena, 1, sizeof *number);
    if (!number)
        return PB_ENOMEM;
    number->i = (int64_t)pbi_onnx_elements(pbi_onnx_in(m, n, 0));
    return constant_list(m, n, PBI_ONNX_INT64, true, 1, number);
}

PBI_ONNX_SHAPER(range)
{
    double ends[3];
    const pbi_onnx_tensor *first = pbi_onnx_in(m, n, 0);
    for (uint32_t i = 0; i < 3; i++) {
        const pbi_onnx_tensor *t = pbi_onnx_in(m, n, i);
        if (!t || !t->values || pbi_onnx_elements(t) != 1)
            return pbi_onnx_refuse(
                m, n,
                "its length depends on numbers that are not known before the model runs; fix the input "
                "shapes and simplify the model (onnxsim)");
        ends[i] = pbi_onnx_is_real(t->type) ? t->values[0].f : (double)t->values[0].i;
    }
    double steps = ends[2] != 0 ? (ends[1] - ends[0]) / ends[2] : -1;
    if (!(ends[2] != 0 && steps < 1e15))
        return pbi_onnx_invalid(m, n, "a range from %g to %g in steps of %g has no valid length", ends[0], ends[1],
                                ends[2]);
    uint64_t count = steps > 0 ? (uint64_t)steps : 0;
    count += steps > 0 && (double)count < steps;
    return pbi_onnx_shape(m, n, 0, first->type, 1, &count);
}

/* Positions of numbers that are not 0: of constants only, for old exports that count with it. */
PBI_ONNX_SHAPER(nonzero)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    uint64_t dims[2] = {x->rank, 0};
    if (!x->values || x->rank != 1)
        return pbi_onnx_refuse(m, n, "%s", pbi_onnx_advice("NonZero"));
    for (uint64_t i = 0; i < x->dims[0]; i++)
        dims[1] += pbi_onnx_is_real(x->type) ? x->values[i].f != 0 : x->values[i].i != 0;
    return pbi_onnx_shape(m, n, 0, PBI_ONNX_INT64, 2, dims);
}

static pb_status blocks(pbi_onnx *m, pbi_onnx_node *n, bool to_space)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    int64_t given = pbi_onnx_integer(n, "blocksize", 0);
    if (x->rank != 4 || given < 1 || given > 1 << 20)
        return pbi_onnx_invalid(m, n, "it needs an input of rank 4 and a blocksize");
    uint64_t side = (uint64_t)given, area = side * side;
    uint64_t dims[4] = {x->dims[0], x->dims[1], x->dims[2], x->dims[3]};
    if (to_space ? dims[1] % area : dims[2] % side || dims[3] % side)
        return pbi_onnx_invalid(m, n, "its blocksize of %llu does not divide its input", (unsigned long long)side);
    dims[1] = to_space ? dims[1] / area : pbi_times(dims[1], area);
    for (int i = 2; i < 4; i++)
        dims[i] = to_space ? pbi_times(dims[i], side) : dims[i] / side;
    return pbi_onnx_shape(m, n, 0, x->type, 4, dims);
}

PBI_ONNX_SHAPER(depth_to_space) { return blocks(m, n, true); }
PBI_ONNX_SHAPER(space_to_depth) { return blocks(m, n, false); }
