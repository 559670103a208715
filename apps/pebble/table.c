/* table.c -- see table.h. */
#include "table.h"

#include <string.h>

enum { GAP = 2 };

int text_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void table_init(table *t, pb_arena *arena, const table_column *columns, int column_count)
{
    *t = (table){.arena = arena, .columns = columns, .column_count = column_count, .width = 100};
}

bool table_row(table *t, const char *const *cells, const char *ink)
{
    if (t->row_count == t->room) {
        size_t room = t->room ? 2 * t->room : 16;
        char ***rows = pb_arena_alloc(t->arena, room, sizeof *rows);
        const char **inks = pb_arena_alloc(t->arena, room, sizeof *inks);
        if (!rows || !inks)
            return false;
        if (t->row_count) {
            memcpy(rows, t->rows, t->row_count * sizeof *rows);
            memcpy(inks, t->inks, t->row_count * sizeof *inks);
        }
        t->rows = rows;
        t->inks = inks;
        t->room = room;
    }
    char **row = pb_arena_zero(t->arena, (size_t)t->column_count, sizeof *row);
    if (!row)
        return false;
    for (int c = 0; c < t->column_count; c++) {
        size_t room = cells[c] ? pb_plain_text(cells[c], NULL, 0) + 1 : 0;
        row[c] = room ? pb_arena_alloc(t->arena, room, 1) : NULL;
        if (room && !row[c])
            return false;
        if (room)
            pb_plain_text(cells[c], row[c], room);
    }
    t->rows[t->row_count] = row;
    t->inks[t->row_count++] = ink;
    return true;
}

static void pad(FILE *out, int blanks)
{
    for (; blanks > 0; blanks--)
        fputc(' ', out);
}

/* The width of a word; printed, unless `out` is NULL. */
static int put_word(FILE *out, const char *word, size_t length)
{
    char shown[PB_PLAIN_CHAR];
    int wide = 0;
    for (size_t at = 0; at < length;) {
        at += pb_plain_char(word + at, shown);
        wide += text_width(shown);
        if (out)
            fputs(shown, out);
    }
    return wide;
}

void print_wrapped(FILE *out, const char *text, int used, int indent, int width)
{
    bool first = true; /* word of its line */
    while (*text) {
        size_t length = strcspn(text, " ");
        int wide = put_word(NULL, text, length);
        if (!first && used + 1 + wide > width) {
            fputc('\n', out);
            pad(out, indent);
            used = indent;
            first = true;
        }
        if (!first)
            used += fprintf(out, " ") > 0;
        put_word(out, text, length);
        used += wide;
        first = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* A cell runs on to the end of the line when nothing follows it. */
static bool runs_on(const table *t, size_t row, int column)
{
    return column + 1 < t->column_count && !t->rows[row][column + 1];
}

/* Columns with width -1 are left out. */
static void print_row(const table *t, size_t row, const int *widths, FILE *out)
{
    char *const *cells = t->rows[row];
    bool ink = t->color && t->inks[row];
    int used = 0;
    if (ink)
        fprintf(out, "\033[%sm", t->inks[row]);
    for (int c = 0; c < t->column_count && cells[c]; c++) {
        int blanks = widths[c] - text_width(cells[c]);
        bool last = runs_on(t, row, c);
        if (widths[c] < 0 && !last)
            continue;
        if (c) {
            pad(out, GAP);
            used += GAP;
        }
        if (last) {
            print_wrapped(out, cells[c], used, used, t->width);
            if (ink)
                fputs("\033[0m", out);
            return;
        }
        if (t->columns[c].right)
            pad(out, blanks);
        fputs(cells[c], out);
        if (!t->columns[c].right && c + 1 < t->column_count)
            pad(out, blanks);
        used += widths[c];
    }
    fputs(ink ? "\033[0m\n" : "\n", out);
}

static void measure(const table *t, int *widths)
{
    int total = -GAP;
    for (int c = 0; c < t->column_count; c++) {
        widths[c] = text_width(t->columns[c].title);
        for (size_t r = 0; r < t->row_count; r++) {
            int width = !t->rows[r][c] || runs_on(t, r, c) ? 0 : text_width(t->rows[r][c]);
            if (width > widths[c])
                widths[c] = width;
        }
        total += widths[c] + GAP;
    }
    while (t->fit && total > t->width) {
        int spare = -1;
        for (int c = 0; c < t->column_count; c++)
            if (widths[c] >= 0 && t->columns[c].spare > (spare < 0 ? 0 : t->columns[spare].spare))
                spare = c;
        if (spare < 0)
            return;
        total -= widths[spare] + GAP;
        widths[spare] = -1;
    }
}

void table_print(const table *t, FILE *out)
{
    int widths[MAX_COLUMNS];
    measure(t, widths);
    if (t->color)
        fputs("\033[1m", out);
    for (int c = 0; c < t->column_count; c++) {
        int blanks = widths[c] - text_width(t->columns[c].title);
        if (widths[c] < 0)
            continue;
        pad(out, (c ? GAP : 0) + (t->columns[c].right ? blanks : 0));
        fputs(t->columns[c].title, out);
        if (!t->columns[c].right && c + 1 < t->column_count)
            pad(out, blanks);
    }
    fputs(t->color ? "\033[0m\n" : "\n", out);
    for (size_t r = 0; r < t->row_count; r++)
        print_row(t, r, widths, out);
}

void short_cost(pb_u128 value, const char *unit, int digits, char *text)
{
    if (!value.high && pb_unit_is_time(unit))
        pb_quantity_text(value.low, unit, text, 64);
    else
        short_number(value, digits, text);
}

void short_number(pb_u128 value, int digits, char *text)
{
    char plain[PB_U128_TEXT];
    int length = (int)pb_u128_text(value, plain), at = 0;
    if (length > digits) {
        snprintf(text, 64, "%.2e", pb_u128_double(value));
        char *plus = strchr(text, '+'); /* 1.23e+09 -> 1.23e9 */
        if (plus)
            memmove(plus, plus + 1 + (plus[1] == '0'), strlen(plus + (plus[1] == '0')));
        return;
    }
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = plain[i];
    }
    text[at] = '\0';
}
