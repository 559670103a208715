/* graph_json_work.c -- reads the fields of pebble-graph/1 for machines: flops, bytes, op, dtype, times, on, in, and
 * `keep` that names a memory. */
#include "base/arena.h"
#include "io/node_work.h"

void pbi_work_init(pbi_work_reader *w, pb_arena *arena)
{
    *w = (pbi_work_reader){.arena = arena};
    pb_buffer_init(&w->text, arena);
}

void pbi_work_clear(pbi_work_reader *w)
{
    w->work = (pb_work){.op = NULL};
    w->op = w->dtype = 0;
    w->text.length = 0;
    w->count = 0;
}

/* Stores a text; *at is above 0. */
static pb_status store(pbi_work_reader *w, pbi_slice text, size_t *at)
{
    if (!w->text.length && !pbi_bytes_add(&w->text, "", 1))
        return PB_ENOMEM;
    *at = w->text.length;
    return pbi_bytes_add(&w->text, text.bytes, text.length) && pbi_bytes_add(&w->text, "", 1) ? PB_OK : PB_ENOMEM;
}

static pb_status read_word(pbi_work_reader *w, pbi_json *json, pbi_field field, size_t *at)
{
    pbi_slice text;
    pb_status status = pbi_read_text(json, field, &text);
    if (status == PB_OK && !text.length)
        return pbi_field_fail(json, field, "must not be empty; write a name or remove the field");
    return status == PB_OK ? store(w, text, at) : status;
}

static pb_status add_note(pbi_work_reader *w, pbi_waiting_note note)
{
    void *items = w->note;
    if (!pbi_arena_reserve(w->arena, &items, &w->room, w->count + 1, sizeof *w->note))
        return PB_ENOMEM;
    w->note = items;
    w->note[w->count++] = note;
    return PB_OK;
}

/* {"gpu": 12345, ...}; `fixed` has the same form. */
static pb_status read_times(pbi_work_reader *w, pbi_json *json, pbi_field field)
{
    pb_status status = pbi_read_kind(json, field, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(json, PBI_JSON_OBJECT);
    pbi_slice key;
    bool more;
    while (status == PB_OK && (status = pbi_json_member(json, &key, &more)) == PB_OK && more) {
        pbi_waiting_note note = {.kind = PB_NOTE_TIME};
        if (!key.length || memchr(key.bytes, '\0', key.length))
            return pbi_field_fail(json, field, "has a name that is empty or contains NUL; correct it");
        status = store(w, key, &note.at);
        if (status == PB_OK)
            status = pbi_read_whole(json, field, &note.value);
        if (status == PB_OK)
            status = add_note(w, note);
    }
    return status;
}

static pb_status read_name(pbi_work_reader *w, pbi_json *json, pbi_field field, pb_note_kind kind)
{
    pbi_waiting_note note = {.kind = kind};
    pb_status status = read_word(w, json, field, &note.at);
    return status == PB_OK ? add_note(w, note) : status;
}

/* "gpu" or ["gpu", "cpu"] */
static pb_status read_on(pbi_work_reader *w, pbi_json *json, pbi_field field)
{
    pbi_json_kind kind;
    pb_status status = pbi_json_peek(json, &kind);
    if (status != PB_OK || kind == PBI_JSON_STRING)
        return status == PB_OK ? read_name(w, json, field, PB_NOTE_ON) : status;
    if (kind != PBI_JSON_ARRAY)
        return pbi_field_fail(json, field, "must be the name of a processor or a list of names, not %s",
                              pbi_json_kind_name(kind));
    status = pbi_json_enter(json, PBI_JSON_ARRAY);
    size_t before = w->count;
    bool more;
    while (status == PB_OK && (status = pbi_json_item(json, &more)) == PB_OK && more)
        status = read_name(w, json, field, PB_NOTE_ON);
    if (status == PB_OK && w->count == before)
        return pbi_field_fail(json, field, "must name at least one processor; add one or remove the field");
    return status;
}

pb_status pbi_work_read(pbi_work_reader *w, pbi_json *json, pbi_field field, pbi_work_field which)
{
    switch (which) {
    case PBI_WORK_FLOPS: w->work.has_flops = true; return pbi_read_whole(json, field, &w->work.flops);
    case PBI_WORK_BYTES: w->work.has_bytes = true; return pbi_read_whole(json, field, &w->work.bytes);
    case PBI_WORK_OP: return read_word(w, json, field, &w->op);
    case PBI_WORK_DTYPE: return read_word(w, json, field, &w->dtype);
    case PBI_WORK_TIMES: return read_times(w, json, field);
    case PBI_WORK_ON: return read_on(w, json, field);
    case PBI_WORK_IN: return read_name(w, json, field, PB_NOTE_IN);
    case PBI_WORK_KEEP: return read_name(w, json, field, PB_NOTE_KEEP);
    case PBI_WORK_FIELDS: break;
    }
    return PB_OK;
}

pb_work pbi_work_of(const pbi_work_reader *w)
{
    pb_work work = w->work;
    work.op = w->op ? w->text.bytes + w->op : NULL;
    work.dtype = w->dtype ? w->text.bytes + w->dtype : NULL;
    return work;
}

pb_status pbi_work_note(const pbi_work_reader *w, pb_builder *b, pb_node v)
{
    pb_status status = PB_OK;
    for (size_t i = 0; i < w->count && status == PB_OK; i++)
        status = pb_builder_add_note(b, v, w->note[i].kind, w->text.bytes + w->note[i].at, w->note[i].value);
    return status;
}

pb_status pbi_work_read_fixed(pbi_work_reader *w, pbi_json *json, pbi_field field, pb_builder *b)
{
    pbi_work_clear(w);
    pb_status status = read_times(w, json, field);
    return status == PB_OK ? pbi_work_note(w, b, PB_NO_NODE) : status;
}
