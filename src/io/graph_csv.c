/* graph_csv.c -- graphs as comma-separated records (RFC 4180).
 *
 * Two fields are an edge. Longer records start with a word: `edge,from,to`, `node,name,cost,size,key=value,...` or
 * `graph,key,value`. docs/formats.md has the details.
 */
#include "base/arena.h"
#include "base/context.h"
#include "io/formats.h"
#include "io/node_table.h"

#include <inttypes.h>

typedef struct field {
    size_t at, length; /* in reader.record */
    bool quoted;
    pbi_place place;
} field;

typedef struct reader {
    pb_context *ctx;
    pbi_text *text;
    pb_arena *scratch;
    pbi_node_table table;
    pb_buffer record;
    field *fields;
    size_t count, room;
    bool any; /* a record was read: a header is no longer possible */
} reader;

static pb_status fail(reader *r, pbi_place place, const char *message)
{
    return pbi_text_fail(r->text, place, "%s", message);
}

static unsigned char peek_byte(pbi_text *text, bool *ended)
{
    if (text->at == text->end)
        pbi_text_more(text);
    *ended = text->at == text->end;
    return (unsigned char)*text->at;
}

/* Takes one character into the record. */
static pb_status take_char(reader *r)
{
    pbi_text *text = r->text;
    unsigned char c = (unsigned char)*text->at;
    size_t length = 1;
    if (c >= 0x80) {
        pbi_text_ensure(text, 4);
        length = pbi_text_wide(text);
        if (!length)
            return pbi_text_fail(text, pbi_text_place(text),
                                 "the bytes starting with 0x%02x are not UTF-8; save the file as UTF-8", c);
    } else {
        if (c == '\0')
            return fail(r, pbi_text_place(text), "the file contains a NUL character; remove it");
        text->at++;
        if (c == '\n')
            pbi_text_newline(text);
    }
    return pbi_bytes_add(&r->record, text->at - length, length) ? PB_OK : PB_ENOMEM;
}

static void skip_blanks(pbi_text *text)
{
    bool ended;
    for (unsigned char c = peek_byte(text, &ended); c == ' ' || c == '\t' || c == '\r'; c = peek_byte(text, &ended))
        text->at++;
}

static pb_status take_quoted(reader *r, pbi_place place)
{
    pbi_text *text = r->text;
    text->at++;
    for (;;) {
        pbi_text_ensure(text, 2);
        const char *c = text->at;
        if (c == text->end)
            return fail(r, place, "this quoted field is never closed; end it with a quotation mark");
        if (*c == '"' && c[1] != '"') {
            text->at++;
            skip_blanks(text);
            bool ended;
            unsigned char after = peek_byte(text, &ended);
            if (!ended && after != ',' && after != '\n')
                return fail(r, pbi_text_place(text), "a quoted field must be followed by ',' or the end of the line");
            return PB_OK;
        }
        text->at += *c == '"';
        pb_status status = take_char(r);
        if (status != PB_OK)
            return status;
    }
}

static pb_status take_bare(reader *r, size_t at)
{
    bool ended;
    unsigned char c;
    pb_status status = PB_OK;
    while (status == PB_OK && (c = peek_byte(r->text, &ended)) != ',' && c != '\n' && !ended) {
        if (c == '"')
            return fail(r, pbi_text_place(r->text),
                        "a field that contains a quotation mark must be in quotes as a whole");
        status = take_char(r);
    }
    while (r->record.length > at && strchr(" \t\r", r->record.bytes[r->record.length - 1]))
        r->record.length--;
    return status;
}

/* Reads one line, or several if quoted fields contain line ends. */
static pb_status take_record(reader *r)
{
    pbi_text *text = r->text;
    r->record.length = 0;
    r->count = 0;
    for (;;) {
        bool ended;
        skip_blanks(text);
        void *items = r->fields;
        if (!pbi_arena_reserve(r->scratch, &items, &r->room, r->count + 1, sizeof *r->fields))
            return PB_ENOMEM;
        r->fields = items;
        field *f = &r->fields[r->count++];
        *f = (field){.at = r->record.length, .quoted = peek_byte(text, &ended) == '"', .place = pbi_text_place(text)};
        pb_status status = f->quoted ? take_quoted(r, f->place) : take_bare(r, f->at);
        f->length = r->record.length - f->at;
        if (status == PB_OK && !pbi_bytes_add(&r->record, "", 1))
            return PB_ENOMEM;
        if (status != PB_OK)
            return status;
        unsigned char c = peek_byte(text, &ended);
        if (ended)
            return text->status;
        text->at++;
        if (c == '\n') {
            pbi_text_newline(text);
            return PB_OK;
        }
    }
}

/* Skips empty lines and comments; *more false at the end. */
static pb_status skip_to_record(reader *r, bool *more)
{
    pbi_text *text = r->text;
    for (;;) {
        bool ended;
        skip_blanks(text);
        unsigned char c = peek_byte(text, &ended);
        *more = !ended;
        if (ended)
            return text->status;
        if (c != '#' && c != '\n')
            return PB_OK;
        r->record.length = 0;
        while (c != '\n' && !ended) {
            pb_status status = take_char(r);
            if (status != PB_OK)
                return status;
            c = peek_byte(text, &ended);
        }
        if (!ended) {
            text->at++;
            pbi_text_newline(text);
        }
    }
}

static pbi_slice text_of(const reader *r, size_t i)
{
    return (pbi_slice){r->record.bytes + r->fields[i].at, r->fields[i].length};
}

static bool is(const reader *r, size_t i, const char *word)
{
    pbi_slice text = text_of(r, i);
    size_t length = strlen(word);
    bool same = text.length == length;
    for (size_t k = 0; k < length && same; k++) {
        char c = text.bytes[k];
        same = (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == word[k];
    }
    return same;
}

static pb_status node_of(reader *r, size_t i, pb_node *out)
{
    pbi_slice name = text_of(r, i);
    if (!name.length && !r->fields[i].quoted)
        return fail(r, r->fields[i].place, "the name of a node is missing here; add it");
    return pbi_node_table_get(&r->table, name.bytes, name.length, &PBI_NODE_STANDARD, r->fields[i].place, out);
}

static pb_status read_edge(reader *r, size_t first)
{
    pb_node from, to;
    pb_status status = node_of(r, first, &from);
    if (status == PB_OK)
        status = node_of(r, first + 1, &to);
    if (status != PB_OK)
        return status;
    if (from == to)
        return pbi_fail_at(r->ctx, PB_EGRAPH, r->fields[first].place.line, r->fields[first].place.column,
                           "an edge leads from node \"%.80s\" to itself; remove it", text_of(r, first).bytes);
    return pb_builder_add_edge(r->table.builder, from, to);
}

static pb_status read_node(reader *r)
{
    pb_node v;
    pb_status status = node_of(r, 1, &v);
    if (status != PB_OK)
        return status;
    if (r->table.row[v].described)
        return pbi_fail_at(r->ctx, PB_EGRAPH, r->fields[1].place.line, r->fields[1].place.column,
                           "node \"%.80s\" is described twice; remove one line", text_of(r, 1).bytes);
    pbi_node_row row = r->table.row[v];
    row.described = true;
    for (size_t i = 2; i < r->count && status == PB_OK; i++) {
        pbi_slice value = text_of(r, i), key = {i == 2 ? "cost" : "size", 4};
        if (i < 4 && !value.length)
            continue; /* omitted: the default */
        if (i >= 4) {
            const char *sign = memchr(value.bytes, '=', value.length);
            if (!sign)
                return fail(r, r->fields[i].place, "expected key=value after the size of a node");
            key = (pbi_slice){value.bytes, (size_t)(sign - value.bytes)};
            value = (pbi_slice){sign + 1, value.length - key.length - 1};
        }
        bool known;
        status = pbi_node_table_set(&r->table, &row, key, value, r->fields[i].place, &known);
        if (status == PB_OK && !known)
            return fail(r, r->fields[i].place, "a node has no such field; docs/formats.md lists them");
    }
    r->table.row[v] = row;
    return status;
}

static pb_status read_record(reader *r)
{
    bool header = !r->any && r->count == 2 &&
                  ((is(r, 0, "from") && is(r, 1, "to")) || (is(r, 0, "source") && is(r, 1, "target")));
    r->any = true;
    if (header)
        return PB_OK;
    if (r->count == 2)
        return read_edge(r, 0);
    if (r->count == 3 && is(r, 0, "edge"))
        return read_edge(r, 1);
    if (r->count >= 3 && is(r, 0, "node"))
        return read_node(r);
    if (r->count != 3 || !is(r, 0, "graph"))
        return fail(r, r->fields[0].place,
                    "expected an edge (from,to), or a record that begins with edge, node or graph");
    bool known;
    pb_status status = pbi_node_table_set_graph(&r->table, text_of(r, 1), text_of(r, 2), r->fields[2].place, &known);
    return status == PB_OK && !known
               ? fail(r, r->fields[1].place, "a graph has no such field; docs/formats.md lists them")
               : status;
}

static pb_status read_all(reader *r)
{
    bool more;
    pb_status status;
    while ((status = skip_to_record(r, &more)) == PB_OK && more) {
        status = take_record(r);
        if (status == PB_OK)
            status = read_record(r);
        if (status != PB_OK)
            return status;
    }
    return status;
}

pb_status pbi_graph_csv_read(pbi_text *text, pb_arena *scratch, pb_arena *result, const pb_graph **out)
{
    reader r = {.ctx = text->ctx, .text = text, .scratch = scratch};
    pb_buffer_init(&r.record, scratch);
    pb_status status = pbi_node_table_init(&r.table, text->ctx, scratch);
    if (status != PB_OK)
        return status;
    status = read_all(&r);
    if (status == PB_OK)
        status = pbi_node_table_freeze(&r.table, result, out);
    pbi_node_table_release(&r.table);
    return status;
}
