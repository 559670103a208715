/* tensor.c -- types, shapes, attributes and refusals, for the rules of operators. */
#include "io/onnx/model.h"

#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>

/* Names as in the ONNX standard; `work` is the name for machines, if it is another. */
static const struct {
    const char *name;
    uint8_t bits;
    bool real;
    const char *work;
} types[] = {
    [1] = {"float", 32, true, "float32"},   [2] = {"uint8", 8, false, NULL},
    [3] = {"int8", 8, false, NULL},         [4] = {"uint16", 16, false, NULL},
    [5] = {"int16", 16, false, NULL},       [6] = {"int32", 32, false, NULL},
    [7] = {"int64", 64, false, NULL},       [8] = {"string", 0, false, NULL},
    [9] = {"bool", 8, false, NULL},         [10] = {"float16", 16, true, NULL},
    [11] = {"double", 64, true, "float64"}, [12] = {"uint32", 32, false, NULL},
    [13] = {"uint64", 64, false, NULL},     [14] = {"complex64", 64, true, NULL},
    [15] = {"complex128", 128, true, NULL}, [16] = {"bfloat16", 16, true, NULL},
    [17] = {"float8e4m3fn", 8, true, NULL}, [18] = {"float8e4m3fnuz", 8, true, NULL},
    [19] = {"float8e5m2", 8, true, NULL},   [20] = {"float8e5m2fnuz", 8, true, NULL},
    [21] = {"uint4", 4, false, NULL},       [22] = {"int4", 4, false, NULL},
    [23] = {"float4e2m1", 4, true, NULL},   [24] = {"float8e8m0", 8, true, NULL},
    [25] = {"uint2", 2, false, NULL},       [26] = {"int2", 2, false, NULL},
};
enum { TYPES = sizeof types / sizeof *types };

static bool is_type(int64_t type) { return type > 0 && type < TYPES; }
unsigned pbi_onnx_bits(int64_t type) { return is_type(type) ? types[type].bits : 0; }
bool pbi_onnx_is_real(int64_t type) { return is_type(type) && types[type].real; }
const char *pbi_onnx_type_name(int64_t type) { return is_type(type) ? types[type].name : "unknown"; }
const char *pbi_onnx_work_type(int64_t type)
{
    return is_type(type) && types[type].work ? types[type].work : pbi_onnx_type_name(type);
}

const pbi_onnx_attribute *pbi_onnx_attribute_find(const pbi_onnx_node *n, const char *name)
{
    for (uint32_t i = 0; i < n->attribute_count; i++)
        if (strcmp(n->attributes[i].name, name) == 0)
            return &n->attributes[i];
    return NULL;
}

int64_t pbi_onnx_integer(const pbi_onnx_node *n, const char *name, int64_t fallback)
{
    const pbi_onnx_attribute *a = pbi_onnx_attribute_find(n, name);
    return a ? a->integer : fallback;
}

const char *pbi_onnx_text(const pbi_onnx_node *n, const char *name, const char *fallback)
{
    const pbi_onnx_attribute *a = pbi_onnx_attribute_find(n, name);
    return a ? a->text : fallback;
}

const pbi_onnx_tensor *pbi_onnx_in(const pbi_onnx *m, const pbi_onnx_node *n, uint32_t i)
{
    return i < n->in_count && n->in[i] != PBI_ONNX_NONE ? &m->tensor[n->in[i]] : NULL;
}

pbi_onnx_tensor *pbi_onnx_out(const pbi_onnx *m, const pbi_onnx_node *n, uint32_t i)
{
    return i < n->out_count && n->out[i] != PBI_ONNX_NONE ? &m->tensor[n->out[i]] : NULL;
}

uint64_t pbi_onnx_elements(const pbi_onnx_tensor *t)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] == 0)
            return 0;
    for (uint32_t i = 0; i < t->rank; i++)
        count = pbi_times(count, t->dims[i]);
    return count;
}

static pb_status refuse(const pbi_onnx *m, const pbi_onnx_node *n, const char *next, const char *format, va_list args)
{
    char message[360];
    vsnprintf(message, sizeof message, format, args);
    const char *name = *n->name                                     ? n->name
                       : n->out_count && n->out[0] != PBI_ONNX_NONE ? pbi_onnx_name(m, n->out[0])
                                                                    : "";
    return pbi_fail(m->ctx, PB_EGRAPH, "%.40s \"%.60s\" (byte %llu): %s%s", n->op, name, (unsigned long long)n->at,
                    message, next);
}

pb_status pbi_onnx_refuse(const pbi_onnx *m, const pbi_onnx_node *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pb_status status = refuse(m, n, "", format, args);
    va_end(args);
    return status;
}

pb_status pbi_onnx_invalid(const pbi_onnx *m, const pbi_onnx_node *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    /* With a new batch size the reader adds its own advice. */
    const char *next = m->batch_replaced ? "" : "; check the sizes of the inputs, and the model with onnx.checker";
    pb_status status = refuse(m, n, next, format, args);
    va_end(args);
    return status;
}

pb_status pbi_onnx_shape(pbi_onnx *m, const pbi_onnx_node *n, uint32_t i, int64_t type, uint32_t rank,
                         const uint64_t *dims)
{
    pbi_onnx_tensor *t = pbi_onnx_out(m, n, i);
    if (!t)
        return PB_OK;
    if (rank > PBI_ONNX_RANK)
        return pbi_onnx_refuse(m, n, "its output has %u dimensions; at most %d are supported: reshape it to fewer",
                               rank, PBI_ONNX_RANK);
    uint64_t *copy = pb_arena_alloc(m->arena, rank ? rank : 1, sizeof *copy);
    if (!copy)
        return PB_ENOMEM;
    if (rank)
        memcpy(copy, dims, rank * sizeof *copy);
    t->type = type;
    t->rank = rank;
    t->dims = copy;
    t->shaped = true;
    if (!pbi_onnx_bits(type))
        return pbi_onnx_refuse(
            m, n, "its output is of type %s, which is not supported; export the model with numbers or booleans",
            pbi_onnx_type_name(type));
    if (pbi_times(pbi_onnx_elements(t), 16) == UINT64_MAX)
        return pbi_onnx_refuse(m, n, "its output has more than 2^60 elements; choose smaller inputs");
    return PB_OK;
}

pb_status pbi_onnx_axis(const pbi_onnx *m, const pbi_onnx_node *n, int64_t axis, uint32_t rank, uint32_t *out)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return pbi_onnx_invalid(m, n, "axis %lld does not exist in a tensor of rank %u", (long long)axis, rank);
    *out = (uint32_t)(axis < 0 ? axis + rank : axis);
    return PB_OK;
}

pb_status pbi_onnx_list(const pbi_onnx *m, const pbi_onnx_node *n, const char *attribute, uint32_t i,
                        const int64_t **out, uint32_t *count)
{
    const pbi_onnx_attribute *a = attribute ? pbi_onnx_attribute_find(n, attribute) : NULL;
    const pbi_onnx_tensor *t = pbi_onnx_in(m, n, i);
    *out = NULL;
    *count = 0;
    if (!a && !t)
        return PB_OK;
    size_t length = a ? a->integer_count : (size_t)pbi_onnx_elements(t);
    if (!a && !t->values)
        return pbi_onnx_refuse(m, n,
                               "its result's shape depends on the numbers in \"%.60s\", which are not known before the "
                               "model runs; fix the input shapes and simplify the model (onnxsim), or export it with "
                               "static shapes",
                               pbi_onnx_name(m, n->in[i]));
    if (length > PBI_ONNX_VALUES)
        return pbi_onnx_refuse(m, n,
                               "its attribute \"%s\" has %zu numbers; at most %d are supported: split the operator",
                               attribute, length, PBI_ONNX_VALUES);
    int64_t *list = pb_arena_alloc(m->arena, length ? length : 1, sizeof *list);
    if (!list)
        return PB_ENOMEM;
    for (size_t k = 0; k < length; k++) {
        if (a)
            memcpy(&list[k], &a->integers[k], sizeof *list);
        else if (pbi_onnx_is_real(t->type))
            return pbi_onnx_invalid(m, n, "input %u must contain whole numbers", i);
        else
            list[k] = t->values[k].i;
    }
    *out = list;
    *count = (uint32_t)length;
    return PB_OK;
}
