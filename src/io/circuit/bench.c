/* bench.c -- reads circuits in the .bench form of the ISCAS benchmarks, and its table dialect.
 *
 *     INPUT(a)                    OUTPUT(z)
 *     z = NAND(a, b)              n7 = LUT 0x8e (n0, n3, n6)        n0 = gnd
 *
 * Gates may be used before they are defined. Only the inputs of a gate matter here, not its function; but a gate with a
 * single input is a wire, one without inputs is a constant, and a DFF is a cut.
 */
#include "base/context.h"
#include "io/circuit/circuit.h"
#include "io/circuit/circuit_scan.h"
#include "io/formats.h"

enum { MAX_ANY = 1 << 30, OPERATOR_BYTES = 16 };

typedef struct operator_rule {
    const char *name;
    uint32_t least, most;
} operator_rule;

static const operator_rule operators[] = {
    {"and", 1, MAX_ANY},  {"nand", 1, MAX_ANY}, {"or", 1, MAX_ANY},  {"nor", 1, MAX_ANY}, {"xor", 1, MAX_ANY},
    {"xnor", 1, MAX_ANY}, {"nxor", 1, MAX_ANY}, {"maj", 1, MAX_ANY}, {"not", 1, 1},       {"inv", 1, 1},
    {"buf", 1, 1},        {"buff", 1, 1},       {"mux", 3, 3},       {"ite", 3, 3},       {"lut", 0, MAX_ANY},
    {"dff", 1, 1},        {"gnd", 0, 0},        {"vdd", 0, 0},       {"vcc", 0, 0},       {"zero", 0, 0},
    {"one", 0, 0},        {"const0", 0, 0},     {"const1", 0, 0},    {"constant0", 0, 0}, {"constant1", 0, 0},
    {"0", 0, 0},          {"1", 0, 0},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

typedef struct reader {
    pb_context *ctx;
    pbi_words words;
    pbi_circuit circuit;
    pb_buffer held; /* a word that is not a gate, while the next token is read */
} reader;

static const operator_rule *find_operator(const char *name)
{
    for (size_t i = 0; i < OPERATORS; i++)
        if (strcmp(operators[i].name, name) == 0)
            return &operators[i];
    return NULL;
}

/* The rule for the current word: nand, NAND, and with a number of inputs NAND3. NULL if the word is not a gate. */
static const operator_rule *rule_of(const pbi_words *w)
{
    char name[OPERATOR_BYTES];
    size_t length = pbi_words_text(w).length;
    if (length >= sizeof name)
        return NULL;
    for (size_t i = 0; i <= length; i++) {
        char c = w->word.bytes[i];
        name[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    const operator_rule *rule = find_operator(name);
    while (!rule && length > 1 && name[length - 1] >= '0' && name[length - 1] <= '9') {
        name[--length] = '\0';
        rule = find_operator(name);
    }
    return rule;
}

static bool is_sign(const reader *r, char sign) { return r->words.sign == sign; }

/* The next token that is not a line end. */
static pb_status next_in_list(reader *r)
{
    pb_status status;
    do
        status = pbi_words_next(&r->words);
    while (status == PB_OK && r->words.kind == PBI_WORD_LINE);
    return status;
}

static pb_status signal_here(reader *r, uint32_t *out)
{
    pbi_slice name = pbi_words_text(&r->words);
    return pbi_circuit_signal(&r->circuit, name.bytes, name.length, r->words.place, out);
}

/* (a, b, c): the token is '('; ends after ')'. Each becomes an operand. Lists may span several lines. */
static pb_status read_operands(reader *r, size_t *count)
{
    *count = 0;
    pb_status status = next_in_list(r);
    while (status == PB_OK && !(is_sign(r, ')') && *count == 0)) {
        if (r->words.kind != PBI_WORD)
            return pbi_words_unexpected(&r->words, "the name of a signal");
        uint32_t s;
        status = signal_here(r, &s);
        if (status == PB_OK)
            status = pbi_circuit_operand(&r->circuit, s);
        ++*count;
        if (status == PB_OK)
            status = next_in_list(r);
        if (status != PB_OK || is_sign(r, ')'))
            break;
        if (!is_sign(r, ','))
            return pbi_words_unexpected(&r->words, "',' or ')'");
        status = next_in_list(r);
    }
    return status == PB_OK ? pbi_words_next(&r->words) : status;
}

/* INPUT(a) or OUTPUT(a): the token is '('. */
static pb_status read_port(reader *r, bool input)
{
    pbi_circuit *c = &r->circuit;
    pb_status status = next_in_list(r);
    if (status == PB_OK && r->words.kind != PBI_WORD)
        return pbi_words_unexpected(&r->words, "the name of a signal");
    uint32_t s;
    if (status == PB_OK)
        status = signal_here(r, &s);
    if (status == PB_OK)
        status = input ? pbi_circuit_define(c, s, PBI_SIGNAL_INPUT, r->words.place) : pbi_circuit_output_add(c, s);
    if (status == PB_OK)
        status = next_in_list(r);
    if (status == PB_OK && !is_sign(r, ')'))
        return pbi_words_unexpected(&r->words, "')'");
    return status == PB_OK ? pbi_words_next(&r->words) : status;
}

static bool at_line_end(const reader *r) { return r->words.kind == PBI_WORD_LINE || r->words.kind == PBI_WORD_END; }

/* a = vdd, or a = b: the word after '=' was the only one, and is in `held` if it is not a gate. */
static pb_status define_alone(reader *r, uint32_t lhs, pbi_place place, const operator_rule *rule, pbi_place word_place)
{
    pbi_circuit *c = &r->circuit;
    if (rule && rule->most == 0)
        return pbi_circuit_define(c, lhs, PBI_SIGNAL_CONSTANT, place);
    if (rule)
        return pbi_words_unexpected(&r->words, "'(' and the inputs of the gate");
    uint32_t other;
    pb_status status = pbi_circuit_signal(c, r->held.bytes, r->held.length - 1, word_place, &other);
    if (status == PB_OK)
        status = pbi_circuit_operand(c, other);
    return status == PB_OK ? pbi_circuit_define(c, lhs, PBI_SIGNAL_WIRE, place) : status;
}

static pb_status define_gate(reader *r, uint32_t lhs, pbi_place place, const operator_rule *rule, pbi_place rule_place)
{
    size_t count;
    pb_status status = read_operands(r, &count);
    if (status != PB_OK)
        return status;
    if (count < rule->least || count > rule->most)
        return pbi_text_fail(r->words.text, rule_place, "a gate %s takes %u input%s, not %zu; correct its list",
                             rule->name, count < rule->least ? rule->least : rule->most,
                             (count < rule->least ? rule->least : rule->most) == 1 ? "" : "s", count);
    if (strcmp(rule->name, "dff") == 0) {
        uint32_t next = r->circuit.operand[--r->circuit.operand_count];
        return pbi_circuit_latch(&r->circuit, lhs, next, place);
    }
    return pbi_circuit_define(&r->circuit, lhs, pbi_circuit_kind(count), place);
}

/* lhs = ...: the token is '='. */
static pb_status read_definition(reader *r, uint32_t lhs, pbi_place place)
{
    pbi_words *w = &r->words;
    pb_status status = pbi_words_next(w);
    if (status == PB_OK && w->kind != PBI_WORD)
        return pbi_words_unexpected(w, "a gate after '='");
    if (status != PB_OK)
        return status;
    const operator_rule *rule = rule_of(w);
    pbi_place word_place = w->place;
    r->held.length = 0;
    if (!rule && !pbi_bytes_add(&r->held, w->word.bytes, w->word.length))
        return PB_ENOMEM;
    status = pbi_words_next(w);
    if (status == PB_OK && rule && strcmp(rule->name, "lut") == 0 && w->kind == PBI_WORD) /* its table */
        status = pbi_words_next(w);
    if (status != PB_OK)
        return status;
    if (at_line_end(r))
        return define_alone(r, lhs, place, rule, word_place);
    if (!is_sign(r, '('))
        return pbi_words_unexpected(w, "'(' and the inputs of the gate");
    if (!rule)
        return pbi_text_fail(
            w->text, word_place,
            "there is no gate \"%.60s\"; known gates are AND, NAND, OR, NOR, XOR, XNOR, NOT, BUF, MUX, MAJ, "
            "LUT, DFF, VDD and GND",
            r->held.bytes);
    return define_gate(r, lhs, place, rule, word_place);
}

/* The token is the first word of a statement. */
static pb_status read_statement(reader *r)
{
    pbi_words *w = &r->words;
    if (w->kind != PBI_WORD)
        return pbi_words_unexpected(w, "INPUT(...), OUTPUT(...) or a gate");
    bool input = pbi_words_is(w, "input"), port = input || pbi_words_is(w, "output");
    char held[sizeof "output"] = "";
    uint32_t lhs;
    pbi_place place = w->place;
    pb_status status = PB_OK;
    if (port)
        memcpy(held, w->word.bytes, w->word.length);
    else
        status = signal_here(r, &lhs);
    if (status == PB_OK)
        status = pbi_words_next(w);
    if (status == PB_OK && port && is_sign(r, '('))
        return read_port(r, input);
    if (status == PB_OK && port) /* a gate with this name */
        status = pbi_circuit_signal(&r->circuit, held, strlen(held), place, &lhs);
    if (status == PB_OK && !is_sign(r, '='))
        return pbi_words_unexpected(w, port ? "'(' behind INPUT or OUTPUT" : "'=' after the name of a gate");
    return status == PB_OK ? read_definition(r, lhs, place) : status;
}

static pb_status read_all(reader *r)
{
    pb_status status = pbi_words_next(&r->words);
    while (status == PB_OK && r->words.kind != PBI_WORD_END)
        status = r->words.kind == PBI_WORD_LINE ? pbi_words_next(&r->words) : read_statement(r);
    return status;
}

pb_status pbi_graph_bench_read(pbi_text *text, pb_inputs inputs, pb_arena *scratch, pb_arena *result,
                               const pb_graph **out)
{
    reader r = {.ctx = text->ctx};
    pbi_words_init(&r.words, text, scratch, "(),=", false, true);
    pb_buffer_init(&r.held, scratch);
    pb_status status = pbi_circuit_init(&r.circuit, text->ctx, scratch, inputs);
    if (status == PB_OK)
        status = read_all(&r);
    return status == PB_OK ? pbi_circuit_freeze(&r.circuit, NULL, result, out) : status;
}
