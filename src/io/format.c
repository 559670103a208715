/* format.c -- the names of formats, and recognition of a file's format. */
#include "base/context.h"
#include "io/formats.h"

#include <inttypes.h>

static const char *const names[] = {"auto", "json", "dot", "csv", "binary", "bench", "blif", "aiger", "onnx"};
enum { FORMATS = sizeof names / sizeof *names };

const char *pb_format_name(pb_format format) { return (unsigned)format < FORMATS ? names[format] : "unknown"; }

bool pb_format_parse(const char *name, pb_format *out)
{
    for (unsigned i = 0; i < FORMATS; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (pb_format)i;
            return true;
        }
    return false;
}

static const char *const inputs_names[] = {"auto", "free", "given", "computed"};
enum { INPUTS = sizeof inputs_names / sizeof *inputs_names };

const char *pb_inputs_name(pb_inputs inputs) { return (unsigned)inputs < INPUTS ? inputs_names[inputs] : "unknown"; }

bool pb_inputs_parse(const char *name, pb_inputs *out)
{
    for (unsigned i = 0; i < INPUTS; i++)
        if (strcmp(name, inputs_names[i]) == 0) {
            *out = (pb_inputs)i;
            return true;
        }
    return false;
}

/* Whether `path` ends with `ending`, ignoring case. `ending` is lower case. */
static bool ends_with(const char *path, const char *ending)
{
    size_t have = strlen(path), need = strlen(ending);
    if (have < need)
        return false;
    for (size_t i = 0; i < need; i++) {
        char c = path[have - need + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != ending[i])
            return false;
    }
    return true;
}

pb_format pb_format_of_path(const char *path)
{
    static const struct {
        const char *ending;
        pb_format format;
    } endings[] = {{".json", PB_FORMAT_JSON}, {".dot", PB_FORMAT_DOT},    {".gv", PB_FORMAT_DOT},
                   {".csv", PB_FORMAT_CSV},   {".pbs", PB_FORMAT_BINARY}, {".bench", PB_FORMAT_BENCH},
                   {".blif", PB_FORMAT_BLIF}, {".aag", PB_FORMAT_AIGER},  {".aig", PB_FORMAT_AIGER},
                   {".onnx", PB_FORMAT_ONNX}};
    for (size_t i = 0; path && i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, endings[i].ending))
            return endings[i].format;
    return PB_FORMAT_AUTO;
}

/* The first byte that is neither white space nor inside a comment of DOT or CSV; the end if the buffer has none. */
static const char *first_word(const pbi_text *text)
{
    const char *c = text->at, *end = text->end;
    for (;;) {
        while (c < end && (*c == ' ' || *c == '\t' || *c == '\r' || *c == '\n'))
            c++;
        bool slashes = end - c >= 2 && c[0] == '/' && c[1] == '/', block = end - c >= 2 && c[0] == '/' && c[1] == '*';
        if (c < end && (*c == '#' || slashes)) {
            while (c < end && *c != '\n')
                c++;
        } else if (block) {
            for (c += 2; c < end && (c[0] != '*' || c[1] != '/');)
                c++;
            c += end - c >= 2 ? 2 : end - c;
        } else {
            return c;
        }
    }
}

/* Whether the word at `c` is this one, ignoring case, followed by a byte that may follow it in DOT. */
static bool is_word(const char *c, const char *end, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - c) < length)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((c[i] >= 'A' && c[i] <= 'Z' ? c[i] - 'A' + 'a' : c[i]) != word[i])
            return false;
    const char *after = c + length;
    return after == end || strchr(" \t\r\n{\"/", *after) != NULL;
}

static const char *past_blanks(const char *c, const char *end)
{
    while (c < end && (*c == ' ' || *c == '\t'))
        c++;
    return c;
}

/* The end of the bytes from c on that can be a name in .bench. */
static const char *past_name(const char *c, const char *end)
{
    while (c < end && !strchr(" \t\r\n(),=#\"", *c))
        c++;
    return c;
}

/* INPUT(a), OUTPUT(a), or a = GATE( and a = LUT 0x8 (. */
static bool looks_like_bench(const char *c, const char *end)
{
    const char *name = past_name(c, end), *after = past_blanks(name, end);
    if (name == c || after == end)
        return false;
    if (*after == '(')
        return is_word(c, name, "input") || is_word(c, name, "output");
    if (*after != '=')
        return false;
    const char *gate = past_blanks(after + 1, end), *behind = past_name(gate, end);
    bool table = is_word(gate, behind, "lut");
    after = past_blanks(behind, end);
    if (table)
        after = past_blanks(past_name(after, end), end);
    return behind > gate && after < end && *after == '(';
}

/* A BLIF keyword with which a file can start. */
static bool looks_like_blif(const char *c, const char *end)
{
    return is_word(c, end, ".model") || is_word(c, end, ".inputs") || is_word(c, end, ".outputs") ||
           is_word(c, end, ".names");
}

/* aag or aig and a number. */
static bool looks_like_aiger(const char *c, const char *end)
{
    return end - c > 4 && (memcmp(c, "aag ", 4) == 0 || memcmp(c, "aig ", 4) == 0) && c[4] >= '0' && c[4] <= '9';
}

/* A model starts with its version, a small number, followed by the producer, the opsets or the graph. */
static bool looks_like_onnx(const char *c, const char *end)
{
    return end - c >= 3 && c[0] == 0x08 && c[1] > 0 && c[1] < 64 && strchr("\x12\x1a\x22\x28\x32\x3a\x42", c[2]) &&
           c[2];
}

/* The format if the content determines it; else PB_FORMAT_AUTO. */
static pb_format sniff(const pbi_text *text)
{
    const char *c = first_word(text), *end = text->end;
    if (end - text->at >= PBI_BINARY_MAGIC_BYTES && memcmp(text->at, PBI_BINARY_MAGIC, PBI_BINARY_MAGIC_BYTES) == 0)
        return PB_FORMAT_BINARY;
    if (looks_like_onnx(text->at, end))
        return PB_FORMAT_ONNX;
    if (c < end && (*c == '{' || *c == '['))
        return PB_FORMAT_JSON;
    if (is_word(c, end, "digraph") || is_word(c, end, "strict") || is_word(c, end, "graph"))
        return PB_FORMAT_DOT;
    if (looks_like_aiger(text->at, end))
        return PB_FORMAT_AIGER;
    return looks_like_blif(c, end) ? PB_FORMAT_BLIF : looks_like_bench(c, end) ? PB_FORMAT_BENCH : PB_FORMAT_AUTO;
}

/* Edge lists have no mark: a comma in the first line is enough if nothing else is known. */
static bool looks_like_csv(const pbi_text *text)
{
    const char *c = first_word(text);
    while (c < text->end && *c != '\n' && *c != ',')
        c++;
    return c < text->end && *c == ',';
}

static pb_status read_graph_as(pbi_text *text, pb_format format, const pb_read_options *options, pb_arena *scratch,
                               pb_arena *result, const pb_graph **out)
{
    pb_inputs inputs = options->inputs;
    switch (format) {
    case PB_FORMAT_JSON: return pbi_graph_json_read(text, scratch, result, out);
    case PB_FORMAT_DOT: return pbi_graph_dot_read(text, scratch, result, out);
    case PB_FORMAT_CSV: return pbi_graph_csv_read(text, scratch, result, out);
    case PB_FORMAT_BENCH: return pbi_graph_bench_read(text, inputs, scratch, result, out);
    case PB_FORMAT_BLIF: return pbi_graph_blif_read(text, inputs, scratch, result, out);
    case PB_FORMAT_AIGER: return pbi_graph_aiger_read(text, inputs, scratch, result, out);
    case PB_FORMAT_ONNX: return pbi_graph_onnx_read(text, options, scratch, result, out);
    case PB_FORMAT_BINARY:
        return pbi_fail_at(text->ctx, PB_EFORMAT, 1, 1, "this is a binary schedule, not a graph; pass the graph file");
    case PB_FORMAT_AUTO: break;
    }
    return pbi_fail_at(text->ctx, PB_EFORMAT, 1, 1,
                       text->at == text->end ? "the file is empty; expected a graph"
                                             : "the format is not recognized; expected a graph in JSON, DOT or CSV, a "
                                               "circuit in .bench, BLIF or AIGER, or an ONNX model");
}

static bool is_circuit(pb_format format)
{
    return format == PB_FORMAT_BENCH || format == PB_FORMAT_BLIF || format == PB_FORMAT_AIGER;
}

/* Sizes and training are options for models: warns if they are given for another file. */
static void note_model_options(pb_context *ctx, pb_format format, const pb_read_options *options)
{
    if (ctx->log && format != PB_FORMAT_ONNX && (options->train || options->batch || options->dim_count))
        ctx->log(ctx->callback_state, "the file is not an ONNX model, so the options for dimensions, batch and "
                                      "training have no effect; leave them out");
}

/* The options that change the graph, as words from which options of the command can be made. */
static pb_status note_reading(pb_context *ctx, const pb_read_options *o, bool model, pb_arena *result,
                              const pb_graph **g)
{
    pb_buffer text;
    pbi_out out;
    pb_buffer_init(&text, result);
    pbi_out_init(&out, ctx, pb_sink_buffer(&text));
    if (o->inputs != PB_INPUTS_AUTO)
        pbi_out_format(&out, " inputs=%s", pb_inputs_name(o->inputs));
    if (model && o->train)
        pbi_out_text(&out, " train");
    if (model && o->batch)
        pbi_out_format(&out, " batch=%" PRIu64, o->batch);
    for (uint32_t i = 0; model && i < o->dim_count; i++)
        pbi_out_format(&out, " dim=%.60s=%.24s", o->dims[i].key, o->dims[i].value);
    if (model && o->optimizer)
        pbi_out_format(&out, " optimizer=%.20s", o->optimizer);
    if (model && o->grads)
        pbi_out_format(&out, " grads=%.20s", o->grads);
    if (model && o->attention)
        pbi_out_format(&out, " attention=%.20s", o->attention);
    pb_status status = pbi_out_finish(&out);
    if (status != PB_OK || !text.length)
        return status;
    pb_graph *copy = pb_arena_alloc(result, 1, sizeof *copy);
    if (!copy)
        return PB_ENOMEM;
    *copy = **g;
    copy->read_with = text.bytes + 1;
    *g = copy;
    return PB_OK;
}

pb_status pb_graph_read_with(pb_context *ctx, pb_source source, const pb_read_options *options, pb_arena *result,
                             const pb_graph **out)
{
    pb_format format = options->format;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_text text;
    pb_status status = pbi_text_init(&text, ctx, source, &scratch);
    if (status == PB_OK && format == PB_FORMAT_AUTO) {
        pbi_text_ensure(&text, PBI_TEXT_AHEAD);
        format = sniff(&text);
        if (format == PB_FORMAT_AUTO)
            format = pb_format_of_path(options->path);
        if (format == PB_FORMAT_AUTO && looks_like_csv(&text))
            format = PB_FORMAT_CSV;
    }
    bool turned = options->inputs != PB_INPUTS_AUTO && !is_circuit(format);
    const pb_graph *g;
    if (status == PB_OK)
        status = read_graph_as(&text, format, options, &scratch, result, &g);
    if (status == PB_OK && turned)
        status = pbi_graph_turn_inputs(ctx, g, options->inputs, result, &g);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        status = note_reading(ctx, options, format == PB_FORMAT_ONNX, result, &g);
    if (status == PB_OK)
        note_model_options(ctx, format, options);
    if (status == PB_OK)
        *out = g;
    return status;
}

pb_status pb_graph_read(pb_context *ctx, pb_source source, pb_format format, const char *path, pb_arena *result,
                        const pb_graph **out)
{
    return pb_graph_read_with(ctx, source, &(pb_read_options){.format = format, .path = path}, result, out);
}

pb_status pb_graph_write(pb_context *ctx, const pb_graph *g, pb_format format, pb_sink sink)
{
    g = g->unpriced ? g->unpriced : g;
    switch (format) {
    case PB_FORMAT_JSON: return pbi_graph_json_write(ctx, g, sink);
    case PB_FORMAT_DOT: return pbi_graph_dot_write(ctx, g, sink);
    case PB_FORMAT_CSV: return pbi_graph_csv_write(ctx, g, sink);
    case PB_FORMAT_AUTO:
    case PB_FORMAT_BINARY:
    case PB_FORMAT_BENCH:
    case PB_FORMAT_BLIF:
    case PB_FORMAT_AIGER:
    case PB_FORMAT_ONNX: break;
    }
    return pbi_fail(ctx, PB_EINVAL, "cannot write a graph as %s; choose json, dot or csv", pb_format_name(format));
}

pb_status pb_schedule_read(pb_context *ctx, pb_source source, pb_format format, const pb_graph *g, pb_arena *result,
                           pb_schedule *out)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_text text;
    pb_status status = pbi_text_init(&text, ctx, source, &scratch);
    if (status == PB_OK && format == PB_FORMAT_AUTO)
        format = sniff(&text) == PB_FORMAT_BINARY ? PB_FORMAT_BINARY : PB_FORMAT_JSON;
    if (status == PB_OK && format == PB_FORMAT_JSON)
        status = pbi_schedule_json_read(&text, &scratch, g, true, result, out);
    else if (status == PB_OK && format == PB_FORMAT_BINARY)
        status = pbi_schedule_binary_read(&text, &scratch, g, result, out);
    else if (status == PB_OK)
        status =
            pbi_fail(ctx, PB_EINVAL, "cannot read a schedule as %s; choose json or binary", pb_format_name(format));
    pb_arena_release(&scratch);
    return status;
}

pb_status pb_schedule_write(pb_context *ctx, const pb_schedule *s, pb_format format, pb_sink sink)
{
    if (format == PB_FORMAT_JSON)
        return pbi_schedule_json_write(ctx, s, sink);
    if (format == PB_FORMAT_BINARY)
        return pbi_schedule_binary_write(ctx, s, sink);
    return pbi_fail(ctx, PB_EINVAL, "cannot write a schedule as %s; choose json or binary", pb_format_name(format));
}
