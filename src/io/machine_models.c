/* machine_models.c -- see machine_models.h. */
#include "io/machine_models.h"

#include "base/arena.h"

#include <string.h>

enum model_field {
    MODEL_OP,
    MODEL_DTYPE,
    MODEL_OVERHEAD,
    MODEL_RATE,
    MODEL_BANDWIDTH,
    MODEL_BY,
    MODEL_CURVES,
    MODEL_FIELDS
};
static const pbi_slice model_fields[] = {
    PBI_NAME("op"),        PBI_NAME("dtype"), PBI_NAME("overhead"), PBI_NAME("rate"),
    PBI_NAME("bandwidth"), PBI_NAME("by"),    PBI_NAME("curves"),
};

enum reference_field { REFERENCE_WHAT, REFERENCE_TIME, REFERENCE_FIELDS };
static const pbi_slice reference_fields[] = {PBI_NAME("what"), PBI_NAME("time")};

typedef struct reader {
    pbi_json *json;
    pb_arena *scratch, *result;
    size_t points; /* so far, of all models */
    void *row;     /* pb_machine_point: of the curve that is read */
    size_t row_room;
    void *curves; /* pb_machine_curve: of the model that is read */
    size_t curve_room;
} reader;

static pb_status enter(reader *r, pbi_field field, pbi_json_kind kind)
{
    pb_status status = pbi_read_kind(r->json, field, kind);
    return status == PB_OK ? pbi_json_enter(r->json, kind) : status;
}

/* [flops, bytes, time] */
static pb_status read_point(reader *r, pbi_field field, pb_machine_point *out)
{
    uint64_t *const parts[] = {&out->flops, &out->bytes, &out->time};
    size_t count = 0;
    bool more;
    pb_status status = enter(r, field, PBI_JSON_ARRAY);
    while (status == PB_OK && (status = pbi_json_item(r->json, &more)) == PB_OK && more) {
        if (count == 3)
            return pbi_field_fail(r->json, field, "has a point of more than three numbers; write [flops, bytes, time]");
        status = pbi_read_whole(r->json, field, parts[count++]);
    }
    if (status == PB_OK && count < 3)
        return pbi_field_fail(r->json, field, "has a point of fewer than three numbers; write [flops, bytes, time]");
    return status;
}

static pb_status read_curve(reader *r, pbi_field field, pb_machine_curve *out)
{
    size_t count = 0;
    bool more;
    pb_status status = enter(r, field, PBI_JSON_ARRAY);
    while (status == PB_OK && (status = pbi_json_item(r->json, &more)) == PB_OK && more) {
        if (r->points++ == PB_MACHINE_MAX_POINTS)
            return pbi_field_fail(r->json, field, "has more than %d points in all models; leave some out",
                                  PB_MACHINE_MAX_POINTS);
        if (!pbi_arena_reserve(r->scratch, &r->row, &r->row_room, count + 1, sizeof(pb_machine_point)))
            return PB_ENOMEM;
        status = read_point(r, field, (pb_machine_point *)r->row + count++);
    }
    if (status != PB_OK)
        return status;
    pb_machine_point *points = pb_arena_alloc(r->result, count, sizeof *points);
    if (!points)
        return PB_ENOMEM;
    if (count)
        memcpy(points, r->row, count * sizeof *points);
    *out = (pb_machine_curve){points, (uint32_t)count};
    return PB_OK;
}

static pb_status read_curves(reader *r, pbi_field field, pb_machine_model *m)
{
    size_t count = 0;
    bool more;
    pb_status status = enter(r, field, PBI_JSON_ARRAY);
    while (status == PB_OK && (status = pbi_json_item(r->json, &more)) == PB_OK && more) {
        if (count == PB_MACHINE_MAX_POINTS)
            return pbi_field_fail(r->json, field, "has more than %d curves; leave some out", PB_MACHINE_MAX_POINTS);
        if (!pbi_arena_reserve(r->scratch, &r->curves, &r->curve_room, count + 1, sizeof(pb_machine_curve)))
            return PB_ENOMEM;
        status = read_curve(r, field, (pb_machine_curve *)r->curves + count++);
    }
    if (status != PB_OK)
        return status;
    pb_machine_curve *curves = pb_arena_alloc(r->result, count, sizeof *curves);
    if (!curves)
        return PB_ENOMEM;
    if (count)
        memcpy(curves, r->curves, count * sizeof *curves);
    m->curves = curves;
    m->curve_count = (uint32_t)count;
    return PB_OK;
}

static pb_status read_by(reader *r, pbi_field field, pb_model_by *out)
{
    static const pbi_slice names[] = {PBI_NAME("formula"), PBI_NAME("bytes"), PBI_NAME("flops")};
    pbi_slice text;
    pb_status status = pbi_read_text(r->json, field, &text);
    if (status != PB_OK)
        return status;
    uint32_t by = pbi_key_find(text, names, 3);
    if (by == 3)
        return pbi_field_fail(r->json, field, "must be \"formula\", \"bytes\" or \"flops\"");
    *out = (pb_model_by)by;
    return PB_OK;
}

static pb_status read_rate(reader *r, pbi_field field, uint64_t *out)
{
    pb_status status = pbi_read_whole(r->json, field, out);
    if (status == PB_OK && *out > PB_MACHINE_MAX_RATE)
        return pbi_field_fail(r->json, field, "must be at most 2^63 per second; correct it");
    return status;
}

static pb_status read_model_field(reader *r, pbi_field field, enum model_field which, pb_machine_model *m)
{
    switch (which) {
    case MODEL_OP: return pbi_read_copy(r->json, field, r->result, &m->op);
    case MODEL_DTYPE: return pbi_read_copy(r->json, field, r->result, &m->dtype);
    case MODEL_OVERHEAD: return pbi_read_whole(r->json, field, &m->overhead);
    case MODEL_RATE: return read_rate(r, field, &m->rate);
    case MODEL_BANDWIDTH: return read_rate(r, field, &m->bandwidth);
    case MODEL_BY: return read_by(r, field, &m->by);
    case MODEL_CURVES: return read_curves(r, field, m);
    case MODEL_FIELDS: break;
    }
    return PB_OK;
}

static pb_status read_model(reader *r, uint64_t index, pb_machine_model *m)
{
    pbi_field field = {"models", "item", index};
    pb_status status = enter(r, field, PBI_JSON_OBJECT);
    uint32_t seen = 0;
    pbi_slice key;
    bool more;
    *m = (pb_machine_model){.op = "", .by = PB_BY_FORMULA};
    field.of = "model";
    while (status == PB_OK && (status = pbi_json_member(r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, model_fields, MODEL_FIELDS);
        if (which == MODEL_FIELDS) {
            status = pbi_json_skip(r->json);
            continue;
        }
        field.name = model_fields[which].bytes;
        status = pbi_refuse_twice(r->json, field, which, &seen);
        if (status == PB_OK)
            status = read_model_field(r, field, (enum model_field)which, m);
    }
    return status;
}

pb_status pbi_models_read(pbi_json *json, pbi_field field, pb_arena *scratch, pb_arena *result, pb_machine_processor *p)
{
    reader r = {.json = json, .scratch = scratch, .result = result};
    void *rows = NULL;
    size_t count = 0, room = 0;
    bool more;
    pb_status status = enter(&r, field, PBI_JSON_ARRAY);
    while (status == PB_OK && (status = pbi_json_item(json, &more)) == PB_OK && more) {
        if (count == PB_MACHINE_MAX_PARTS)
            return pbi_field_fail(json, field, "has more than %d entries; remove some", PB_MACHINE_MAX_PARTS);
        if (!pbi_arena_reserve(scratch, &rows, &room, count + 1, sizeof *p->models))
            return PB_ENOMEM;
        status = read_model(&r, count, (pb_machine_model *)rows + count);
        count++;
    }
    if (status != PB_OK)
        return status;
    pb_machine_model *models = pb_arena_alloc(result, count, sizeof *models);
    if (!models)
        return PB_ENOMEM;
    if (count)
        memcpy(models, rows, count * sizeof *models);
    p->models = models;
    p->model_count = (uint32_t)count;
    return PB_OK;
}

pb_status pbi_reference_read(pbi_json *json, pbi_field field, pb_arena *result, pb_machine_reference *out)
{
    pb_status status = pbi_read_kind(json, field, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(json, PBI_JSON_OBJECT);
    uint32_t seen = 0;
    pbi_slice key;
    bool more;
    while (status == PB_OK && (status = pbi_json_member(json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, reference_fields, REFERENCE_FIELDS);
        if (which == REFERENCE_FIELDS) {
            status = pbi_json_skip(json);
            continue;
        }
        pbi_field part = {reference_fields[which].bytes, NULL, 0};
        status = pbi_refuse_twice(json, part, which, &seen);
        if (status == PB_OK)
            status = which == REFERENCE_WHAT ? pbi_read_copy(json, part, result, &out->what)
                                             : pbi_read_whole(json, part, &out->time);
    }
    return status;
}
