/* machine_samples.c -- measurements as comma-separated lines: op,dtype,flops,bytes,ns. */
#include "base/arena.h"
#include "base/context.h"
#include "io/text_source.h"
#include "pebble/io.h"

#include <stdlib.h>

enum { COLUMNS = 5, MAX_LINE = 1000 };

/* The next line without its end; false at the end of the file. */
static bool take_line(pbi_text *text, char line[MAX_LINE + 1], size_t *length)
{
    *length = 0;
    pbi_text_ensure(text, 1);
    if (text->at == text->end)
        return false;
    for (;;) {
        pbi_text_ensure(text, 1);
        if (text->at == text->end)
            break;
        char c = *text->at++;
        if (c == '\n') {
            pbi_text_newline(text);
            break;
        }
        if (*length < MAX_LINE && c != '\r')
            line[(*length)++] = c;
    }
    line[*length] = '\0';
    return true;
}

static char *trimmed(char *field)
{
    field += strspn(field, " \t\"");
    size_t length = strlen(field);
    while (length && strchr(" \t\"", field[length - 1]))
        field[--length] = '\0';
    return field;
}

/* Cuts the line at its commas; returns how many fields it has. */
static int split(char *line, char *field[COLUMNS])
{
    int count = 0;
    for (char *at = line; at;) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        if (count < COLUMNS)
            field[count] = trimmed(at);
        count++;
        at = comma ? comma + 1 : NULL;
    }
    return count;
}

/* A whole number, or a decimal that is rounded: measuring programs write both. */
static bool read_number(const char *text, uint64_t *out)
{
    char *end;
    double value = strtod(text, &end);
    if (!((*text >= '0' && *text <= '9') || *text == '.') || *end || !(value < 0x1p63))
        return false;
    *out = (uint64_t)(value + 0.5);
    return true;
}

static pb_status read_sample(pbi_text *text, pbi_place place, char *line, pb_arena *result, pb_machine_sample *out)
{
    char *field[COLUMNS];
    int count = split(line, field);
    if (count != COLUMNS)
        return pbi_text_fail(text, place, "expected op,dtype,flops,bytes,ns: five fields, not %d", count);
    uint64_t *const numbers[] = {&out->at.flops, &out->at.bytes, &out->at.time};
    for (int i = 0; i < 3; i++)
        if (!read_number(field[2 + i], numbers[i]))
            return pbi_text_fail(text, place, "\"%.40s\" is not a number from 0 to 2^63; correct it", field[2 + i]);
    if (!*field[0] || !out->at.time || (!out->at.flops && !out->at.bytes))
        return pbi_text_fail(text, place, "a measurement needs an operation, flops or bytes, and a time above 0 ns");
    out->op = pb_arena_text(result, field[0], strlen(field[0]));
    out->dtype = *field[1] ? pb_arena_text(result, field[1], strlen(field[1])) : NULL;
    return out->op && (out->dtype || !*field[1]) ? PB_OK : PB_ENOMEM;
}

pb_status pb_machine_samples_read(pb_context *ctx, pb_source source, pb_arena *result, pb_machine_sample **samples,
                                  uint32_t *count)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_text text;
    char line[MAX_LINE + 1];
    size_t room = 0, length, made = *count;
    void *rows = NULL;
    pb_status status = pbi_text_init(&text, ctx, source, &scratch);
    if (status == PB_OK && made) {
        if (!pbi_arena_reserve(result, &rows, &room, made, sizeof **samples))
            status = PB_ENOMEM;
        else
            memcpy(rows, *samples, made * sizeof **samples);
    }
    for (bool first = true; status == PB_OK; first = false) {
        pbi_place place = pbi_text_place(&text);
        if (!take_line(&text, line, &length))
            break;
        if (!length || *line == '#' || (first && strncmp(line, "op,", 3) == 0))
            continue;
        if (length == MAX_LINE)
            status = pbi_text_fail(&text, place, "a line of more than %d bytes; it is not a measurement", MAX_LINE);
        else if (made == UINT32_MAX - 1 || !pbi_arena_reserve(result, &rows, &room, made + 1, sizeof **samples))
            status = PB_ENOMEM;
        else
            status = read_sample(&text, place, line, result, (pb_machine_sample *)rows + made++);
    }
    status = status == PB_OK ? text.status : status;
    pb_arena_release(&scratch);
    if (status != PB_OK)
        return status;
    *samples = rows;
    *count = (uint32_t)made;
    return PB_OK;
}
