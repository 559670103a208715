/* blif.c -- reads circuits in the Berkeley Logic Interchange Format, the first model of a file.
 *
 *     .model adder          .names a b sum        .latch next state 0
 *     .inputs a b           01 1                  .end
 *     .outputs sum          10 1
 *
 * A table is a gate whatever its function; but one with a single input is a wire, and one without inputs or without
 * rows is a constant. Latches are cuts. Nested models are refused.
 */
#include "base/context.h"
#include "io/circuit/circuit.h"
#include "io/circuit/circuit_scan.h"
#include "io/formats.h"

typedef struct reader {
    pb_context *ctx;
    pbi_words words;
    pbi_circuit circuit;
    const char *name; /* of the model */
    bool named;       /* its line was read */
    bool inputs;      /* a line .inputs was read */
    bool ended;
    /* The table whose rows follow; its inputs are the circuit's operands that do not belong to a definition yet. */
    bool table;
    uint32_t table_signal;
    pbi_place table_place;
    size_t width;
    uint64_t rows;
} reader;

typedef pb_status directive(reader *r);

static bool at_line_end(const reader *r) { return r->words.kind == PBI_WORD_LINE || r->words.kind == PBI_WORD_END; }

static pb_status signal_here(reader *r, uint32_t *out)
{
    pbi_slice name = pbi_words_text(&r->words);
    return pbi_circuit_signal(&r->circuit, name.bytes, name.length, r->words.place, out);
}

static pb_status next_signal(reader *r, uint32_t *out)
{
    pb_status status = pbi_words_next(&r->words);
    if (status == PB_OK && at_line_end(r))
        return pbi_words_unexpected(&r->words, "the name of a signal");
    return status == PB_OK ? signal_here(r, out) : status;
}

static pb_status close_table(reader *r)
{
    if (!r->table)
        return PB_OK;
    r->table = false;
    pbi_signal_kind kind = r->rows ? pbi_circuit_kind(r->width) : PBI_SIGNAL_CONSTANT;
    if (kind == PBI_SIGNAL_CONSTANT)
        r->circuit.operand_count = r->circuit.taken;
    return pbi_circuit_define(&r->circuit, r->table_signal, kind, r->table_place);
}

static pb_status read_model(reader *r)
{
    if (r->named) { /* models after the first one are ignored */
        r->ended = true;
        return PB_OK;
    }
    r->named = true;
    pb_status status = pbi_words_next(&r->words);
    if (status != PB_OK || at_line_end(r))
        return status;
    r->name = pb_arena_text(r->circuit.arena, r->words.word.bytes, pbi_words_text(&r->words).length);
    return r->name ? pbi_words_skip_line(&r->words) : PB_ENOMEM;
}

static pb_status read_ports(reader *r, bool input)
{
    pb_status status;
    while ((status = pbi_words_next(&r->words)) == PB_OK && !at_line_end(r)) {
        uint32_t s;
        status = signal_here(r, &s);
        if (status == PB_OK)
            status = input ? pbi_circuit_define(&r->circuit, s, PBI_SIGNAL_INPUT, r->words.place)
                           : pbi_circuit_output_add(&r->circuit, s);
        if (status != PB_OK)
            return status;
    }
    return status;
}

static pb_status read_inputs(reader *r)
{
    r->inputs = true;
    return read_ports(r, true);
}

static pb_status read_outputs(reader *r) { return read_ports(r, false); }

/* .names a b z: the rows that follow define the last one. */
static pb_status read_names(reader *r)
{
    pb_status status;
    r->width = 0;
    r->rows = 0;
    while ((status = pbi_words_next(&r->words)) == PB_OK && !at_line_end(r)) {
        if (r->table) {
            status = pbi_circuit_operand(&r->circuit, r->table_signal);
            r->width++;
        }
        r->table = true;
        r->table_place = r->words.place;
        if (status == PB_OK)
            status = signal_here(r, &r->table_signal);
        if (status != PB_OK)
            return status;
    }
    if (status == PB_OK && !r->table)
        return pbi_words_unexpected(&r->words, "the signals of the table");
    return status;
}

/* .latch next state [type control] [initial value] */
static pb_status read_latch(reader *r)
{
    uint32_t next, holds;
    pb_status status = next_signal(r, &next);
    if (status == PB_OK)
        status = next_signal(r, &holds);
    if (status == PB_OK)
        status = pbi_circuit_latch(&r->circuit, holds, next, r->words.place);
    return status == PB_OK ? pbi_words_skip_line(&r->words) : status;
}

/* .conn a b, from some tools: b is a. */
static pb_status read_connection(reader *r)
{
    uint32_t from, to;
    pb_status status = next_signal(r, &from);
    if (status == PB_OK)
        status = next_signal(r, &to);
    if (status == PB_OK)
        status = pbi_circuit_operand(&r->circuit, from);
    if (status == PB_OK)
        status = pbi_circuit_define(&r->circuit, to, PBI_SIGNAL_WIRE, r->words.place);
    return status == PB_OK ? pbi_words_skip_line(&r->words) : status;
}

static pb_status read_end(reader *r)
{
    r->ended = true;
    return PB_OK;
}

static pb_status refuse_model(reader *r)
{
    return pbi_text_fail(r->words.text, r->words.place,
                         "%.20s uses another model or a library cell: flatten the circuit to .names first",
                         r->words.word.bytes);
}

static pb_status ignore(reader *r) { return pbi_words_skip_line(&r->words); }

static const struct {
    const char *word;
    directive *read;
} directives[] = {
    {".names", read_names},
    {".model", read_model},
    {".inputs", read_inputs},
    {".input", read_inputs},
    {".outputs", read_outputs},
    {".output", read_outputs},
    {".latch", read_latch},
    {".conn", read_connection},
    {".end", read_end},
    {".exdc", read_end},
    {".subckt", refuse_model},
    {".gate", refuse_model},
    {".mlatch", refuse_model},
    {".search", refuse_model},
    {".start_kiss", refuse_model},
    {".clock", ignore},
    {".area", ignore},
    {".delay", ignore},
    {".wire_load_slope", ignore},
    {".wire", ignore},
    {".input_arrival", ignore},
    {".default_input_arrival", ignore},
    {".output_required", ignore},
    {".default_output_required", ignore},
    {".input_drive", ignore},
    {".default_input_drive", ignore},
    {".output_load", ignore},
    {".default_output_load", ignore},
    {".max_input_load", ignore},
    {".default_max_input_load", ignore},
    {".clock_event", ignore},
    {".cycle", ignore},
    {".cname", ignore},
    {".attr", ignore},
    {".param", ignore},
};
enum { DIRECTIVES = sizeof directives / sizeof *directives };

static bool only(const char *text, const char *bytes) { return *text && text[strspn(text, bytes)] == '\0'; }

/* 01- 1: inputs and the value. It changes nothing, but must be a row of this table. */
static pb_status read_row(reader *r)
{
    pbi_words *w = &r->words;
    if (!r->table)
        return pbi_words_unexpected(w, "a word that begins with a point");
    pb_status status = PB_OK;
    if (r->width) {
        if (pbi_words_text(w).length != r->width || !only(w->word.bytes, "01-"))
            return pbi_text_fail(w->text, w->place, "this row must have one of 0, 1 and - for each of %zu inputs",
                                 r->width);
        status = pbi_words_next(w);
    }
    if (status == PB_OK && (w->kind != PBI_WORD || pbi_words_text(w).length != 1 || !only(w->word.bytes, "01")))
        return pbi_words_unexpected(w, "0 or 1 at the end of the row");
    r->rows++;
    if (status == PB_OK)
        status = pbi_words_next(w);
    if (status == PB_OK && !at_line_end(r))
        return pbi_words_unexpected(w, "the end of the row");
    return status;
}

static pb_status read_line(reader *r)
{
    if (r->words.word.bytes[0] != '.')
        return read_row(r);
    pb_status status = close_table(r);
    for (size_t i = 0; i < DIRECTIVES && status == PB_OK; i++)
        if (pbi_words_is(&r->words, directives[i].word))
            return directives[i].read(r);
    return status == PB_OK ? pbi_words_unexpected(&r->words, "a word of BLIF, such as .names or .latch") : status;
}

static pb_status read_all(reader *r)
{
    pb_status status = PB_OK;
    while (status == PB_OK && !r->ended && (status = pbi_words_next(&r->words)) == PB_OK) {
        if (r->words.kind == PBI_WORD_END)
            break;
        if (r->words.kind == PBI_WORD)
            status = read_line(r);
    }
    return status == PB_OK ? close_table(r) : status;
}

pb_status pbi_graph_blif_read(pbi_text *text, pb_inputs inputs, pb_arena *scratch, pb_arena *result,
                              const pb_graph **out)
{
    reader r = {.ctx = text->ctx};
    pbi_words_init(&r.words, text, scratch, "", true, true);
    pb_status status = pbi_circuit_init(&r.circuit, text->ctx, scratch, inputs);
    if (status == PB_OK)
        status = read_all(&r);
    r.circuit.open_inputs = !r.inputs;
    return status == PB_OK ? pbi_circuit_freeze(&r.circuit, r.name, result, out) : status;
}
