/* machines.c -- machines for other languages, and what graphs state for them; see bindings.h. */
#include "api/session/session.h"

#include "base/arena.h"
#include "base/context.h"
#include "pebble/io.h"
#include "report/metrics_json.h"

#include <string.h>

/* ---- graphs that are being built ---- */

pb_status pb_session_count_nodes(pb_session *s, const char *what, uint32_t count, const uint64_t *values)
{
    if (!s)
        return PB_EINVAL;
    bool flops = strcmp(what, "flops") == 0;
    if ((!flops && strcmp(what, "bytes") != 0) || (count && !values))
        return pbi_session_drop(s, "counts are flops or bytes, with an array");
    pbi_draft_work *w = &s->work;
    *(flops ? &w->flops : &w->bytes) = values;
    *(flops ? &w->flops_count : &w->bytes_count) = count;
    return PB_OK;
}

pb_status pb_session_word_nodes(pb_session *s, const char *what, uint32_t count, const uint32_t *word,
                                const char *names, uint64_t length)
{
    if (!s)
        return PB_EINVAL;
    bool op = strcmp(what, "op") == 0;
    if (!op && strcmp(what, "dtype") != 0)
        return pbi_session_drop(s, "words are op or dtype, with an array");
    pbi_draft_labels labels;
    pb_status status = pbi_session_labels(s, count, word, names, length, &labels);
    if (status == PB_OK)
        *(op ? &s->work.op : &s->work.dtype) = labels;
    return status;
}

bool pbi_draft_work_fits(const pbi_draft_work *w, uint32_t count)
{
    return (!w->flops || w->flops_count == count) && (!w->bytes || w->bytes_count == count) &&
           (!w->op.index || w->op.count == count) && (!w->dtype.index || w->dtype.count == count);
}

pb_work pbi_draft_work_at(const pbi_draft_work *w, uint32_t i)
{
    return (pb_work){.op = pbi_draft_label(&w->op, i),
                     .dtype = pbi_draft_label(&w->dtype, i),
                     .has_flops = w->flops && w->flops[i] != UINT64_MAX,
                     .has_bytes = w->bytes && w->bytes[i] != UINT64_MAX,
                     .flops = w->flops && w->flops[i] != UINT64_MAX ? w->flops[i] : 0,
                     .bytes = w->bytes && w->bytes[i] != UINT64_MAX ? w->bytes[i] : 0};
}

static const char *const note_names[] = {"time", "on", "in", "keep", "fixed"};
enum { NOTES = sizeof note_names / sizeof *note_names, FIXED = NOTES - 1 };

static int note_kind(const char *what)
{
    int kind = 0;
    while (kind < NOTES && strcmp(what, note_names[kind]) != 0)
        kind++;
    return kind;
}

pb_status pb_session_add_notes(pb_session *s, const char *what, const char *name, uint64_t count, const uint32_t *node,
                               const uint64_t *value)
{
    if (!s)
        return PB_EINVAL;
    int kind = note_kind(what);
    bool valued = kind == PB_NOTE_TIME || kind == FIXED;
    if (kind == NOTES || !name || (count && ((kind != FIXED && !node) || (valued && !value))))
        return pbi_session_drop(s, "notes are time, on, in, keep or fixed, with the name of a processor or memory");
    pb_status status = pbi_session_need_builder(s);
    for (uint64_t i = 0; i < count && status == PB_OK; i++)
        status = pb_builder_add_note(s->builder, kind == FIXED ? PB_NO_NODE : node[i],
                                     kind == FIXED ? PB_NOTE_IN : (pb_note_kind)kind, name, valued ? value[i] : 0);
    return pbi_session_end_draft(s, status);
}

pb_status pb_session_carry_machine(pb_session *s, const char *machine)
{
    if (!s)
        return PB_EINVAL;
    const pb_machine *m;
    pb_status status = pbi_session_need_builder(s);
    if (status == PB_OK)
        status = pb_machine_find(&s->ctx, machine, s->settings.no_files, &s->arena, &m);
    if (status == PB_OK)
        pb_builder_set_machine(s->builder, m);
    return pbi_session_end_draft(s, status);
}

/* ---- graphs that are there ---- */

bool pb_graph_work_arrays(const pb_graph *g, uint64_t *flops, uint64_t *bytes, uint32_t *op, uint32_t *dtype)
{
    for (pb_node v = 0; g->work && v < g->node_count; v++) {
        const pb_node_work *w = &g->work[v];
        if (flops)
            flops[v] = w->has_flops ? w->flops : UINT64_MAX;
        if (bytes)
            bytes[v] = w->has_bytes ? w->bytes : UINT64_MAX;
        if (op)
            op[v] = w->op;
        if (dtype)
            dtype[v] = w->dtype;
    }
    return g->work != NULL;
}

static void put_note(uint64_t at, pb_node v, const pb_note *note, uint32_t *node, uint32_t *word, uint64_t *value)
{
    if (node)
        node[at] = v;
    if (word)
        word[at] = note->word;
    if (value)
        value[at] = note->value;
}

uint64_t pb_graph_notes(const pb_graph *g, const char *what, uint64_t room, uint32_t *node, uint32_t *word,
                        uint64_t *value)
{
    int kind = note_kind(what);
    uint64_t found = 0;
    for (uint32_t i = 0; kind == FIXED && i < g->fixed_count; i++)
        if (found++ < room)
            put_note(i, PB_NO_NODE, &g->fixed[i], node, word, value);
    for (pb_node v = 0; kind < FIXED && g->note && v < g->node_count; v++)
        for (uint32_t i = g->note_start[v]; i < g->note_start[v + 1]; i++)
            if (g->note[i].kind == (uint32_t)kind && found++ < room)
                put_note(found - 1, v, &g->note[i], node, word, value);
    return found;
}

const char *pb_graph_word(const pb_graph *g, uint32_t word) { return word < g->word_count ? g->words[word] : NULL; }

/* ---- machines ---- */

pb_status pb_session_write_machine(pb_session *s, const char *machine)
{
    if (!s)
        return PB_EINVAL;
    const pb_machine *m;
    pbi_session_begin_reading(s);
    pb_status status = pb_machine_find(&s->ctx, machine, s->settings.no_files, &s->arena, &m);
    if (status == PB_OK)
        status = pb_machine_write(&s->ctx, m, pbi_session_write(s));
    return pbi_session_finish(s, status);
}

pb_status pb_session_write_graph_machine(pb_session *s, const pb_graph *g)
{
    if (!s)
        return PB_EINVAL;
    return pbi_session_end(s, g->machine ? pb_machine_write(&s->ctx, g->machine, pbi_session_write(s))
                                         : pbi_session_say(s, ""));
}

/* The machine of the settings, else the graph's own; without one this is an error. */
static pb_status need_machine(pb_session *s, const pb_graph *g, const pb_machine **out)
{
    pb_status status = pbi_session_name(s, pb_settings_machine(&s->ctx, &s->settings, g, &s->arena, out));
    if (status == PB_OK && !*out)
        return pbi_fail(&s->ctx, PB_EINVAL, "machine: expected one, because the graph has none of its own");
    return status;
}

static pb_status write_times(pb_session *s, const pb_graph *g, const pb_time_report *report)
{
    pbi_out out;
    pbi_out_init(&out, &s->ctx, pbi_session_write(s));
    pbi_put_u64(&out, "{\"kept\":", report->kept);
    pbi_put_u64(&out, ",\"unknown\":", report->unknown);
    pbi_put_u64(&out, ",\"outside\":", report->outside);
    pbi_out_text(&out, ",\"rows\":[");
    for (uint32_t i = 0; i < report->row_count; i++) {
        const pb_time_row *row = &report->rows[i];
        pbi_put_text(&out, i ? ",\n{\"op\":" : "\n{\"op\":", row->op);
        pbi_put_text(&out, ",\"dtype\":", row->dtype);
        pbi_put_u64(&out, ",\"nodes\":", row->nodes);
        pbi_out_text(&out, row->modelled ? ",\"modelled\":true" : ",\"modelled\":false");
        pbi_put_u64(&out, ",\"outside\":", row->outside);
        pbi_out_text(&out, ",\"beyond\":");
        pbi_out_json_real(&out, row->beyond);
        pbi_put_text(&out, ",\"node\":", pb_graph_name(g, row->node));
        pbi_put_u64(&out, ",\"time\":", row->time);
        pbi_out_char(&out, '}');
    }
    pbi_out_text(&out, "]}\n");
    return pbi_out_finish(&out);
}

pb_status pb_session_time_graph(pb_session *s, const pb_graph *g, const pb_graph **out)
{
    if (!s)
        return PB_EINVAL;
    const pb_machine *m;
    const pb_graph *timed;
    pb_time_report report;
    pbi_session_begin_reading(s);
    pb_status status = need_machine(s, g, &m);
    if (status == PB_OK)
        status = pb_graph_time(&s->ctx, g, m, &s->arena, &timed, &report);
    if (status == PB_OK)
        status = write_times(s, g, &report);
    if (status == PB_OK)
        *out = timed;
    return pbi_session_finish(s, status);
}

/* ---- models from measurements ---- */

pb_status pb_session_add_samples(pb_session *s, const char *op, const char *dtype, uint64_t count, const uint64_t *rows)
{
    if (!s)
        return PB_EINVAL;
    if (!op || (count && !rows) || count > UINT32_MAX - s->sample_count)
        return pbi_session_refuse(s, "measurements have an operation, and rows of flops, bytes and time");
    void *items = s->samples;
    char *name = pb_arena_text(&s->arena, op, strlen(op));
    char *type = dtype ? pb_arena_text(&s->arena, dtype, strlen(dtype)) : NULL;
    if (!name || (dtype && !type) ||
        !pbi_arena_reserve(&s->arena, &items, &s->sample_room, s->sample_count + (size_t)count, sizeof *s->samples))
        return pbi_session_end(s, PB_ENOMEM);
    s->samples = items;
    for (uint64_t i = 0; i < count; i++)
        s->samples[s->sample_count++] =
            (pb_machine_sample){name, type, {rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]}};
    return PB_OK;
}

static pb_status write_fitted(pb_session *s, const pb_machine *m, const pb_machine_fitted *fitted)
{
    pbi_out out;
    pb_sink sink = pbi_session_write(s);
    pbi_out_init(&out, &s->ctx, sink);
    pbi_out_text(&out, "{\"models\":[");
    for (uint32_t i = 0; i < m->processors[0].model_count; i++) {
        pbi_put_text(&out, i ? ",\n{\"op\":" : "\n{\"op\":", fitted[i].model->op);
        pbi_put_text(&out, ",\"dtype\":", fitted[i].model->dtype);
        pbi_put_u64(&out, ",\"samples\":", fitted[i].samples);
        pbi_put_share(&out, ",\"error\":", fitted[i].error);
        pbi_out_char(&out, '}');
    }
    pbi_out_text(&out, "],\"machine\":");
    pb_status status = pbi_out_finish(&out);
    if (status == PB_OK)
        status = pb_machine_write(&s->ctx, m, sink);
    return status == PB_OK ? sink.write(sink.state, "}\n", 2) : status;
}

static pb_status fit(pb_session *s, const char *machine)
{
    const pb_machine *base;
    const pb_machine_fitted *fitted;
    pb_machine_processor *p = pb_arena_alloc(&s->arena, 1, sizeof *p);
    pb_status status = p ? pb_machine_find(&s->ctx, machine, s->settings.no_files, &s->arena, &base) : PB_ENOMEM;
    if (status != PB_OK)
        return status;
    if (base->processor_count != 1)
        return pbi_fail(&s->ctx, PB_EINVAL, "machine \"%.60s\" has %u processors; models are fitted for one",
                        base->name, (unsigned)base->processor_count);
    if (strcmp(base->time_unit, "ns") != 0)
        return pbi_fail(&s->ctx, PB_EINVAL, "machine \"%.60s\" counts in %.20s; models are fitted in ns, so use that",
                        base->name, base->time_unit);
    *p = base->processors[0];
    status = pb_machine_fit(&s->ctx, s->samples, s->sample_count, &s->arena, p, &fitted);
    pb_machine made = *base;
    made.processors = p;
    if (status == PB_OK)
        status = pb_machine_check(&s->ctx, &made);
    return status == PB_OK ? write_fitted(s, &made, fitted) : status;
}

pb_status pb_session_fit_machine(pb_session *s, const char *machine)
{
    if (!s)
        return PB_EINVAL;
    pbi_session_begin_reading(s);
    pb_status status = fit(s, machine);
    s->sample_count = 0;
    return pbi_session_finish(s, status);
}

pb_status pb_session_rescale_machine(pb_session *s, const char *machine, double factor)
{
    if (!s)
        return PB_EINVAL;
    const pb_machine *m;
    pbi_session_begin_reading(s);
    pb_status status = pb_machine_find(&s->ctx, machine, s->settings.no_files, &s->arena, &m);
    if (status == PB_OK)
        status = pb_machine_rescale(&s->ctx, m, factor, &s->arena, &m);
    if (status == PB_OK)
        status = pb_machine_write(&s->ctx, m, pbi_session_write(s));
    return pbi_session_finish(s, status);
}
