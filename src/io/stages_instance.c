/* stages_instance.c -- instances of pipelines as parameters of the family `stages`: JSON, or a table.
 *
 * JSON is one instance, or an object whose `instances` are several with names. A table has a line for each part of the
 * model, below a line with the names of its columns. Values are passed on as text: the family checks them.
 */
#include "base/context.h"
#include "io/json_read.h"
#include "pebble/io.h"

#include <stdlib.h>

enum { MAX_LINE = 2000, MAX_ROWS = 20000 };

/* A field of an instance, and the family's parameter. */
static const struct {
    const char *field, *key;
    bool column; /* a list by part, which a table may have */
} fields[] = {
    {"stages", "stages", false},
    {"micro_batches", "micro-batches", false},
    {"f", "forward", true},
    {"b", "backward", true},
    {"w", "weight", true},
    {"transfer", "transfer", true},
    {"memory", "memory", true},
    {"memory_b", "memory-b", true},
    {"recompute", "recompute", false},
    {"boundary", "boundary", true},
    {"chunks", "chunks", false},
    {"placement", "placement", false},
    {"fixed", "fixed", true},
    {"cap", "cap", true},
};
enum { FIELDS = sizeof fields / sizeof *fields };
_Static_assert(FIELDS <= PB_STAGES_OPTIONS, "raise PB_STAGES_OPTIONS");

typedef struct reader {
    pb_context *ctx;
    pb_arena *result, *scratch;
    pbi_json json;
    const char *name; /* of the instance; NULL: the only one */
    const char *value[FIELDS];
    uint32_t instances, found;
    char names[200]; /* of all of them, for the message */
} reader;

static uint32_t field_of(const char *text, size_t length)
{
    uint32_t i = 0;
    while (i < FIELDS && (strlen(fields[i].field) != length || memcmp(fields[i].field, text, length) != 0))
        i++;
    return i;
}

/* ---- JSON ---- */

static pb_status add_scalar(reader *r, pb_buffer *into, uint32_t field)
{
    pbi_json_kind kind;
    pbi_slice text = {NULL, 0};
    pb_status status = pbi_json_peek(&r->json, &kind);
    if (status != PB_OK)
        return status;
    if (kind == PBI_JSON_TRUE || kind == PBI_JSON_FALSE) {
        status = pbi_json_word(&r->json, kind);
        text = kind == PBI_JSON_TRUE ? (pbi_slice){"yes", 3} : (pbi_slice){"no", 2};
    } else if (kind == PBI_JSON_NUMBER) {
        status = pbi_json_number(&r->json, &text);
    } else if (kind == PBI_JSON_STRING) {
        status = pbi_json_string(&r->json, &text);
    } else {
        return pbi_field_fail(&r->json, (pbi_field){fields[field].field, NULL, 0},
                              "must be a number or a list of numbers, not %s", pbi_json_kind_name(kind));
    }
    return status != PB_OK ? status : pbi_bytes_add(into, text.bytes, text.length) ? PB_OK : PB_ENOMEM;
}

static pb_status read_value(reader *r, uint32_t field, const char **out)
{
    pb_buffer text;
    pbi_json_kind kind;
    bool more = true;
    pb_buffer_init(&text, r->result);
    pb_status status = pbi_json_peek(&r->json, &kind);
    if (status == PB_OK && kind != PBI_JSON_ARRAY) {
        status = add_scalar(r, &text, field);
    } else if (status == PB_OK) {
        status = pbi_json_enter(&r->json, kind);
        for (bool first = true; status == PB_OK; first = false) {
            status = pbi_json_item(&r->json, &more);
            if (status != PB_OK || !more)
                break;
            if (!first && !pbi_bytes_add(&text, ",", 1))
                return PB_ENOMEM;
            status = add_scalar(r, &text, field);
        }
    }
    if (status == PB_OK && !pbi_bytes_add(&text, "", 1))
        return PB_ENOMEM;
    *out = text.bytes;
    return status;
}

static void note_name(reader *r, const char *name)
{
    size_t used = strlen(r->names), length = strlen(name);
    if (used + length + 3 >= sizeof r->names)
        return;
    memcpy(r->names + used, ", ", 2);
    memcpy(r->names + used + (used ? 2 : 0), name, length + 1);
}

static pb_status read_instances(reader *r);

/* An object: one instance, or the list of them. */
static pb_status read_object(reader *r, bool top)
{
    const char *value[FIELDS] = {NULL}, *name = NULL;
    bool more, list = false, any = false;
    pbi_slice key;
    pb_status status = pbi_read_kind(&r->json, (pbi_field){"instance", NULL, 0}, PBI_JSON_OBJECT);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_OBJECT);
    while (status == PB_OK && (status = pbi_json_member(&r->json, &key, &more)) == PB_OK && more) {
        uint32_t field = field_of(key.bytes, key.length);
        if (field < FIELDS) {
            any = true;
            status = read_value(r, field, &value[field]);
        } else if (key.length == 4 && memcmp(key.bytes, "name", 4) == 0) {
            status = pbi_read_copy(&r->json, (pbi_field){"name", NULL, 0}, r->result, &name);
        } else if (top && key.length == 9 && memcmp(key.bytes, "instances", 9) == 0) {
            list = true;
            status = read_instances(r);
        } else {
            status = pbi_json_skip(&r->json);
        }
    }
    if (status != PB_OK || list || (top && !any))
        return status;
    r->instances++;
    note_name(r, name ? name : "(no name)");
    if (!r->name || (name && strcmp(name, r->name) == 0)) {
        r->found++;
        memcpy(r->value, value, sizeof value);
    }
    return PB_OK;
}

static pb_status read_instances(reader *r)
{
    bool more;
    pb_status status = pbi_read_kind(&r->json, (pbi_field){"instances", NULL, 0}, PBI_JSON_ARRAY);
    if (status == PB_OK)
        status = pbi_json_enter(&r->json, PBI_JSON_ARRAY);
    while (status == PB_OK && (status = pbi_json_item(&r->json, &more)) == PB_OK && more)
        status = read_object(r, false);
    return status;
}

static pb_status read_json(reader *r, pbi_text *text)
{
    pbi_json_init(&r->json, text, r->scratch);
    pb_status status = read_object(r, true);
    if (status == PB_OK)
        status = pbi_json_end(&r->json);
    if (status != PB_OK)
        return status;
    if (!r->instances)
        return pbi_fail(r->ctx, PB_EFORMAT,
                        "the file has no instance; it needs fields such as stages, f, b, w and memory");
    if (r->name && r->found != 1)
        return pbi_fail(r->ctx, PB_EUNKNOWN, "the file has %s instance '%.60s'; it has %s",
                        r->found ? "more than one" : "no", r->name, r->names);
    if (r->found != 1)
        return pbi_fail(r->ctx, PB_EUNKNOWN, "the file has %u instances; choose one by name: %s",
                        (unsigned)r->instances, r->names);
    return PB_OK;
}

/* ---- tables ---- */

/* The next line without its end; false at the end of the file. */
static bool take_line(pbi_text *text, char line[MAX_LINE + 1])
{
    size_t length = 0;
    pbi_text_ensure(text, 1);
    if (text->at == text->end)
        return false;
    for (pbi_text_ensure(text, 1); text->at != text->end; pbi_text_ensure(text, 1)) {
        char c = *text->at++;
        if (c == '\n') {
            pbi_text_newline(text);
            break;
        }
        if (length < MAX_LINE && c != '\r' && c != ' ' && c != '\t' && c != '"')
            line[length++] = c;
    }
    line[length] = '\0';
    return true;
}

static char *next_cell(char **at)
{
    char *cell = *at;
    if (!cell)
        return NULL;
    char *comma = strchr(cell, ',');
    if (comma)
        *comma = '\0';
    *at = comma ? comma + 1 : NULL;
    return cell;
}

/* A measured value, rounded to a whole number. */
static pb_status add_cell(reader *r, pbi_text *text, pbi_place place, const char *cell, pb_buffer *into)
{
    char *end, number[32];
    double value = strtod(cell, &end);
    bool digit = (*cell >= '0' && *cell <= '9') || *cell == '.';
    if (!digit || *end || !(value < 1e15))
        return pbi_text_fail(text, place, "\"%.40s\" is not a number from 0 to 10^15; correct it", cell);
    uint64_t whole = (uint64_t)(value + 0.5);
    int at = 31;
    number[at] = '\0';
    do
        number[--at] = (char)('0' + whole % 10);
    while (whole /= 10);
    (void)r;
    bool first = into->length == 0;
    return (first || pbi_bytes_add(into, ",", 1)) && pbi_bytes_add(into, number + at, strlen(number + at)) ? PB_OK
                                                                                                           : PB_ENOMEM;
}

static pb_status read_columns(reader *r, pbi_text *text, char *line, uint32_t column[FIELDS + 8], uint32_t *count)
{
    pbi_place place = pbi_text_place(text);
    bool known = false;
    *count = 0;
    for (char *at = line, *cell; (cell = next_cell(&at)) && *count < FIELDS + 8;) {
        uint32_t field = field_of(cell, strlen(cell));
        bool label = strcmp(cell, "stage") == 0 || strcmp(cell, "part") == 0 || strcmp(cell, "name") == 0;
        if (!label && (field == FIELDS || !fields[field].column))
            return pbi_text_fail(text, place,
                                 "unknown column \"%.40s\"; a table has f, b, w, memory, memory_b, transfer, "
                                 "boundary, fixed and cap, and perhaps stage",
                                 cell);
        known |= !label;
        column[(*count)++] = field;
    }
    (void)r;
    return known ? PB_OK : pbi_text_fail(text, place, "the first line must name the columns, as in stage,f,b,w,memory");
}

static pb_status read_table(reader *r, pbi_text *text)
{
    char line[MAX_LINE + 1];
    uint32_t column[FIELDS + 8], count = 0;
    pb_buffer values[FIELDS];
    uint64_t rows = 0;
    for (int i = 0; i < FIELDS; i++)
        pb_buffer_init(&values[i], r->scratch);
    pb_status status = PB_OK;
    while (status == PB_OK && take_line(text, line)) {
        pbi_place place = pbi_text_place(text);
        if (!*line || *line == '#')
            continue;
        if (!count) {
            status = read_columns(r, text, line, column, &count);
            continue;
        }
        uint32_t cells = 0;
        for (char *at = line, *cell; status == PB_OK && (cell = next_cell(&at)); cells++)
            if (cells < count && column[cells] < FIELDS)
                status = add_cell(r, text, place, cell, &values[column[cells]]);
        if (status == PB_OK && (cells != count || ++rows > MAX_ROWS))
            return pbi_text_fail(text, place, "expected %u fields, as in the first line, not %u", (unsigned)count,
                                 (unsigned)cells);
    }
    if (status == PB_OK && !rows)
        return pbi_fail(r->ctx, PB_EFORMAT, "the table has no line with values; write one for each part of the model");
    for (int i = 0; i < FIELDS && status == PB_OK; i++) {
        bool pairs = strcmp(fields[i].key, "transfer") == 0 || strcmp(fields[i].key, "boundary") == 0;
        char *last = pairs && values[i].length ? strrchr(values[i].bytes, ',') : NULL;
        if (values[i].length && (!pairs || last))
            r->value[i] =
                pb_arena_text(r->result, values[i].bytes, last ? (size_t)(last - values[i].bytes) : values[i].length);
    }
    char number[24];
    int at = 23;
    number[at] = '\0';
    do
        number[--at] = (char)('0' + rows % 10);
    while (rows /= 10);
    r->value[0] = pb_arena_text(r->result, number + at, strlen(number + at));
    return status == PB_OK && !r->value[0] ? PB_ENOMEM : status;
}

pb_status pb_stages_read(pb_context *ctx, pb_source source, const char *name, pb_arena *result,
                         pb_option out[PB_STAGES_OPTIONS], uint32_t *count)
{
    pb_arena scratch;
    pbi_text text;
    pb_arena_init(&scratch, ctx);
    reader r = {.ctx = ctx, .result = result, .scratch = &scratch, .name = name};
    pb_status status = pbi_text_init(&text, ctx, source, &scratch);
    if (status == PB_OK) {
        pbi_text_ensure(&text, 1);
        while (text.at != text.end && (*text.at == ' ' || *text.at == '\t'))
            text.at++;
        bool json = text.at != text.end && (*text.at == '{' || *text.at == '\n');
        status = json ? read_json(&r, &text) : read_table(&r, &text);
    }
    *count = 0;
    for (uint32_t i = 0; i < FIELDS && status == PB_OK; i++)
        if (r.value[i])
            out[(*count)++] = (pb_option){fields[i].key, r.value[i]};
    pb_arena_release(&scratch);
    return status;
}
