/* schedule_addresses.c -- the addresses in a schedule file: an object with the alignment, the size and an offset per
 * lifetime. */
#include "base/arena.h"
#include "base/context.h"
#include "io/schedule_reader.h"

enum { OFFSETS_PER_LINE = 16 };

void pbi_schedule_write_addresses(pbi_out *out, const pb_addresses *a, bool offsets)
{
    pbi_out_text(out, ",\n\"addresses\":{\"align\":");
    pbi_out_json_u64(out, a->align);
    pbi_out_text(out, ",\"size\":");
    pbi_out_json_u64(out, a->size);
    pbi_out_text(out, a->minimal ? ",\"least\":true" : ",\"least\":false");
    if (offsets)
        pbi_out_text(out, ",\"offsets\":[");
    for (uint32_t i = 0; i < a->count && offsets; i++) {
        if (i)
            pbi_out_char(out, ',');
        if (i % OFFSETS_PER_LINE == 0)
            pbi_out_char(out, '\n');
        pbi_out_json_u64(out, a->offset[i]);
    }
    pbi_out_text(out, offsets ? "]}" : "}");
}

static pb_status read_offsets(pbi_schedule_reader *r, pbi_field field, pb_addresses *a)
{
    uint64_t *offset = NULL;
    size_t room = 0, count = 0;
    bool more;
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    field.of = "item";
    for (; status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more; field.index++) {
        void *items = offset;
        if (count == UINT32_MAX)
            return pbi_field_fail(&r->json, field, "exceeds the limit of 4294967295 offsets; leave it out");
        if (!pbi_arena_reserve(r->result, &items, &room, count + 1, sizeof *offset))
            return PB_ENOMEM;
        offset = items;
        status = pbi_read_whole(&r->json, field, &offset[count++]);
    }
    a->offset = offset;
    a->count = (uint32_t)count;
    return status;
}

pb_status pbi_schedule_read_addresses(pbi_schedule_reader *r, pbi_field field)
{
    static const pbi_slice names[] = {PBI_NAME("align"), PBI_NAME("size"), PBI_NAME("least"), PBI_NAME("offsets")};
    pb_addresses a = {0};
    uint32_t seen = 0;
    pbi_slice key;
    bool more;
    pb_status status = pbi_read_kind(&r->json, field, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t which = pbi_key_find(key, names, 4);
        field.name = which < 4 ? names[which].bytes : "";
        if (which < 4)
            status = pbi_refuse_twice(&r->json, field, which, &seen);
        if (status != PB_OK)
            break;
        switch (which) {
        case 0: status = pbi_read_whole(&r->json, field, &a.align); break;
        case 1: status = pbi_read_whole(&r->json, field, &a.size); break;
        case 2: status = pbi_read_flag(&r->json, field, &a.minimal); break;
        case 3: status = read_offsets(r, field, &a); break;
        default: status = pbi_json_skip(&r->json);
        }
    }
    if (status == PB_OK && (!a.align || (a.align & (a.align - 1))))
        return pbi_field_fail(&r->json, (pbi_field){"align", NULL, 0},
                              "of the addresses must be a power of two, such as 64");
    if (status == PB_OK && !(seen & 8)) /* a summary has none: there is nothing to check */
        a = (pb_addresses){0};
    r->s->addresses = a;
    return status;
}
