/* machine_json.c -- reads and writes pebble-machine/1.
 *
 * Fields may come in any order, so the memories that processors and links name are looked up at the end. Positions of
 * parts are remembered until then: a part that is wrong is reported where it begins.
 */
#include "base/arena.h"
#include "base/context.h"
#include "io/formats.h"
#include "io/machine_models.h"
#include "machine/machine_parts.h"

#include <stddef.h>

enum machine_field { FORMAT, NAME, TIME_UNIT, REFERENCE, LISTS, MACHINE_FIELDS = LISTS + PBI_PART_KINDS };
static const pbi_slice machine_fields[] = {
    PBI_NAME("format"),   PBI_NAME("name"),       PBI_NAME("time_unit"), PBI_NAME("reference"),
    PBI_NAME("memories"), PBI_NAME("processors"), PBI_NAME("links"),
};

enum memory_field { MEMORY_NAME, MEMORY_CAP, MEMORY_RESERVE, MEMORY_FIELDS };
static const pbi_slice memory_fields[] = {PBI_NAME("name"), PBI_NAME("cap"), PBI_NAME("reserve")};

enum processor_field {
    CPU_NAME,
    CPU_MEMORY,
    CPU_OVERHEAD,
    CPU_BANDWIDTH,
    CPU_RATES,
    CPU_BANDWIDTHS,
    CPU_MODELS,
    CPU_FIELDS
};
static const pbi_slice processor_fields[] = {
    PBI_NAME("name"),  PBI_NAME("memory"),     PBI_NAME("overhead"), PBI_NAME("bandwidth"),
    PBI_NAME("rates"), PBI_NAME("bandwidths"), PBI_NAME("models"),
};

enum link_field { LINK_NAME, LINK_FROM, LINK_TO, LINK_BANDWIDTH, LINK_LATENCY, LINK_PER_UNIT, LINK_LANE, LINK_FIELDS };
static const pbi_slice link_fields[] = {
    PBI_NAME("name"),    PBI_NAME("from"),     PBI_NAME("to"),   PBI_NAME("bandwidth"),
    PBI_NAME("latency"), PBI_NAME("per_unit"), PBI_NAME("lane"),
};

static const struct {
    const char *name;
    const pbi_slice *fields;
    uint32_t field_count, needed; /* a part must have its first `needed` fields */
    size_t size, extra;           /* of the part; offset of its unknown members */
} kinds[PBI_PART_KINDS] = {
    {"memory", memory_fields, MEMORY_FIELDS, 1, sizeof(pb_machine_memory), offsetof(pb_machine_memory, extra)},
    {"processor", processor_fields, CPU_FIELDS, 2, sizeof(pb_machine_processor), offsetof(pb_machine_processor, extra)},
    {"link", link_fields, LINK_FIELDS, 3, sizeof(pb_machine_link), offsetof(pb_machine_link, extra)},
};

/* A memory that a part names: its number belongs at `offset` of the part. */
typedef struct reference {
    const char *memory;
    pbi_part part;
    size_t offset;
    pbi_field field;
    pbi_place place;
} reference;

/* A growing array. */
typedef struct list {
    void *items;
    size_t count, room;
} list;

/* A part while it is read. */
typedef union any_part {
    pb_machine_memory memory;
    pb_machine_processor processor;
    pb_machine_link link;
} any_part;

typedef struct reader {
    pb_arena *scratch, *result;
    pbi_json *json;
    pb_machine machine;
    list part[PBI_PART_KINDS], place[PBI_PART_KINDS]; /* the parts, and where each begins */
    list references, rates;
    pb_buffer machine_extra, part_extra;
    pbi_keys machine_keys, part_keys;
} reader;

static pb_status list_add(reader *r, list *l, const void *item, size_t size)
{
    if (!pbi_arena_reserve(r->scratch, &l->items, &l->room, l->count + 1, size))
        return PB_ENOMEM;
    memcpy((char *)l->items + l->count++ * size, item, size);
    return PB_OK;
}

/* The list in `result`; NULL if it is empty or memory is exhausted. */
static void *list_keep(const reader *r, const list *l, size_t size)
{
    void *kept = l->count ? pb_arena_alloc(r->result, l->count, size) : NULL;
    if (kept)
        memcpy(kept, l->items, l->count * size);
    return kept;
}

static pb_status read_name(reader *r, pbi_field field, const char **out)
{
    pb_status status = pbi_read_copy(r->json, field, r->result, out);
    if (status == PB_OK && !**out)
        return pbi_field_fail(r->json, field, "must not be empty; write a name");
    return status;
}

/* A number per second. */
static pb_status read_rate(reader *r, pbi_field field, uint64_t *out)
{
    pb_status status = pbi_read_whole(r->json, field, out);
    if (status == PB_OK && !*out)
        return pbi_field_fail(r->json, field, "must be above 0 per second; correct it or remove the field");
    if (status == PB_OK && *out > PB_MACHINE_MAX_RATE)
        return pbi_field_fail(r->json, field, "must be at most 2^63 per second; correct it");
    return status;
}

/* {"float32": 19500000000000, ...} */
static pb_status read_rates(reader *r, pbi_field field, const pb_machine_rate **out, uint32_t *count)
{
    pb_status status = pbi_read_kind(r->json, field, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(r->json, PBI_JSON_OBJECT);
    const char *of = field.name;
    pb_buffer names;
    pbi_keys keys;
    pb_buffer_init(&names, r->scratch);
    pbi_keys_init(&keys, r->scratch);
    r->rates.count = 0;
    pbi_slice key;
    bool more, fresh;
    while (status == PB_OK && (status = pbi_json_member(r->json, &key, &more)) == PB_OK && more) {
        pb_machine_rate rate = {.key = pb_arena_text(r->result, key.bytes, key.length)};
        size_t at = names.length, length = key.length;
        if (!rate.key || !pbi_bytes_add(&names, key.bytes, length))
            return PB_ENOMEM;
        field.name = of;
        if (!length || length >= PB_MACHINE_KEY || strlen(rate.key) != length)
            return pbi_field_fail(r->json, field,
                                  "has a key that is empty, longer than %d bytes or contains NUL; rename it",
                                  PB_MACHINE_KEY - 1);
        if (r->rates.count == PB_MACHINE_MAX_PARTS)
            return pbi_field_fail(r->json, field, "has more than %d entries; remove some", PB_MACHINE_MAX_PARTS);
        field.name = rate.key;
        status = pbi_keys_add(&keys, &names, at, length, &fresh);
        if (status == PB_OK && !fresh)
            return pbi_field_fail(r->json, field, "appears twice in one object; remove one");
        if (status == PB_OK)
            status = read_rate(r, field, &rate.per_second);
        if (status == PB_OK)
            status = list_add(r, &r->rates, &rate, sizeof rate);
    }
    *count = (uint32_t)r->rates.count;
    *out = list_keep(r, &r->rates, sizeof **out);
    return status == PB_OK && *count && !*out ? PB_ENOMEM : status;
}

static pb_status read_reference(reader *r, pbi_field field, pbi_part_kind kind, size_t offset)
{
    reference ref = {.part = {kind, (uint32_t)field.index}, .offset = offset, .field = field};
    pb_status status = pbi_read_copy(r->json, field, r->scratch, &ref.memory);
    ref.place = r->json->place;
    return status == PB_OK ? list_add(r, &r->references, &ref, sizeof ref) : status;
}

static pb_status read_memory(reader *r, pbi_field field, enum memory_field which, pb_machine_memory *memory)
{
    bool null;
    pb_status status;
    switch (which) {
    case MEMORY_NAME: return read_name(r, field, &memory->name);
    case MEMORY_CAP:
        status = pbi_skip_null(r->json, &null);
        return status == PB_OK && !null ? pbi_read_whole(r->json, field, &memory->cap) : status;
    case MEMORY_RESERVE: return pbi_read_whole(r->json, field, &memory->reserve);
    case MEMORY_FIELDS: break;
    }
    return PB_OK;
}

static pb_status read_processor(reader *r, pbi_field field, enum processor_field which, pb_machine_processor *p)
{
    switch (which) {
    case CPU_NAME: return read_name(r, field, &p->name);
    case CPU_MEMORY: return read_reference(r, field, PBI_PROCESSOR, offsetof(pb_machine_processor, memory));
    case CPU_OVERHEAD: return pbi_read_whole(r->json, field, &p->overhead);
    case CPU_BANDWIDTH: return read_rate(r, field, &p->bandwidth);
    case CPU_RATES: return read_rates(r, field, &p->rates, &p->rate_count);
    case CPU_BANDWIDTHS: return read_rates(r, field, &p->bandwidths, &p->bandwidth_count);
    case CPU_MODELS: return pbi_models_read(r->json, field, r->scratch, r->result, p);
    case CPU_FIELDS: break;
    }
    return PB_OK;
}

static pb_status read_link(reader *r, pbi_field field, enum link_field which, pb_machine_link *link)
{
    bool null;
    pb_status status;
    switch (which) {
    case LINK_NAME: return read_name(r, field, &link->name);
    case LINK_FROM: return read_reference(r, field, PBI_LINK, offsetof(pb_machine_link, from));
    case LINK_TO: return read_reference(r, field, PBI_LINK, offsetof(pb_machine_link, to));
    case LINK_BANDWIDTH: return read_rate(r, field, &link->bandwidth);
    case LINK_LATENCY: return pbi_read_whole(r->json, field, &link->latency);
    case LINK_PER_UNIT: return pbi_read_whole(r->json, field, &link->per_unit);
    case LINK_LANE:
        status = pbi_skip_null(r->json, &null);
        return status == PB_OK && !null ? read_name(r, field, &link->lane) : status;
    case LINK_FIELDS: break;
    }
    return PB_OK;
}

static pb_status read_part_field(reader *r, pbi_part_kind kind, pbi_field field, uint32_t which, any_part *part)
{
    if (kind == PBI_MEMORY)
        return read_memory(r, field, (enum memory_field)which, &part->memory);
    if (kind == PBI_PROCESSOR)
        return read_processor(r, field, (enum processor_field)which, &part->processor);
    return read_link(r, field, (enum link_field)which, &part->link);
}

/* The part is complete: checks that nothing is missing and adds it to the others. */
static pb_status finish_part(reader *r, pbi_part_kind kind, any_part *part, uint32_t seen, pbi_place place)
{
    for (uint32_t i = 0; i < kinds[kind].needed; i++)
        if (!(seen & UINT32_C(1) << i)) {
            r->json->place = place;
            return pbi_field_fail(r->json,
                                  (pbi_field){kinds[kind].fields[i].bytes, kinds[kind].name, r->part[kind].count},
                                  "is missing; add it, as in docs/formats.md");
        }
    if (r->part_extra.length) {
        const char *extra = pb_arena_text(r->result, r->part_extra.bytes, r->part_extra.length);
        if (!extra)
            return PB_ENOMEM;
        memcpy((char *)part + kinds[kind].extra, &extra, sizeof extra);
    }
    pb_status status = list_add(r, &r->place[kind], &place, sizeof place);
    return status == PB_OK ? list_add(r, &r->part[kind], part, kinds[kind].size) : status;
}

static pb_status read_part(reader *r, pbi_part_kind kind, pbi_field field)
{
    pb_status status = pbi_read_kind(r->json, field, PBI_JSON_OBJECT);
    pbi_place place = r->json->place;
    if (status == PB_OK && field.index == PB_MACHINE_MAX_PARTS)
        return pbi_field_fail(r->json, field, "is one too many: a machine has at most %d of each kind",
                              PB_MACHINE_MAX_PARTS);
    if (status == PB_OK)
        status = pbi_json_enter(r->json, PBI_JSON_OBJECT);
    any_part part;
    memset(&part, 0, sizeof part);
    if (kind == PBI_MEMORY)
        part.memory.cap = PB_UNLIMITED;
    r->part_extra.length = 0;
    pbi_keys_clear(&r->part_keys);
    field.of = kinds[kind].name;
    uint32_t seen = 0;
    pbi_slice key;
    bool more;
    while (status == PB_OK && (status = pbi_json_member(r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, kinds[kind].fields, kinds[kind].field_count);
        if (which == kinds[kind].field_count) {
            status = pbi_json_keep(r->json, key, &r->part_extra, &r->part_keys);
            continue;
        }
        field.name = kinds[kind].fields[which].bytes;
        status = pbi_refuse_twice(r->json, field, which, &seen);
        if (status == PB_OK)
            status = read_part_field(r, kind, field, which, &part);
    }
    return status == PB_OK ? finish_part(r, kind, &part, seen, place) : status;
}

static pb_status read_parts(reader *r, pbi_part_kind kind, pbi_field field)
{
    pb_status status = pbi_read_kind(r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(r->json, PBI_JSON_ARRAY);
    field.of = "item";
    bool more;
    for (; status == PB_OK && (status = pbi_json_item(r->json, &more)) == PB_OK && more; field.index++)
        status = read_part(r, kind, field);
    return status;
}

static pb_status read_format(reader *r, pbi_field field)
{
    pbi_slice text;
    pb_status status = pbi_read_text(r->json, field, &text);
    if (status == PB_OK && pbi_key_find(text, &(pbi_slice)PBI_NAME("pebble-machine/1"), 1) != 0)
        return pbi_field_fail(r->json, field, "must be \"pebble-machine/1\", not \"%.*s\"; pass a machine file",
                              (int)(text.length < 60 ? text.length : 60), text.bytes);
    return status;
}

static pb_status read_machine_field(reader *r, uint32_t which)
{
    pbi_field field = {machine_fields[which].bytes, NULL, 0};
    if (which == FORMAT)
        return read_format(r, field);
    if (which == NAME)
        return pbi_read_copy(r->json, field, r->result, &r->machine.name);
    if (which == TIME_UNIT)
        return read_name(r, field, &r->machine.time_unit);
    if (which == REFERENCE)
        return pbi_reference_read(r->json, field, r->result, &r->machine.reference);
    return read_parts(r, (pbi_part_kind)(which - LISTS), field);
}

/* Sets the number of each memory that a part names. */
static pb_status resolve(reader *r, char *const parts[PBI_PART_KINDS])
{
    const reference *ref = r->references.items;
    for (size_t i = 0; i < r->references.count; i++, ref++) {
        uint32_t index = 0;
        while (index < r->machine.memory_count && strcmp(r->machine.memories[index].name, ref->memory) != 0)
            index++;
        r->json->place = ref->place;
        if (index == r->machine.memory_count)
            return pbi_field_fail(
                r->json, ref->field,
                "names \"%.60s\", which is not a memory of the machine; correct it, or add the memory", ref->memory);
        memcpy(parts[ref->part.kind] + ref->part.index * kinds[ref->part.kind].size + ref->offset, &index,
               sizeof index);
    }
    return PB_OK;
}

/* The document is complete. */
static pb_status finish(reader *r, pbi_place start, const pb_machine **out)
{
    pb_machine *m = pb_arena_alloc(r->result, 1, sizeof *m);
    char *parts[PBI_PART_KINDS];
    if (!m)
        return PB_ENOMEM;
    for (int kind = 0; kind < PBI_PART_KINDS; kind++)
        if (!(parts[kind] = list_keep(r, &r->part[kind], kinds[kind].size)) && r->part[kind].count)
            return PB_ENOMEM;
    if (r->machine_extra.length &&
        !(r->machine.extra = pb_arena_text(r->result, r->machine_extra.bytes, r->machine_extra.length)))
        return PB_ENOMEM;
    r->machine.per_second = pb_time_unit_per_second(r->machine.time_unit);
    r->machine.memories = (const pb_machine_memory *)(const void *)parts[PBI_MEMORY];
    r->machine.processors = (const pb_machine_processor *)(const void *)parts[PBI_PROCESSOR];
    r->machine.links = (const pb_machine_link *)(const void *)parts[PBI_LINK];
    r->machine.memory_count = (uint32_t)r->part[PBI_MEMORY].count;
    r->machine.processor_count = (uint32_t)r->part[PBI_PROCESSOR].count;
    r->machine.link_count = (uint32_t)r->part[PBI_LINK].count;
    pb_status status = resolve(r, parts);
    if (status != PB_OK)
        return status;
    pbi_part bad;
    pb_context *ctx = r->json->text->ctx;
    status = pbi_machine_check(ctx, &r->machine, &bad);
    if (status != PB_OK) {
        pbi_place place = bad.kind < PBI_PART_KINDS ? ((pbi_place *)r->place[bad.kind].items)[bad.index] : start;
        ctx->error.line = place.line;
        ctx->error.column = place.column;
        return status;
    }
    *m = r->machine;
    *out = m;
    return PB_OK;
}

static pb_status read_object(reader *r, bool own_file, const pb_machine **out)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(r->json, &kind);
    pbi_place start = r->json->place;
    if (status == PB_OK && kind != PBI_JSON_OBJECT)
        return pbi_text_fail(r->json->text, start, "expected a machine, which is an object, not %s",
                             pbi_json_kind_name(kind));
    if (status == PB_OK)
        status = pbi_json_enter(r->json, kind);
    uint32_t seen = 0;
    pbi_slice key;
    bool more;
    while (status == PB_OK && (status = pbi_json_member(r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, machine_fields, MACHINE_FIELDS);
        if (which == MACHINE_FIELDS) {
            status = pbi_json_keep(r->json, key, &r->machine_extra, &r->machine_keys);
            continue;
        }
        status = pbi_refuse_twice(r->json, (pbi_field){machine_fields[which].bytes, NULL, 0}, which, &seen);
        if (status == PB_OK)
            status = read_machine_field(r, which);
    }
    if (status == PB_OK && own_file)
        status = pbi_json_end(r->json);
    if (status == PB_OK && own_file && !(seen & 1u << FORMAT))
        return pbi_text_fail(r->json->text, start,
                             "the machine has no field \"format\"; add \"format\": \"pebble-machine/1\"");
    return status == PB_OK ? finish(r, start, out) : status;
}

static pb_status read_machine(pbi_json *json, bool own_file, pb_arena *scratch, pb_arena *result,
                              const pb_machine **out)
{
    reader r = {.scratch = scratch, .result = result, .json = json, .machine = {.name = "", .time_unit = "ns"}};
    pb_buffer_init(&r.machine_extra, scratch);
    pb_buffer_init(&r.part_extra, scratch);
    pbi_keys_init(&r.machine_keys, scratch);
    pbi_keys_init(&r.part_keys, scratch);
    return read_object(&r, own_file, out);
}

pb_status pbi_machine_json_read(pbi_json *json, pb_arena *scratch, pb_arena *result, const pb_machine **out)
{
    return read_machine(json, false, scratch, result, out);
}

pb_status pb_machine_read(pb_context *ctx, pb_source source, pb_arena *result, const pb_machine **out)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_mark mark = pbi_arena_mark(result);
    pbi_text text;
    pbi_json json;
    pb_status status = pbi_text_init(&text, ctx, source, &scratch);
    pbi_json_init(&json, &text, &scratch);
    if (status == PB_OK)
        status = read_machine(&json, true, &scratch, result, out);
    pb_arena_release(&scratch);
    if (status != PB_OK)
        pbi_arena_rewind(result, mark);
    return status;
}

pb_status pb_machine_read_file(pb_context *ctx, const char *path, pb_arena *result, const pb_machine **out)
{
    pb_file_in in;
    pb_status status = pb_file_open(ctx, path, &in);
    if (status != PB_OK)
        return status;
    return pb_file_close(ctx, path, &in, pb_machine_read(ctx, pb_file_source(&in), result, out));
}

pb_status pb_machine_write(pb_context *ctx, const pb_machine *m, pb_sink sink)
{
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    pbi_machine_write(&out, m, true);
    pbi_out_char(&out, '\n');
    return pbi_out_finish(&out);
}
