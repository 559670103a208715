/* model.c -- reads an ONNX file into the tables of model.h. Field numbers are those of onnx.proto. */
#include "io/onnx/model.h"

#include "base/arena.h"
#include "base/context.h"

#include <stdio.h>

/* ---- Tables ---- */

const char *pbi_onnx_name(const pbi_onnx *m, uint32_t tensor) { return m->text.bytes + m->start[tensor]; }

uint32_t pbi_onnx_find(const pbi_onnx *m, const char *name)
{
    return pbi_name_index_find(&m->index, m->text.bytes, m->start, name, strlen(name));
}

static pb_status add_tensor(pbi_onnx *m, const char *name, uint32_t *out)
{
    void *tensors = m->tensor, *starts = m->start;
    if (m->tensor_count == UINT32_MAX - 1)
        return pbi_fail(m->ctx, PB_ERANGE, "the model has more than 2^32 tensors; export a part of it");
    if (!pbi_arena_reserve(m->arena, &tensors, &m->tensor_room, m->tensor_count + 1u, sizeof *m->tensor))
        return PB_ENOMEM;
    m->tensor = tensors;
    if (!pbi_arena_reserve(m->arena, &starts, &m->start_room, m->tensor_count + 1u, sizeof *m->start))
        return PB_ENOMEM;
    m->start = starts;
    m->start[m->tensor_count] = m->text.length;
    if (!pbi_bytes_add(&m->text, name, strlen(name) + 1) ||
        !pbi_name_index_add(&m->index, m->arena, m->text.bytes, m->start, m->tensor_count))
        return PB_ENOMEM;
    m->tensor[m->tensor_count] = (pbi_onnx_tensor){.base = PBI_ONNX_NONE, .value = PBI_NO_VALUE};
    *out = m->tensor_count++;
    return PB_OK;
}

static pb_status tensor_of(pbi_onnx *m, const char *name, uint32_t *out)
{
    *out = pbi_onnx_find(m, name);
    return *out == UINT32_MAX ? add_tensor(m, name, out) : PB_OK;
}

/* A constant in an attribute. It is never looked up by name, but gets a unique one: equal names would make the index
 * slow. No tensor can have this name: 0xff is never in UTF-8. */
static pb_status add_constant(pbi_onnx *m, uint32_t *out)
{
    char name[16];
    snprintf(name, sizeof name, "\xff%lx", (unsigned long)m->tensor_count);
    return add_tensor(m, name, out);
}

static pb_status append(pbi_onnx *m, uint32_t **items, size_t *count, size_t *room, uint32_t item)
{
    void *grown = *items;
    if (!pbi_arena_reserve(m->arena, &grown, room, *count + 1, sizeof item))
        return PB_ENOMEM;
    *items = grown;
    (*items)[(*count)++] = item;
    return PB_OK;
}

/* ---- Tensors ---- */

/* A TensorProto while it is read. */
typedef struct raw_tensor {
    pbi_wire_list dims, numbers;
    pb_buffer raw;
    uint64_t raw_size;
    int64_t type;
    const char *name;
    uint8_t width; /* of numbers: 0 varints, 4 and 8 real */
    bool external;
} raw_tensor;

/* Bytes per number in raw_data for the types whose numbers are used; 0 for others. */
static unsigned raw_width(int64_t type)
{
    switch (type) {
    case PBI_ONNX_FLOAT:
    case PBI_ONNX_INT32: return 4;
    case PBI_ONNX_INT64:
    case PBI_ONNX_DOUBLE: return 8;
    case PBI_ONNX_BOOL:
    case PBI_ONNX_UINT8: return 1;
    default: return 0;
    }
}

static pbi_onnx_number number_of(uint64_t bits, int64_t type, unsigned width)
{
    if (pbi_onnx_is_real(type))
        return (pbi_onnx_number){.f = pbi_wire_as_real(bits, (uint8_t)width)};
    if (type == PBI_ONNX_INT32) {
        uint32_t low = (uint32_t)bits;
        int32_t value;
        memcpy(&value, &low, sizeof value);
        return (pbi_onnx_number){.i = value};
    }
    pbi_onnx_number n;
    memcpy(&n.i, &bits, sizeof bits);
    return n;
}

/* The numbers of a small tensor, if they are in the file in a usable form. */
static pb_status keep_values(pbi_onnx *m, const raw_tensor *r, uint64_t count, const pbi_onnx_number **out)
{
    unsigned width = raw_width(r->type);
    *out = NULL;
    if (!width || r->external || count > PBI_ONNX_VALUES)
        return PB_OK;
    bool raw = r->raw.length == count * width && r->raw_size == r->raw.length && count > 0;
    bool listed = r->numbers.count == count && r->numbers.seen == count;
    if (!raw && !listed)
        return PB_OK;
    pbi_onnx_number *values = pb_arena_alloc(m->arena, count ? (size_t)count : 1, sizeof *values);
    if (!values)
        return PB_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = listed ? r->numbers.item[i] : 0;
        for (unsigned b = 0; !listed && b < width; b++)
            bits |= (uint64_t)(unsigned char)r->raw.bytes[i * width + b] << 8 * b;
        values[i] = number_of(bits, r->type, listed ? r->width : width);
    }
    *out = values;
    return PB_OK;
}

static pb_status tensor_field(pbi_onnx *m, raw_tensor *r, const pbi_wire_field *f)
{
    pbi_wire *w = &m->wire;
    switch (f->number) {
    case 1: return pbi_wire_numbers(w, f, 0, &r->dims);
    case 2: return pbi_wire_integer(w, f, &r->type);
    case 4: r->width = 4; return pbi_wire_numbers(w, f, 4, &r->numbers);
    case 5:
    case 7: return pbi_wire_numbers(w, f, 0, &r->numbers);
    case 10: r->width = 8; return pbi_wire_numbers(w, f, 8, &r->numbers);
    case 8: return pbi_wire_text(w, f, m->arena, &r->name);
    case 9:
        r->raw_size = f->value;
        if (f->type == PBI_WIRE_BYTES && f->value > 8 * PBI_ONNX_VALUES)
            return pbi_wire_skip(w, f);
        return pbi_wire_bytes(w, f, &r->raw);
    case 14: r->external = f->value != 0; return pbi_wire_skip(w, f);
    default: return pbi_wire_skip(w, f);
    }
}

/* Adds a TensorProto to the tables; `name` if it has none. */
static pb_status read_tensor(pbi_onnx *m, const pbi_wire_field *field, bool initializer, uint32_t *out)
{
    raw_tensor r = {.name = "",
                    .dims = {.arena = m->arena, .most = PBI_ONNX_RANK},
                    .numbers = {.arena = m->arena, .most = PBI_ONNX_VALUES}};
    pb_buffer_init(&r.raw, m->arena);
    pbi_wire_field f;
    bool more = true;
    pb_status status = pbi_wire_enter(&m->wire, field);
    while (status == PB_OK && (status = pbi_wire_next(&m->wire, &f, &more)) == PB_OK && more)
        status = tensor_field(m, &r, &f);
    if (status == PB_OK && r.dims.seen > PBI_ONNX_RANK)
        status = pbi_wire_fail(&m->wire, field->at,
                               "tensor \"%.60s\" has %llu dimensions; at most %d are supported: reshape it", r.name,
                               (unsigned long long)r.dims.seen, PBI_ONNX_RANK);
    for (size_t i = 0; status == PB_OK && i < r.dims.count; i++)
        if (r.dims.item[i] >> 63)
            status =
                pbi_wire_fail(&m->wire, field->at,
                              "tensor \"%.60s\" has a negative dimension; check the model with onnx.checker", r.name);
    if (status == PB_OK)
        status = initializer ? tensor_of(m, r.name, out) : add_constant(m, out);
    if (status != PB_OK)
        return status;
    pbi_onnx_tensor *t = &m->tensor[*out];
    if (initializer && t->role == PBI_ONNX_INITIALIZER)
        return pbi_wire_fail(&m->wire, field->at, "there are two initializers \"%.60s\"; rename one of them", r.name);
    t->role = PBI_ONNX_INITIALIZER;
    t->shaped = true;
    t->type = r.type;
    t->rank = (uint32_t)r.dims.count;
    t->dims = r.dims.item ? r.dims.item : pb_arena_alloc(m->arena, 1, sizeof *t->dims);
    if (!t->dims)
        return PB_ENOMEM;
    uint64_t count = pbi_onnx_elements(t);
    t->learnable = initializer && pbi_onnx_is_real(t->type) && count > 1;
    return keep_values(m, &r, count, &m->tensor[*out].values);
}

/* ---- Inputs and outputs ---- */

typedef struct raw_type {
    int64_t type;
    bool shaped, other; /* other: a sequence, a map, an optional */
    uint32_t rank;
    uint64_t dims[PBI_ONNX_RANK];
    const char *names[PBI_ONNX_RANK];
} raw_type;

/* TensorShapeProto.Dimension: a number, a name, or nothing, which is -1 without a name. */
static pb_status read_dimension(pbi_onnx *m, const pbi_wire_field *field, raw_type *r)
{
    pbi_wire_field f;
    bool more = true;
    if (r->rank == PBI_ONNX_RANK)
        return pbi_wire_fail(&m->wire, field->at,
                             "a tensor has more than %d dimensions, which is not supported; reshape it", PBI_ONNX_RANK);
    r->dims[r->rank] = UINT64_MAX;
    r->names[r->rank] = NULL;
    pb_status status = pbi_wire_enter(&m->wire, field);
    while (status == PB_OK && (status = pbi_wire_next(&m->wire, &f, &more)) == PB_OK && more) {
        if (f.number == 1 && f.type == PBI_WIRE_VARINT)
            r->dims[r->rank] = f.value >> 63 ? UINT64_MAX : f.value;
        else if (f.number == 2)
            status = pbi_wire_text(&m->wire, &f, m->arena, &r->names[r->rank]);
        else
            status = pbi_wire_skip(&m->wire, &f);
    }
    if (status == PB_OK && r->names[r->rank] && !*r->names[r->rank])
        r->names[r->rank] = NULL;
    r->rank++;
    return status;
}

/* TypeProto, TypeProto.Tensor and TensorShapeProto, distinguished by `level`. */
static pb_status read_type(pbi_onnx *m, const pbi_wire_field *field, int level, raw_type *r)
{
    pbi_wire_field f;
    bool more = true;
    pb_status status = pbi_wire_enter(&m->wire, field);
    while (status == PB_OK && (status = pbi_wire_next(&m->wire, &f, &more)) == PB_OK && more) {
        if (level == 0 && f.number == 1) {
            status = read_type(m, &f, 1, r);
        } else if (level == 1 && f.number == 1) {
            status = pbi_wire_integer(&m->wire, &f, &r->type);
        } else if (level == 1 && f.number == 2) {
            r->shaped = true;
            status = read_type(m, &f, 2, r);
        } else if (level == 2 && f.number == 1) {
            status = read_dimension(m, &f, r);
        } else {
            r->other |= level == 0 && f.number != 6;
            status = pbi_wire_skip(&m->wire, &f);
        }
    }
    return status;
}

static pb_status keep_input(pbi_onnx *m, uint32_t index, const raw_type *r, const char *name)
{
    pbi_onnx_tensor *t = &m->tensor[index];
    if (t->role == PBI_ONNX_INPUT)
        return pbi_fail(m->ctx, PB_EGRAPH, "there are two inputs \"%.100s\"; rename one of them", name);
    if (t->role != PBI_ONNX_UNKNOWN)
        return PB_OK; /* an initializer, which old files also list among the inputs */
    if (r->other)
        return pbi_fail(m->ctx, PB_EGRAPH,
                        "input \"%.100s\" is a sequence, map or optional value; only tensors are supported: export the "
                        "model with tensors as inputs",
                        name);
    t->role = PBI_ONNX_INPUT;
    t->type = r->type;
    t->shaped = r->shaped;
    t->rank = r->rank;
    uint64_t *dims = pb_arena_alloc(m->arena, r->rank ? r->rank : 1, sizeof *dims);
    const char **names = pb_arena_alloc(m->arena, r->rank ? r->rank : 1, sizeof *names);
    if (!dims || !names)
        return PB_ENOMEM;
    memcpy(dims, r->dims, r->rank * sizeof *dims);
    memcpy(names, r->names, r->rank * sizeof *names);
    t->dims = dims;
    t->dim_names = names;
    return append(m, &m->input, &m->input_count, &m->input_room, index);
}

/* ValueInfoProto. */
static pb_status read_value_info(pbi_onnx *m, const pbi_wire_field *field, bool input)
{
    raw_type *r = pb_arena_zero(m->arena, 1, sizeof *r);
    const char *name = "";
    pbi_wire_field f;
    bool more = true;
    pb_status status = r ? pbi_wire_enter(&m->wire, field) : PB_ENOMEM;
    while (status == PB_OK && (status = pbi_wire_next(&m->wire, &f, &more)) == PB_OK && more) {
        if (f.number == 1)
            status = pbi_wire_text(&m->wire, &f, m->arena, &name);
        else if (f.number == 2 && input)
            status = read_type(m, &f, 0, r);
        else
            status = pbi_wire_skip(&m->wire, &f);
    }
    uint32_t index;
    if (status == PB_OK)
        status = tensor_of(m, name, &index);
    if (status != PB_OK)
        return status;
    return input ? keep_input(m, index, r, name) : append(m, &m->output, &m->output_count, &m->output_room, index);
}

/* ---- Nodes ---- */

static pb_status read_attribute(pbi_onnx *m, const pbi_wire_field *field, pbi_onnx_attribute *a)
{
    pbi_wire *w = &m->wire;
    pbi_wire_list integers = {.arena = m->arena, .most = SIZE_MAX}, reals = integers;
    *a = (pbi_onnx_attribute){.name = "", .text = "", .tensor = PBI_ONNX_NONE};
    pbi_wire_field f;
    bool more = true;
    pb_status status = pbi_wire_enter(w, field);
    while (status == PB_OK && (status = pbi_wire_next(w, &f, &more)) == PB_OK && more)
        switch (f.number) {
        case 1: status = pbi_wire_text(w, &f, m->arena, &a->name); break;
        case 2: status = pbi_wire_real(w, &f, &a->real); break;
        case 3: status = pbi_wire_integer(w, &f, &a->integer); break;
        case 4:
            /* Texts are bytes and may be long: only short ones name a mode. */
            status = f.type == PBI_WIRE_BYTES && f.value <= 256 ? pbi_wire_text(w, &f, m->arena, &a->text)
                                                                : pbi_wire_skip(w, &f);
            break;
        case 5: status = read_tensor(m, &f, false, &a->tensor); break;
        case 6:
        case 11:
            a->subgraph = true;
            status = pbi_wire_skip(w, &f);
            break;
        case 7: status = pbi_wire_numbers(w, &f, 4, &reals); break;
        case 8: status = pbi_wire_numbers(w, &f, 0, &integers); break;
        default: status = pbi_wire_skip(w, &f);
        }
    a->integers = integers.item;
    a->integer_count = integers.count;
    a->reals = reals.item;
    a->real_count = reals.count;
    return status;
}

/* A node while it is read, with lists that grow. */
typedef struct raw_node {
    uint32_t *in, *out;
    size_t in_count, in_room, out_count, out_room;
    pbi_onnx_attribute *attributes;
    size_t attribute_count, attribute_room;
} raw_node;

static pb_status node_field(pbi_onnx *m, const pbi_wire_field *f, pbi_onnx_node *n, raw_node *r)
{
    const char *name;
    uint32_t index = PBI_ONNX_NONE;
    pb_status status;
    switch (f->number) {
    case 1:
    case 2:
        status = pbi_wire_text(&m->wire, f, m->arena, &name);
        if (status == PB_OK && *name)
            status = tensor_of(m, name, &index);
        if (status != PB_OK)
            return status;
        return f->number == 1 ? append(m, &r->in, &r->in_count, &r->in_room, index)
                              : append(m, &r->out, &r->out_count, &r->out_room, index);
    case 3: return pbi_wire_text(&m->wire, f, m->arena, &n->name);
    case 4: return pbi_wire_text(&m->wire, f, m->arena, &n->op);
    case 5: {
        void *grown = r->attributes;
        if (!pbi_arena_reserve(m->arena, &grown, &r->attribute_room, r->attribute_count + 1, sizeof *r->attributes))
            return PB_ENOMEM;
        r->attributes = grown;
        pbi_onnx_attribute a;
        status = read_attribute(m, f, &a);
        r->attributes[r->attribute_count++] = a;
        return status;
    }
    case 7: return pbi_wire_text(&m->wire, f, m->arena, &n->domain);
    default: return pbi_wire_skip(&m->wire, f);
    }
}

static pb_status read_node(pbi_onnx *m, const pbi_wire_field *field)
{
    pbi_onnx_node n = {.op = "", .domain = "", .name = "", .at = field->at};
    raw_node r = {0};
    pbi_wire_field f;
    bool more = true;
    pb_status status = pbi_wire_enter(&m->wire, field);
    while (status == PB_OK && (status = pbi_wire_next(&m->wire, &f, &more)) == PB_OK && more)
        status = node_field(m, &f, &n, &r);
    if (status != PB_OK)
        return status;
    n.in = r.in;
    n.in_count = (uint32_t)r.in_count;
    n.out = r.out;
    n.out_count = (uint32_t)r.out_count;
    n.attributes = r.attributes;
    n.attribute_count = (uint32_t)r.attribute_count;
    void *nodes = m->node;
    if (!pbi_arena_reserve(m->arena, &nodes, &m->node_room, m->node_count + 1, sizeof n))
        return PB_ENOMEM;
    m->node = nodes;
    m->node[m->node_count++] = n;
    return PB_OK;
}

/* ---- The model ---- */

static pb_status read_graph(pbi_onnx *m, const pbi_wire_field *field)
{
    pbi_wire_field f;
    bool more = true;
    uint32_t unused;
    if (m->has_graph)
        return pbi_wire_fail(&m->wire, field->at, "the model has a second graph; export a model with one graph");
    m->has_graph = true;
    pb_status status = pbi_wire_enter(&m->wire, field);
    while (status == PB_OK && (status = pbi_wire_next(&m->wire, &f, &more)) == PB_OK && more)
        switch (f.number) {
        case 1: status = read_node(m, &f); break;
        case 2: status = pbi_wire_text(&m->wire, &f, m->arena, &m->name); break;
        case 5: status = read_tensor(m, &f, true, &unused); break;
        case 11: status = read_value_info(m, &f, true); break;
        case 12: status = read_value_info(m, &f, false); break;
        case 15:
            status =
                pbi_fail(m->ctx, PB_EGRAPH,
                         "the model has sparse initializers, which are not supported; store them as dense tensors");
            break;
        default: status = pbi_wire_skip(&m->wire, &f);
        }
    return status;
}

static pb_status read_opset(pbi_onnx *m, const pbi_wire_field *field)
{
    const char *domain = "";
    int64_t version = 0;
    pbi_wire_field f;
    bool more = true;
    pb_status status = pbi_wire_enter(&m->wire, field);
    while (status == PB_OK && (status = pbi_wire_next(&m->wire, &f, &more)) == PB_OK && more) {
        if (f.number == 1)
            status = pbi_wire_text(&m->wire, &f, m->arena, &domain);
        else if (f.number == 2)
            status = pbi_wire_integer(&m->wire, &f, &version);
        else
            status = pbi_wire_skip(&m->wire, &f);
    }
    if (status == PB_OK && (!*domain || strcmp(domain, "ai.onnx") == 0))
        m->opset = version;
    return status;
}

/* Old files also list initializers among the inputs, and either may come first. */
static void drop_initialized_inputs(pbi_onnx *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->input_count; i++)
        if (m->tensor[m->input[i]].role == PBI_ONNX_INPUT)
            m->input[count++] = m->input[i];
    m->input_count = count;
}

pb_status pbi_onnx_read(pbi_onnx *m, pbi_text *text)
{
    pbi_wire_field f;
    bool more = true;
    pbi_wire_init(&m->wire, text);
    pb_buffer_init(&m->text, m->arena);
    m->name = "";
    pb_status status = PB_OK;
    while (status == PB_OK && (status = pbi_wire_next(&m->wire, &f, &more)) == PB_OK && more) {
        if (f.number == 7)
            status = read_graph(m, &f);
        else if (f.number == 8)
            status = read_opset(m, &f);
        else
            status = pbi_wire_skip(&m->wire, &f);
    }
    if (status == PB_OK && !m->has_graph)
        status = pbi_wire_fail(&m->wire, pbi_text_offset(text),
                               "the file has no graph, so it is not an ONNX model; check the path");
    if (status == PB_OK)
        drop_initialized_inputs(m);
    return status;
}
