/* graph_notes.c -- what nodes say for machines: work (flops, bytes, operation, type) and notes (times, processors,
 * memories). Most graphs have none of it, and then nothing is allocated. */
#include "base/arena.h"
#include "base/context.h"
#include "graph/graph_builder.h"

#include <inttypes.h>
#include <string.h>

pb_status pbi_word_number(pb_builder *b, const char *word, uint32_t *out)
{
    *out = PB_NO_WORD;
    return word && *word ? pbi_names_number(b, &b->words, word, strlen(word), out) : PB_OK;
}

pb_status pbi_builder_take_work(pb_builder *b, pb_node v, const pb_work *spec)
{
    pb_node_work work = {.flops = spec->flops, .bytes = spec->bytes};
    if (b->work_count > v)
        b->work_count = v; /* of a node that could not be added */
    if (!spec->has_flops && !spec->has_bytes && !spec->op && !spec->dtype)
        return PB_OK;
    work.has_flops = spec->has_flops;
    work.has_bytes = spec->has_bytes;
    void *items = b->work;
    if (!pbi_arena_reserve(&b->arena, &items, &b->work_room, (size_t)v + 1, sizeof *b->work))
        return PB_ENOMEM;
    b->work = items;
    pb_status status = pbi_word_number(b, spec->op, &work.op);
    if (status == PB_OK)
        status = pbi_word_number(b, spec->dtype, &work.dtype);
    if (status != PB_OK)
        return status;
    while (b->work_count < v)
        b->work[b->work_count++] = (pb_node_work){.op = PB_NO_WORD, .dtype = PB_NO_WORD};
    b->work[v] = work;
    b->work_count = (size_t)v + 1;
    return PB_OK;
}

pb_status pb_builder_add_note(pb_builder *b, pb_node v, pb_note_kind kind, const char *name, uint64_t value)
{
    pb_note note = {.kind = (uint32_t)kind, .value = value};
    bool keeps = v != PB_NO_NODE && kind == PB_NOTE_KEEP;
    if (!*name || (keeps && (strcmp(name, "true") == 0 || strcmp(name, "false") == 0)))
        return pbi_fail(b->ctx, PB_EGRAPH, "\"%s\" is not the name of a processor or memory; write another one", name);
    pb_status status = pbi_word_number(b, name, &note.word);
    if (status != PB_OK)
        return status;
    void *items = b->notes;
    if (!pbi_arena_reserve(&b->arena, &items, &b->note_room, b->note_count + 1, sizeof *b->notes))
        return PB_ENOMEM;
    b->notes = items;
    b->notes[b->note_count++] = (pbi_noted){v, note};
    if (keeps && v < b->names.count)
        b->record[v].flags |= PB_NODE_KEEP;
    return PB_OK;
}

void pb_builder_set_machine(pb_builder *b, const pb_machine *machine) { b->machine = machine; }

static pb_status freeze_words(const pb_builder *b, pb_graph *g, pb_arena *result)
{
    const char **words = pb_arena_alloc(result, b->words.count, sizeof *words);
    if (!words)
        return PB_ENOMEM;
    for (size_t i = 0; i < b->words.count; i++) {
        const char *text = b->words.text + b->words.start[i];
        if (!(words[i] = pb_arena_text(result, text, strlen(text))))
            return PB_ENOMEM;
    }
    g->words = words;
    g->word_count = (uint32_t)b->words.count;
    return PB_OK;
}

static pb_status freeze_work(const pb_builder *b, pb_graph *g, pb_arena *result)
{
    size_t count = b->work_count < g->node_count ? b->work_count : g->node_count;
    if (!count)
        return PB_OK;
    pb_node_work *work = pb_arena_alloc(result, g->node_count, sizeof *work);
    if (!work)
        return PB_ENOMEM;
    memcpy(work, b->work, count * sizeof *work);
    for (size_t v = count; v < g->node_count; v++)
        work[v] = (pb_node_work){.op = PB_NO_WORD, .dtype = PB_NO_WORD};
    g->work = work;
    return PB_OK;
}

static pb_status wrong_note(const pb_builder *b, const pb_graph *g, const pbi_noted *n, const char *why)
{
    static const char *const fields[] = {"times", "on", "in", "keep"};
    return pbi_fail(b->ctx, PB_EGRAPH, "node \"%.80s\": the field \"%s\" %s", pb_graph_name(g, n->node),
                    fields[n->note.kind], why);
}

static pb_status check_note(const pb_builder *b, const pb_graph *g, const pbi_noted *n)
{
    if (n->node >= g->node_count)
        return pbi_fail(b->ctx, PB_EINVAL, "a note for node %" PRIu32 ", but the graph has %" PRIu32 " nodes", n->node,
                        g->node_count);
    if (n->note.kind == PB_NOTE_IN && !(g->flags[n->node] & PB_NODE_GIVEN))
        return wrong_note(b, g, n, "is for given values only; remove it, or add \"given\": true");
    if ((n->note.kind == PB_NOTE_TIME || n->note.kind == PB_NOTE_ON) && !pb_graph_is_computed(g, n->node))
        return wrong_note(b, g, n, "is for computed nodes only, not for given values or by-products; remove it");
    return PB_OK;
}

/* A row may name a processor once in each field, and has at most one memory in each. */
static pb_status check_row(const pb_builder *b, const pb_graph *g, pb_node v, const pb_note *note, uint32_t count)
{
    if (count > PB_MACHINE_MAX_PARTS)
        return pbi_fail(b->ctx, PB_EGRAPH, "node \"%.80s\" names more than %d processors and memories; remove some",
                        pb_graph_name(g, v), PB_MACHINE_MAX_PARTS);
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k-- > 0 && note[k].kind == note[i].kind;)
            if (note[i].kind == PB_NOTE_IN || note[i].kind == PB_NOTE_KEEP || note[k].word == note[i].word)
                return wrong_note(b, g, &(pbi_noted){v, note[i]},
                                  note[k].word == note[i].word ? "names a part of the machine twice; remove one"
                                                               : "names two memories; remove one");
    return PB_OK;
}

static pb_status check_fixed(const pb_builder *b, const pb_graph *g)
{
    if (g->fixed_count > PB_MACHINE_MAX_PARTS)
        return pbi_fail(b->ctx, PB_EGRAPH, "\"fixed\" names more than %d memories; remove some", PB_MACHINE_MAX_PARTS);
    for (uint32_t i = 0; i < g->fixed_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (g->fixed[k].word == g->fixed[i].word)
                return pbi_fail(b->ctx, PB_EGRAPH, "\"fixed\" names the memory \"%.80s\" twice; remove one",
                                g->words[g->fixed[i].word]);
    return PB_OK;
}

/* Rows by node, each ascending by kind and then in the order of the builder's calls. */
static pb_status freeze_rows(const pb_builder *b, pb_graph *g, pb_arena *result)
{
    uint32_t *start = pb_arena_zero(result, (size_t)g->node_count + 2, sizeof *start);
    pb_note *note = pb_arena_alloc(result, b->note_count, sizeof *note);
    pb_note *fixed = pb_arena_alloc(result, b->note_count, sizeof *fixed);
    if (!start || !note || !fixed)
        return PB_ENOMEM;
    g->fixed = fixed;
    pb_status status = PB_OK;
    for (size_t i = 0; i < b->note_count; i++) {
        const pbi_noted *n = &b->notes[i];
        if (n->node == PB_NO_NODE) {
            fixed[g->fixed_count++] = n->note;
            continue;
        }
        status = check_note(b, g, n);
        if (status != PB_OK)
            return status;
        start[n->node + 2]++;
    }
    status = check_fixed(b, g);
    for (pb_node v = 0; v < g->node_count; v++)
        start[v + 2] += start[v + 1];
    for (uint32_t kind = PB_NOTE_TIME; kind <= PB_NOTE_KEEP; kind++)
        for (size_t i = 0; i < b->note_count; i++)
            if (b->notes[i].node != PB_NO_NODE && b->notes[i].note.kind == kind)
                note[start[b->notes[i].node + 1]++] = b->notes[i].note;
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        status = check_row(b, g, v, note + start[v], start[v + 1] - start[v]);
    if (b->note_count > g->fixed_count) {
        g->note_start = start;
        g->note = note;
    }
    return status;
}

pb_status pbi_freeze_notes(pb_builder *b, pb_graph *g, pb_arena *result)
{
    g->machine = b->machine;
    pb_status status = b->words.count ? freeze_words(b, g, result) : PB_OK;
    if (status == PB_OK)
        status = freeze_work(b, g, result);
    if (status == PB_OK && b->note_count)
        status = freeze_rows(b, g, result);
    return status;
}
