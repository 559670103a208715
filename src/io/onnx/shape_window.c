/* shape_window.c -- shapes and costs of windows that go over images: convolutions, pooling, resizing. */
#include "io/onnx/model.h"

#include <math.h>

typedef struct window {
    uint32_t axes; /* of the image: rank - 2 */
    uint64_t kernel[PBI_ONNX_RANK], stride[PBI_ONNX_RANK], dilation[PBI_ONNX_RANK];
    uint64_t before[PBI_ONNX_RANK], after[PBI_ONNX_RANK];
    bool same, valid, ceil;
} window;

static pb_status numbers_for(pbi_onnx *m, pbi_onnx_node *n, const char *name, uint32_t count, uint64_t least,
                             uint64_t *out)
{
    const int64_t *list;
    uint32_t have;
    pb_status status = pbi_onnx_list(m, n, name, UINT32_MAX, &list, &have);
    if (status == PB_OK && have && have != count)
        return pbi_onnx_invalid(m, n, "its attribute \"%s\" has %u numbers instead of %u", name, have, count);
    for (uint32_t i = 0; status == PB_OK && i < have; i++) {
        if (list[i] < (int64_t)least || list[i] > (int64_t)1 << 40)
            return pbi_onnx_invalid(m, n, "its attribute \"%s\" contains %lld, which is out of range", name,
                                    (long long)list[i]);
        out[i] = (uint64_t)list[i];
    }
    return status;
}

/* The window from the attributes; `kernel` is the weights' shape after the channels, or NULL. */
static pb_status read_window(pbi_onnx *m, pbi_onnx_node *n, const pbi_onnx_tensor *x, const uint64_t *kernel, window *w)
{
    const char *pad = pbi_onnx_text(n, "auto_pad", "NOTSET");
    uint64_t pads[2 * PBI_ONNX_RANK] = {0};
    if (x->rank < 3)
        return pbi_onnx_invalid(
            m, n, "its input has rank %u, but needs a batch, channels and at least one more dimension", x->rank);
    *w = (window){.axes = x->rank - 2, .ceil = pbi_onnx_integer(n, "ceil_mode", 0) != 0};
    w->same = strncmp(pad, "SAME", 4) == 0;
    w->valid = strcmp(pad, "VALID") == 0;
    for (uint32_t i = 0; i < w->axes; i++) {
        w->kernel[i] = kernel ? kernel[i] : 0;
        w->stride[i] = w->dilation[i] = 1;
    }
    pb_status status = numbers_for(m, n, "strides", w->axes, 1, w->stride);
    if (status == PB_OK)
        status = numbers_for(m, n, "dilations", w->axes, 1, w->dilation);
    if (status == PB_OK)
        status = numbers_for(m, n, "kernel_shape", w->axes, 1, w->kernel);
    if (status == PB_OK)
        status = numbers_for(m, n, "pads", 2 * w->axes, 0, pads);
    for (uint32_t i = 0; status == PB_OK && i < w->axes; i++) {
        w->before[i] = w->same || w->valid ? 0 : pads[i];
        w->after[i] = w->same || w->valid ? 0 : pads[i + w->axes];
        if (w->kernel[i] == 0 || w->kernel[i] > (uint64_t)1 << 40 || x->dims[i + 2] > (uint64_t)1 << 60)
            return pbi_onnx_invalid(m, n, "its kernel_shape is missing or too large");
    }
    return status;
}

static uint64_t reach(const window *w, uint32_t i)
{
    return pbi_add_saturated(pbi_times(w->kernel[i] - 1, w->dilation[i]), 1);
}

static uint64_t area(const window *w)
{
    uint64_t area = 1;
    for (uint32_t i = 0; i < w->axes; i++)
        area = pbi_times(area, w->kernel[i]);
    return area;
}

/* The number of positions of the window along axis i of an image. */
static pb_status places(pbi_onnx *m, pbi_onnx_node *n, const window *w, uint32_t i, uint64_t side, uint64_t *out)
{
    if (w->same) {
        *out = pbi_ceil_div(side, w->stride[i]);
        return PB_OK;
    }
    uint64_t padded = side + w->before[i] + w->after[i], size = reach(w, i);
    if (padded < size)
        return pbi_onnx_invalid(m, n, "its window of %llu is larger than its padded input of %llu",
                                (unsigned long long)size, (unsigned long long)padded);
    uint64_t room = padded - size;
    *out = (w->ceil ? pbi_ceil_div(room, w->stride[i]) : room / w->stride[i]) + 1;
    if (w->ceil && (*out - 1) * w->stride[i] >= side + w->before[i])
        (*out)--; /* a window that would start in the trailing padding */
    return PB_OK;
}

PBI_ONNX_SHAPER(conv)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *weight = pbi_onnx_in(m, n, 1);
    int64_t groups = pbi_onnx_integer(n, "group", 1);
    window w;
    if (!weight || weight->rank != x->rank || x->rank < 3)
        return pbi_onnx_invalid(m, n, "its weights must have the rank of its input, which is %u", x->rank);
    if (groups < 1 || x->dims[1] != pbi_times(weight->dims[1], (uint64_t)groups))
        return pbi_onnx_invalid(m, n,
                                "its input has %llu channels, but its weights are for %llu in each of %lld groups",
                                (unsigned long long)x->dims[1], (unsigned long long)weight->dims[1], (long long)groups);
    pb_status status = read_window(m, n, x, weight->dims + 2, &w);
    uint64_t dims[PBI_ONNX_RANK] = {x->dims[0], weight->dims[0]}, outputs = pbi_times(dims[0], dims[1]);
    for (uint32_t i = 0; status == PB_OK && i < w.axes; i++) {
        status = places(m, n, &w, i, x->dims[i + 2], &dims[i + 2]);
        outputs = pbi_times(outputs, dims[i + 2]);
    }
    if (status != PB_OK)
        return status;
    n->cost = n->grad_cost = pbi_times(pbi_times(2, outputs), pbi_times(weight->dims[1], area(&w)));
    if (groups > 1 && weight->dims[1] == 1)
        n->work = PBI_WORK_DEPTHWISE;
    return pbi_onnx_shape(m, n, 0, x->type, x->rank, dims);
}

PBI_ONNX_SHAPER(conv_transpose)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0), *weight = pbi_onnx_in(m, n, 1);
    int64_t groups = pbi_onnx_integer(n, "group", 1);
    uint64_t extra[PBI_ONNX_RANK] = {0}, fixed[PBI_ONNX_RANK] = {0};
    window w;
    if (!weight || weight->rank != x->rank || x->rank < 3 || groups < 1 || weight->dims[0] != x->dims[1])
        return pbi_onnx_invalid(m, n, "its weights do not match the channels of its input");
    pb_status status = read_window(m, n, x, weight->dims + 2, &w);
    if (status == PB_OK)
        status = numbers_for(m, n, "output_padding", w.axes, 0, extra);
    if (status == PB_OK)
        status = numbers_for(m, n, "output_shape", w.axes, 1, fixed);
    uint64_t dims[PBI_ONNX_RANK] = {x->dims[0], pbi_times(weight->dims[1], (uint64_t)groups)};
    for (uint32_t i = 0; status == PB_OK && i < w.axes; i++) {
        uint64_t side = x->dims[i + 2], cut = w.before[i] + w.after[i];
        uint64_t full =
            pbi_add_saturated(pbi_times(w.stride[i], side ? side - 1 : 0), pbi_add_saturated(reach(&w, i), extra[i]));
        if (!fixed[i] && !w.same && full <= cut)
            return pbi_onnx_invalid(m, n, "its padding removes all of dimension %u of the image", i);
        dims[i + 2] = fixed[i] ? fixed[i] : w.same ? pbi_times(side, w.stride[i]) : full - cut;
    }
    if (status != PB_OK)
        return status;
    n->cost = n->grad_cost = pbi_times(pbi_times(2, pbi_onnx_elements(x)), pbi_times(weight->dims[1], area(&w)));
    if (groups > 1 && x->dims[1] == (uint64_t)groups)
        n->work = PBI_WORK_DEPTHWISE;
    return pbi_onnx_shape(m, n, 0, x->type, x->rank, dims);
}

PBI_ONNX_SHAPER(pool)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    window w;
    pb_status status = read_window(m, n, x, NULL, &w);
    uint64_t dims[PBI_ONNX_RANK] = {0}, outputs = 1;
    for (uint32_t i = 0; status == PB_OK && i < x->rank; i++) {
        dims[i] = x->dims[i];
        if (i >= 2)
            status = places(m, n, &w, i - 2, x->dims[i], &dims[i]);
        outputs = pbi_times(outputs, dims[i]);
    }
    if (status != PB_OK)
        return status;
    n->cost = pbi_times(outputs, area(&w));
    if (n->kind == PBI_OP_MAX_POOL && m->options->train)
        n->side_size = outputs; /* index of the maximum in the window: a byte each */
    status = pbi_onnx_shape(m, n, 0, x->type, x->rank, dims);
    return status == PB_OK ? pbi_onnx_shape(m, n, 1, PBI_ONNX_INT64, x->rank, dims) : status;
}

PBI_ONNX_SHAPER(global_pool)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    uint64_t dims[PBI_ONNX_RANK];
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i] = i < 2 ? x->dims[i] : 1;
    return pbi_onnx_shape(m, n, 0, x->type, x->rank, dims);
}

/* Resize and Upsample: sizes, or factors, of all axes or of those named. */
PBI_ONNX_SHAPER(resize)
{
    const pbi_onnx_tensor *x = pbi_onnx_in(m, n, 0);
    bool upsample = strcmp(n->op, "Upsample") == 0 || n->in_count == 2;
    const pbi_onnx_tensor *scales = pbi_onnx_in(m, n, upsample ? 1 : 2);
    const pbi_onnx_attribute *old = pbi_onnx_attribute_find(n, "scales");
    const int64_t *sizes, *axes;
    uint32_t size_count, axis_count;
    uint64_t dims[PBI_ONNX_RANK];
    pb_status status = pbi_onnx_list(m, n, NULL, upsample ? UINT32_MAX : 3, &sizes, &size_count);
    if (status == PB_OK)
        status = pbi_onnx_list(m, n, "axes", UINT32_MAX, &axes, &axis_count);
    if (status != PB_OK)
        return status;
    if (strcmp(pbi_onnx_text(n, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0)
        return pbi_onnx_refuse(m, n, "keep_aspect_ratio_policy is not supported; export the model with exact sizes");
    bool scaled = scales && pbi_onnx_elements(scales) > 0;
    uint32_t count = axes ? axis_count : x->rank;
    if (!size_count && !old && !(scaled && scales->values))
        return pbi_onnx_refuse(m, n, "its sizes are not known before the model runs; simplify the model (onnxsim)");
    uint64_t have = size_count ? size_count : old ? old->real_count : pbi_onnx_elements(scales);
    if (have != count)
        return pbi_onnx_invalid(m, n, "it has %llu sizes for %u axes", (unsigned long long)have, count);
    memcpy(dims, x->dims, x->rank * sizeof *dims);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        status = pbi_onnx_axis(m, n, axes ? axes[i] : (int64_t)i, x->rank, &axis);
        if (status != PB_OK)
            return status;
        double factor = size_count ? 1 : old ? pbi_wire_as_real(old->reals[i], 4) : scales->values[i].f;
        double size = size_count ? (double)sizes[i] : floor((double)x->dims[axis] * factor);
        if (!(size >= 0 && size < 1e15))
            return pbi_onnx_invalid(m, n, "axis %u cannot be resized to %g", axis, size);
        dims[axis] = (uint64_t)size;
    }
    return pbi_onnx_shape(m, n, 0, x->type, x->rank, dims);
}
