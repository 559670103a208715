/* aiger.c -- reads And-Inverter Graphs in AIGER's two forms: `aag` in text, `aig` with the gates as bytes.
 *
 *     aag M I L O A [B [C]]       variables up to M, inputs, latches, outputs, gates, bad states, constraints
 *
 * Literal 2v is variable v, 2v+1 its negation: inverters are free. Nothing is allocated for a count in the header: a
 * signal exists once a line, or the bytes of a gate, mention it.
 */
#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"
#include "io/circuit/circuit.h"
#include "io/circuit/circuit_scan.h"
#include "io/formats.h"

#include <inttypes.h>

enum { COUNTS = 9, MAX_VARIABLES = (1u << 31) - 1 };
typedef enum header { H_MAX, H_INPUTS, H_LATCHES, H_OUTPUTS, H_GATES, H_BAD, H_CONSTRAINTS, H_JUSTICE, H_FAIR } header;

/* Literals that are resolved when every gate is known. */
typedef struct literals {
    uint32_t *item;
    size_t count, room;
} literals;

typedef struct reader {
    pb_context *ctx;
    pbi_words words;
    pbi_circuit circuit;
    uint64_t head[COUNTS];
    bool binary;
    literals inputs, latches; /* positions to which symbols refer */
} reader;

static pb_status keep(reader *r, literals *list, uint32_t literal)
{
    void *items = list->item;
    if (!pbi_arena_reserve(r->circuit.arena, &items, &list->room, list->count + 1, sizeof *list->item))
        return PB_ENOMEM;
    list->item = items;
    list->item[list->count++] = literal;
    return PB_OK;
}

/* The signal of a literal's variable. Variable 0 is the constant. */
static pb_status signal_of(reader *r, uint32_t literal, pbi_place place, uint32_t *out)
{
    char name[16];
    size_t at = sizeof name;
    uint32_t variable = literal / 2;
    do
        name[--at] = (char)('0' + variable % 10);
    while (variable /= 10);
    name[--at] = 'n';
    pb_status status = pbi_circuit_signal(&r->circuit, name + at, sizeof name - at, place, out);
    if (status != PB_OK || literal / 2 || r->circuit.signal[*out].kind == PBI_SIGNAL_CONSTANT)
        return status;
    return pbi_circuit_define(&r->circuit, *out, PBI_SIGNAL_CONSTANT, place);
}

/* The token as a number up to `most`. */
static pb_status number_here(reader *r, const char *what, uint64_t most, uint64_t *out)
{
    pbi_words *w = &r->words;
    pbi_slice text = pbi_words_text(w);
    if (w->kind != PBI_WORD || !pbi_u64_parse(text.bytes, text.length, out))
        return pbi_words_unexpected(w, what);
    if (*out > most)
        return pbi_text_fail(w->text, w->place, "expected %s of at most %" PRIu64 ", not %" PRIu64, what, most, *out);
    return PB_OK;
}

static pb_status take_literal(reader *r, uint32_t *out)
{
    uint64_t value = 0;
    pb_status status = pbi_words_next(&r->words);
    if (status == PB_OK)
        status = number_here(r, "a literal", 2 * r->head[H_MAX] + 1, &value);
    *out = (uint32_t)value;
    return status;
}

/* A literal that defines its variable: even, and not the constant. */
static pb_status take_variable(reader *r, uint32_t *out)
{
    pb_status status = take_literal(r, out);
    if (status == PB_OK && (*out < 2 || *out % 2))
        return pbi_text_fail(r->words.text, r->words.place,
                             "%" PRIu32 " cannot be defined; expected an even literal of at least 2", *out);
    return status;
}

static pb_status end_line(reader *r)
{
    pb_status status = pbi_words_next(&r->words);
    if (status == PB_OK && r->words.kind != PBI_WORD_LINE && r->words.kind != PBI_WORD_END)
        return pbi_words_unexpected(&r->words, "the end of the line");
    return status;
}

static pb_status read_header(reader *r)
{
    pbi_words *w = &r->words;
    pb_status status = pbi_words_next(w);
    if (status != PB_OK)
        return status;
    r->binary = w->kind == PBI_WORD && strcmp(w->word.bytes, "aig") == 0;
    if (!r->binary && !(w->kind == PBI_WORD && strcmp(w->word.bytes, "aag") == 0))
        return pbi_words_unexpected(w, "aag or aig");
    pbi_place place = w->place;
    for (int i = 0; i <= COUNTS && (status = pbi_words_next(w)) == PB_OK; i++) {
        bool ended = w->kind == PBI_WORD_LINE || w->kind == PBI_WORD_END;
        if (ended && i > H_GATES)
            break;
        if (i == COUNTS)
            return pbi_words_unexpected(w, "the end of the line");
        status = number_here(r, "a count of the header", MAX_VARIABLES, &r->head[i]);
        if (status != PB_OK)
            return status;
    }
    if (status != PB_OK)
        return status;
    if (r->head[H_JUSTICE] || r->head[H_FAIR])
        return pbi_text_fail(
            w->text, place,
            "justice and fairness properties describe infinite runs, which a graph of one step cannot; remove them");
    uint64_t defined = r->head[H_INPUTS] + r->head[H_LATCHES] + r->head[H_GATES];
    if (r->binary ? defined != r->head[H_MAX] : defined > r->head[H_MAX])
        return pbi_text_fail(w->text, place,
                             "the header has %" PRIu64 " variables%s, but there are %" PRIu64
                             " inputs, latches and gates; correct the header",
                             r->head[H_MAX], r->binary ? "" : " at most", defined);
    return PB_OK;
}

static pb_status define_input(reader *r, uint32_t literal)
{
    uint32_t s;
    pb_status status = signal_of(r, literal, r->words.place, &s);
    return status == PB_OK ? pbi_circuit_define(&r->circuit, s, PBI_SIGNAL_INPUT, r->words.place) : status;
}

/* In the binary form input k is variable k+1, without a line: it is defined when a gate or output reads it. */
static pb_status read_inputs(reader *r)
{
    pb_status status = PB_OK;
    for (uint64_t i = 0; i < r->head[H_INPUTS] && !r->binary && status == PB_OK; i++) {
        uint32_t literal;
        status = take_variable(r, &literal);
        if (status == PB_OK)
            status = define_input(r, literal);
        if (status == PB_OK)
            status = keep(r, &r->inputs, literal);
        if (status == PB_OK)
            status = end_line(r);
    }
    return status;
}

static pb_status find(reader *r, uint32_t literal, pbi_place place, uint32_t *out)
{
    pb_status status = signal_of(r, literal, place, out);
    bool implied = r->binary && literal >= 2 && literal / 2 <= r->head[H_INPUTS];
    if (status != PB_OK || !implied || r->circuit.signal[*out].kind != PBI_SIGNAL_UNKNOWN)
        return status;
    return pbi_circuit_define(&r->circuit, *out, PBI_SIGNAL_INPUT, place);
}

/* state next [initial value]; the binary form omits the state. */
static pb_status read_latches(reader *r)
{
    pb_status status = PB_OK;
    for (uint64_t i = 0; i < r->head[H_LATCHES] && status == PB_OK; i++) {
        uint32_t holds = (uint32_t)(2 * (r->head[H_INPUTS] + i + 1)), next, s, n;
        if (!r->binary)
            status = take_variable(r, &holds);
        pbi_place place = r->words.place;
        if (status == PB_OK)
            status = take_literal(r, &next);
        if (r->binary)
            place = r->words.place;
        if (status == PB_OK)
            status = signal_of(r, holds, place, &s);
        if (status == PB_OK)
            status = find(r, next, r->words.place, &n);
        if (status == PB_OK)
            status = pbi_circuit_latch(&r->circuit, s, n, place);
        if (status == PB_OK)
            status = keep(r, &r->latches, holds);
        if (status == PB_OK)
            status = pbi_words_next(&r->words); /* 0, 1, the latch itself, or nothing */
        if (status == PB_OK)
            status = pbi_words_skip_line(&r->words);
    }
    return status;
}

static pb_status read_outputs(reader *r, uint64_t count)
{
    pb_status status = PB_OK;
    for (uint64_t i = 0; i < count && status == PB_OK; i++) {
        uint32_t literal, s;
        status = take_literal(r, &literal);
        if (status == PB_OK)
            status = find(r, literal, r->words.place, &s);
        if (status == PB_OK)
            status = pbi_circuit_output_add(&r->circuit, s);
        if (status == PB_OK)
            status = end_line(r);
    }
    return status;
}

static pb_status define_gate(reader *r, const uint32_t literal[3], pbi_place place)
{
    uint32_t s[3] = {0};
    pb_status status = PB_OK;
    for (int k = 0; k < 3 && status == PB_OK; k++) {
        status = find(r, literal[k], place, &s[k]);
        if (status == PB_OK && k)
            status = pbi_circuit_operand(&r->circuit, s[k]);
    }
    return status == PB_OK ? pbi_circuit_define(&r->circuit, s[0], PBI_SIGNAL_GATE, place) : status;
}

static pb_status read_gates(reader *r)
{
    pb_status status = PB_OK;
    for (uint64_t i = 0; i < r->head[H_GATES] && status == PB_OK; i++) {
        uint32_t literal[3];
        status = take_variable(r, &literal[0]);
        pbi_place place = r->words.place;
        for (int k = 1; k < 3 && status == PB_OK; k++)
            status = take_literal(r, &literal[k]);
        if (status == PB_OK)
            status = define_gate(r, literal, place);
        if (status == PB_OK)
            status = end_line(r);
    }
    return status;
}

/* Seven bits per byte, low bits first; the eighth means that more follow. */
static pb_status take_delta(reader *r, uint64_t gate, uint32_t *out)
{
    pbi_text *text = r->words.text;
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (text->at == text->end && !pbi_text_more(text))
            return pbi_text_fail(text, pbi_text_place(text),
                                 "the file ends inside gate %" PRIu64 " of %" PRIu64
                                 "; it is cut short: write it again",
                                 gate + 1, r->head[H_GATES]);
        unsigned char c = (unsigned char)*text->at++;
        value |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            if (value > UINT32_MAX)
                break;
            *out = (uint32_t)value;
            return PB_OK;
        }
    }
    return pbi_text_fail(text, pbi_text_place(text),
                         "gate %" PRIu64 " has an input of more than 32 bits; the file is damaged: write it again",
                         gate + 1);
}

static pb_status read_gate_bytes(reader *r)
{
    pb_status status = PB_OK;
    uint64_t before = r->head[H_INPUTS] + r->head[H_LATCHES];
    for (uint64_t i = 0; i < r->head[H_GATES] && status == PB_OK; i++) {
        uint32_t first, second, literal[3];
        status = take_delta(r, i, &first);
        if (status == PB_OK)
            status = take_delta(r, i, &second);
        if (status != PB_OK)
            return status;
        literal[0] = (uint32_t)(2 * (before + i + 1));
        if (first == 0 || first > literal[0] || second > literal[0] - first)
            return pbi_text_fail(r->words.text, pbi_text_place(r->words.text),
                                 "gate %" PRIu64
                                 " reads a gate that does not come before it; the file is damaged: write it again",
                                 i + 1);
        literal[1] = literal[0] - first;
        literal[2] = literal[1] - second;
        status = define_gate(r, literal, (pbi_place){0, 0});
    }
    pbi_text_newline(r->words.text); /* all the bytes count as one line */
    return status;
}

/* i0 name, l0 name, o0 name: position in the list, and its name. */
static pb_status read_symbol(reader *r)
{
    pbi_words *w = &r->words;
    char kind = w->word.bytes[0];
    uint64_t position, label;
    if (!strchr("ilobc", kind) || !pbi_u64_parse(w->word.bytes + 1, w->word.length - 2, &position))
        return pbi_words_unexpected(w, "a symbol such as i0, l0 or o0, or c before the comment");
    header of = kind == 'i'   ? H_INPUTS
                : kind == 'l' ? H_LATCHES
                : kind == 'o' ? H_OUTPUTS
                : kind == 'b' ? H_BAD
                              : H_CONSTRAINTS;
    if (position >= r->head[of])
        return pbi_text_fail(w->text, w->place,
                             "there is no %.30s, because the header counts %" PRIu64 " of them; remove the name",
                             w->word.bytes, r->head[of]);
    pb_status status = pbi_words_rest(w);
    if (status == PB_OK)
        status = pbi_circuit_label(&r->circuit, w->word.bytes, pbi_words_text(w).length, &label);
    if (status != PB_OK || kind == 'b' || kind == 'c')
        return status;
    if (kind == 'o') {
        r->circuit.output[r->head[H_LATCHES] + position].label = label;
        return PB_OK;
    }
    uint32_t s, literal = kind == 'l' ? r->latches.item[position]
                          : r->binary ? (uint32_t)(2 * (position + 1))
                                      : r->inputs.item[position];
    status = find(r, literal, w->place, &s);
    if (status == PB_OK)
        r->circuit.signal[s].label = label;
    return status;
}

static pb_status read_symbols(reader *r)
{
    pb_status status = PB_OK;
    while (status == PB_OK && (status = pbi_words_next(&r->words)) == PB_OK) {
        if (r->words.kind == PBI_WORD_END || (r->words.kind == PBI_WORD && strcmp(r->words.word.bytes, "c") == 0))
            break;
        if (r->words.kind == PBI_WORD)
            status = read_symbol(r);
    }
    return status;
}

pb_status pbi_graph_aiger_read(pbi_text *text, pb_inputs inputs, pb_arena *scratch, pb_arena *result,
                               const pb_graph **out)
{
    reader r = {.ctx = text->ctx};
    pbi_words_init(&r.words, text, scratch, "", false, false);
    pb_status status = pbi_circuit_init(&r.circuit, text->ctx, scratch, inputs);
    if (status == PB_OK)
        status = read_header(&r);
    if (status == PB_OK)
        status = read_inputs(&r);
    if (status == PB_OK)
        status = read_latches(&r);
    if (status == PB_OK)
        status = read_outputs(&r, r.head[H_OUTPUTS] + r.head[H_BAD] + r.head[H_CONSTRAINTS]);
    if (status == PB_OK)
        status = r.binary ? read_gate_bytes(&r) : read_gates(&r);
    if (status == PB_OK)
        status = read_symbols(&r);
    return status == PB_OK ? pbi_circuit_freeze(&r.circuit, NULL, result, out) : status;
}
