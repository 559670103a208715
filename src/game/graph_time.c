/* graph_time.c -- a graph with `times` from the models of a machine, and what lies outside their measurements. */
#include "base/context.h"
#include "game/machine_price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes that differ by less are not worth a warning. */
static const double outside_from = 1.01;

typedef struct timing {
    pb_context *ctx;
    const pb_graph *g;
    const pb_machine *m;
    pb_arena *result;
    const char **words;
    uint32_t word_count;
    uint32_t *start;
    pb_note *note;
    uint32_t note_count;
    pb_time_row *rows;
    size_t row_room;
    pb_time_report report;
} timing;

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* The row of an operation and type; NULL: out of memory. */
static pb_time_row *row_of(timing *t, const pb_work *work, bool modelled, pb_node v)
{
    for (uint32_t i = 0; i < t->report.row_count; i++)
        if (same_text(t->rows[i].op, work->op) && same_text(t->rows[i].dtype, work->dtype))
            return &t->rows[i];
    if (t->report.row_count == t->row_room) {
        size_t room = t->row_room ? 2 * t->row_room : 32;
        pb_time_row *rows = pb_arena_alloc(t->result, room, sizeof *rows);
        if (!rows)
            return NULL;
        if (t->row_room)
            memcpy(rows, t->rows, t->row_room * sizeof *rows);
        t->rows = rows;
        t->row_room = room;
    }
    pb_time_row *row = &t->rows[t->report.row_count++];
    *row = (pb_time_row){.op = work->op, .dtype = work->dtype, .modelled = modelled, .beyond = 1, .node = v};
    return row;
}

/* The word of a processor's name; a new one is copied, so that the graph does not depend on the machine. */
static pb_status word_number(timing *t, const char *name, uint32_t *out)
{
    for (*out = 0; *out < t->word_count; ++*out)
        if (strcmp(t->words[*out], name) == 0)
            return PB_OK;
    const char *copy = pb_arena_text(t->result, name, strlen(name));
    if (!copy)
        return PB_ENOMEM;
    t->words[t->word_count++] = copy;
    return PB_OK;
}

/* The time of v on a processor; *beyond as in pb_machine_model_time. */
static pb_status find_time(timing *t, pb_node v, const pb_machine_processor *p, uint64_t *out, double *beyond)
{
    pb_work work = pb_graph_work(t->g, v);
    const pb_machine_model *model = pb_machine_model_of(p, &work);
    if (!model)
        return pbi_formula_duration(t->ctx, t->g, t->m, p, v, out);
    double time = pb_machine_model_time(t->m, model, &work, beyond);
    if (!(time < 0x1p63))
        return pbi_fail(t->ctx, PB_ERANGE, "node \"%.80s\" takes more than 2^63 %s on processor %.60s",
                        pb_graph_name(t->g, v), t->m->time_unit, p->name);
    *out = time < 1 ? 1 : (uint64_t)llround(time);
    return PB_OK;
}

static pb_status report_time(timing *t, pb_node v, uint64_t time, double beyond)
{
    pb_work work = pb_graph_work(t->g, v);
    pb_time_row *row = row_of(t, &work, pb_machine_model_of(&t->m->processors[0], &work) != NULL, v);
    if (!row)
        return PB_ENOMEM;
    row->nodes++;
    row->time += time;
    if (beyond > outside_from) {
        row->outside++;
        t->report.outside++;
    }
    if (beyond > row->beyond) {
        row->beyond = beyond;
        row->node = v;
    }
    return PB_OK;
}

/* Its notes: times first. */
static pb_status time_node(timing *t, pb_node v)
{
    const pb_graph *g = t->g;
    pb_work work = pb_graph_work(g, v);
    bool computed = pb_graph_is_computed(g, v), stated = t->m->per_second && (work.has_flops || work.has_bytes);
    uint32_t i = g->note ? g->note_start[v] : 0, end = g->note ? g->note_start[v + 1] : 0;
    for (; i < end && g->note[i].kind == PB_NOTE_TIME; i++)
        t->note[t->note_count++] = g->note[i];
    for (uint32_t k = 0; k < t->m->processor_count && computed; k++) {
        const pb_machine_processor *p = &t->m->processors[k];
        uint64_t time;
        uint32_t word;
        double beyond = 1;
        if (pbi_measured_time(g, v, p->name, &time)) {
            t->report.kept += k == 0;
            continue;
        }
        if (!stated) {
            t->report.unknown += k == 0;
            continue;
        }
        pb_status status = find_time(t, v, p, &time, &beyond);
        if (status == PB_OK && k == 0)
            status = report_time(t, v, time, beyond);
        if (status == PB_OK)
            status = word_number(t, p->name, &word);
        if (status != PB_OK)
            return status;
        t->note[t->note_count++] = (pb_note){PB_NOTE_TIME, word, time};
    }
    for (; i < end; i++)
        t->note[t->note_count++] = g->note[i];
    return PB_OK;
}

static int longest_first(const void *a, const void *b)
{
    const pb_time_row *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

static pb_status take_arrays(timing *t)
{
    const pb_graph *g = t->g;
    size_t old = g->note ? g->note_start[g->node_count] : 0;
    size_t most = old + (size_t)g->node_count * t->m->processor_count;
    t->words = pb_arena_alloc(t->result, (size_t)g->word_count + t->m->processor_count, sizeof *t->words);
    t->start = pb_arena_alloc(t->result, (size_t)g->node_count + 2, sizeof *t->start);
    t->note = most < UINT32_MAX ? pb_arena_alloc(t->result, most + 1, sizeof *t->note) : NULL;
    if (!t->words || !t->start || !t->note)
        return PB_ENOMEM;
    if (g->word_count)
        memcpy(t->words, g->words, g->word_count * sizeof *t->words);
    t->word_count = g->word_count;
    return PB_OK;
}

pb_status pb_graph_time(pb_context *ctx, const pb_graph *g, const pb_machine *m, pb_arena *result, const pb_graph **out,
                        pb_time_report *report)
{
    timing t = {.ctx = ctx, .g = g->unpriced ? g->unpriced : g, .m = m, .result = result};
    pb_graph *timed = pb_arena_alloc(result, 1, sizeof *timed);
    pb_status status = timed ? take_arrays(&t) : PB_ENOMEM;
    for (pb_node v = 0; v < t.g->node_count && status == PB_OK; v++) {
        t.start[v] = t.note_count;
        status = time_node(&t, v);
    }
    if (status != PB_OK)
        return status;
    t.start[t.g->node_count] = t.note_count;
    if (t.report.row_count)
        qsort(t.rows, t.report.row_count, sizeof *t.rows, longest_first);
    t.report.rows = t.rows;
    *timed = *t.g;
    timed->words = t.words;
    timed->word_count = t.word_count;
    if (t.note_count) {
        timed->note_start = t.start;
        timed->note = t.note;
    }
    *out = timed;
    *report = t.report;
    return PB_OK;
}
