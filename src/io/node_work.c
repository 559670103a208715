/* node_work.c -- what nodes say for machines, as text for DOT and CSV. */
#include "io/node_work.h"

#include "base/checked.h"
#include "base/context.h"
#include "graph/graph_builder.h"
#include "io/graph_json.h"
#include "io/node_table.h"
#include "machine/machine_parts.h"

#include <inttypes.h>
#include <stdio.h>

const pbi_slice pbi_work_names[PBI_WORK_FIELDS] = {
    PBI_NAME("flops"), PBI_NAME("bytes"), PBI_NAME("op"), PBI_NAME("dtype"),
    PBI_NAME("times"), PBI_NAME("on"),    PBI_NAME("in"), PBI_NAME("keep"),
};

const pb_note *pbi_notes_of(const pb_graph *g, pb_node v, pb_note_kind kind, uint32_t *count)
{
    uint32_t i = g->note ? g->note_start[v] : 0, end = g->note ? g->note_start[v + 1] : 0;
    while (i < end && g->note[i].kind < (uint32_t)kind)
        i++;
    for (*count = 0; i + *count < end && g->note[i + *count].kind == (uint32_t)kind;)
        ++*count;
    return *count ? &g->note[i] : NULL;
}

static bool list_text(const pb_graph *g, const pb_note *note, uint32_t count, bool values, pb_buffer *room)
{
    bool ok = true;
    room->length = 0;
    for (uint32_t i = 0; i < count && ok; i++) {
        char value[24];
        int length = values ? snprintf(value, sizeof value, "=%" PRIu64, note[i].value) : 0;
        ok = pbi_name_list_add(room, g->words[note[i].word]) && pbi_bytes_add(room, value, (size_t)length);
    }
    return ok && pbi_bytes_add(room, "", 1);
}

bool pbi_graph_fixed_text(const pb_graph *g, pb_buffer *room, const char **text)
{
    bool ok = list_text(g, g->fixed, g->fixed_count, true, room);
    *text = ok && g->fixed_count ? room->bytes : NULL;
    return ok;
}

bool pbi_graph_machine_text(pb_context *ctx, const pb_graph *g, pb_buffer *room, const char **text)
{
    pbi_out out;
    *text = NULL;
    if (!g->machine)
        return true;
    room->length = 0;
    pbi_out_init(&out, ctx, pb_sink_buffer(room));
    pbi_machine_write(&out, g->machine, false);
    bool ok = pbi_out_finish(&out) == PB_OK;
    *text = ok ? room->bytes : NULL;
    return ok;
}

bool pbi_recipes_text(pb_context *ctx, const pb_graph *g, pb_node v, pb_buffer *room, const char **text)
{
    pbi_out out;
    *text = NULL;
    if (!pb_graph_recipes(g, v))
        return true;
    room->length = 0;
    pbi_out_init(&out, ctx, pb_sink_buffer(room));
    pbi_recipes_write(&out, g, v);
    bool ok = pbi_out_finish(&out) == PB_OK && pbi_bytes_add(room, "", 1);
    *text = ok ? room->bytes : NULL;
    return ok;
}

static bool number_text(bool stated, uint64_t value, pb_buffer *room, const char **text)
{
    char digits[24];
    room->length = 0;
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    bool ok = pbi_bytes_add(room, digits, strlen(digits) + 1);
    *text = ok && stated ? room->bytes : NULL;
    return ok;
}

bool pbi_work_text(const pb_graph *g, pb_node v, pbi_work_field which, pb_buffer *room, const char **text)
{
    static const pb_note_kind kinds[] = {PB_NOTE_TIME, PB_NOTE_ON, PB_NOTE_IN, PB_NOTE_KEEP};
    *text = NULL;
    if (which >= PBI_WORK_TIMES) {
        uint32_t count;
        const pb_note *note = pbi_notes_of(g, v, kinds[which - PBI_WORK_TIMES], &count);
        if (!count)
            return true;
        bool list = which == PBI_WORK_TIMES || which == PBI_WORK_ON;
        bool ok = !list || list_text(g, note, count, which == PBI_WORK_TIMES, room);
        *text = list && ok ? room->bytes : g->words[note->word];
        return ok;
    }
    const pb_node_work *work = g->work ? &g->work[v] : NULL;
    if (!work)
        return true;
    if (which == PBI_WORK_FLOPS || which == PBI_WORK_BYTES)
        return number_text(which ? work->has_bytes : work->has_flops, which ? work->bytes : work->flops, room, text);
    uint32_t word = which == PBI_WORK_OP ? work->op : work->dtype;
    *text = word == PB_NO_WORD ? NULL : g->words[word];
    return true;
}

pb_status pbi_add_note_list(pb_builder *b, pb_node v, pb_note_kind kind, const char *list, pb_buffer *name)
{
    bool more;
    pb_status status;
    while ((status = pbi_name_list_next(&list, name, &more)) == PB_OK && more) {
        uint64_t value = 0;
        if (!pbi_bytes_add(name, "", 1))
            return PB_ENOMEM;
        char *sign = kind == PB_NOTE_TIME ? strrchr(name->bytes, '=') : NULL;
        if (kind == PB_NOTE_TIME && (!sign || !pbi_u64_parse(sign + 1, strlen(sign + 1), &value)))
            return pbi_fail(b->ctx, PB_EFORMAT, "%s must be a list of name=number, separated by blanks, not \"%.60s\"",
                            v == PB_NO_NODE ? "fixed" : "times", name->bytes);
        if (sign)
            *sign = '\0';
        status = pb_builder_add_note(b, v, kind, name->bytes, value);
        if (status != PB_OK)
            return status;
    }
    return status;
}
