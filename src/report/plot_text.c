/* plot_text.c -- memory over time as text: columns of block characters under the cap line. */
#include "pebble/report.h"

#include "base/context.h"
#include "base/out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MIN_WIDTH = 20, MIN_HEIGHT = 4, LABEL_ROOM = 32, EIGHTHS = 8, MARGIN = 5 };

/* The characters of the plot, with and without Unicode. */
typedef struct glyphs {
    const char *levels[EIGHTHS + 1]; /* empty .. full cell */
    const char *cap, *axis, *corner, *wall, *tick, *peak;
} glyphs;

static const glyphs fancy = {{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "╌", "─", "└", "│", "┤", "▲"};
static const glyphs plain = {{" ", ".", ".", ".", ":", ":", ":", "#", "#"}, "-", "-", "+", "|", "+", "^"};

typedef struct plot {
    pbi_out out;
    const pb_game *game;
    const pb_totals *totals;
    const glyphs *marks;
    bool color, cap_line, slow_line;
    uint32_t rows, columns; /* of the drawing itself */
    int label_width;
    uint64_t top; /* memory at the upper edge */
    uint32_t peak_column;
    pb_axis axis;
    pb_profile profile;
} plot;

static void ink(plot *p, const char *code)
{
    if (p->color)
        pbi_out_format(&p->out, "\033[%sm", code);
}

static void repeat(plot *p, const char *glyph, uint32_t times)
{
    while (times-- > 0)
        pbi_out_text(&p->out, glyph);
}

static void quantity(const plot *p, uint64_t value, char text[LABEL_ROOM])
{
    pb_quantity_text(value, p->game->graph->size_unit, text, LABEL_ROOM);
}

static void label(plot *p, const char *text, const char *edge)
{
    pbi_out_format(&p->out, "%*s ", p->label_width, text);
    pbi_out_text(&p->out, edge);
}

/* Filled eighths of the whole height for one column; anything above zero is visible. */
static uint32_t level_of(uint64_t value, uint64_t top, uint32_t rows)
{
    if (top == 0 || value == 0)
        return 0;
    double eighths = ceil((double)value / (double)top * rows * EIGHTHS);
    return eighths > rows * EIGHTHS ? rows * EIGHTHS : (uint32_t)eighths;
}

static const char *cell(const plot *p, uint32_t level, uint32_t row_from_below)
{
    uint32_t floor = row_from_below * EIGHTHS;
    return p->marks->levels[level <= floor ? 0 : level - floor >= EIGHTHS ? EIGHTHS : level - floor];
}

static void draw_cap(plot *p)
{
    char text[LABEL_ROOM];
    quantity(p, p->game->cap, text);
    label(p, text, p->marks->tick);
    ink(p, "31");
    repeat(p, p->marks->cap, p->columns);
    ink(p, "0");
    pbi_out_text(&p->out, " cap\n");
}

/* The row, from below, with a label at half height, and the memory at its upper edge. */
static bool is_middle(const plot *p, uint32_t row) { return p->rows >= 4 && row + 1 == p->rows / 2; }
static uint64_t edge_of(const plot *p, uint32_t row) { return (uint64_t)((double)p->top * (row + 1) / p->rows); }

static void draw_row(plot *p, uint32_t row)
{
    char text[LABEL_ROOM] = "";
    if (row + 1 == p->rows && !p->cap_line)
        quantity(p, p->top, text);
    else if (is_middle(p, row))
        quantity(p, edge_of(p, row), text);
    label(p, text, text[0] ? p->marks->tick : p->marks->wall);
    ink(p, "36");
    uint32_t used = p->columns; /* no blanks at the end of the line */
    while (used > 0 && level_of(p->profile.fast[used - 1], p->top, p->rows) <= row * EIGHTHS)
        used--;
    for (uint32_t x = 0; x < used; x++) {
        bool at_peak = p->color && x == p->peak_column;
        if (at_peak)
            ink(p, "33");
        pbi_out_text(&p->out, cell(p, level_of(p->profile.fast[x], p->top, p->rows), row));
        if (at_peak)
            ink(p, "36");
    }
    ink(p, "0");
    pbi_out_char(&p->out, '\n');
}

static void draw_axis(plot *p)
{
    char to[LABEL_ROOM + 64];
    label(p, "0", p->marks->corner);
    repeat(p, p->marks->axis, p->columns);
    pbi_out_char(&p->out, '\n');
    pb_amount_text(p->profile.length, p->axis == PB_AXIS_MOVES ? "moves" : p->game->graph->cost_unit, to, sizeof to);
    if (strlen(to) + 2 > p->columns)
        to[0] = '\0';
    pbi_out_format(&p->out, "%*s 0%*s\n", p->label_width + 1, "", to[0] ? (int)p->columns - 1 : 0, to);
}

/* "▲ peak 9 of 10 (90 %)": the mark below the peak's column, the words on the side with enough room. */
static void draw_peak(plot *p)
{
    char text[128], peak[LABEL_ROOM], cap[LABEL_ROOM];
    uint32_t x = p->peak_column, room = p->columns + MARGIN;
    quantity(p, p->totals->peak, peak);
    uint32_t brief = (uint32_t)snprintf(text, sizeof text, "peak %s", peak), length = brief;
    if (p->game->cap != PB_UNLIMITED && p->game->cap > 0) {
        quantity(p, p->game->cap, cap);
        length += (uint32_t)snprintf(text + brief, sizeof text - brief, " of %s (%.0f %%)", cap,
                                     floor(100.0 * (double)p->totals->peak / (double)p->game->cap));
    }
    bool right = x + 2 + length <= room, left = !right && length + 1 <= x;
    if (!right && !left) { /* use a shorter text */
        text[length = brief] = '\0';
        right = x + 2 + length <= room;
        left = !right && length + 1 <= x;
    }
    pbi_out_format(&p->out, "%*s", p->label_width + 2, "");
    repeat(p, " ", left ? x - length - 1 : x);
    if (left)
        pbi_out_format(&p->out, "%s ", text);
    ink(p, "33");
    pbi_out_text(&p->out, p->marks->peak);
    ink(p, "0");
    if (right)
        pbi_out_format(&p->out, " %s", text);
    pbi_out_char(&p->out, '\n');
}

/* Slow memory in one line, on its own scale. */
static void draw_slow(plot *p)
{
    uint64_t most = 0;
    char text[LABEL_ROOM];
    for (uint32_t x = 0; x < p->columns; x++)
        if (p->profile.slow[x] > most)
            most = p->profile.slow[x];
    quantity(p, most, text);
    label(p, strlen(text) <= (size_t)p->label_width ? text : "", p->marks->wall);
    ink(p, "35");
    for (uint32_t x = 0; x < p->columns; x++)
        pbi_out_text(&p->out, cell(p, level_of(p->profile.slow[x], most, 1), 0));
    ink(p, "0");
    pbi_out_text(&p->out, " slow\n");
}

static void widen(plot *p, const char *text)
{
    if ((int)strlen(text) > p->label_width)
        p->label_width = (int)strlen(text);
}

static pb_status measure(pb_context *ctx, const pb_certificate *c, const pb_plot_style *style, pb_arena *scratch,
                         plot *p)
{
    char text[LABEL_ROOM];
    uint64_t peak = p->totals->peak, cap = p->game->cap;
    uint32_t height = style->height < MIN_HEIGHT ? MIN_HEIGHT : style->height;
    uint32_t width = style->width < MIN_WIDTH ? MIN_WIDTH : style->width;
    p->cap_line = height > MIN_HEIGHT && cap != PB_UNLIMITED && cap / 2 <= peak;
    p->top = p->cap_line ? cap : peak;
    p->slow_line = p->game->kind == PB_GAME_TIERED && height > MIN_HEIGHT + 1;
    p->rows = height - 3 - (p->cap_line ? 1 : 0) - (p->slow_line ? 1 : 0);
    p->label_width = 6;
    quantity(p, p->top, text);
    widen(p, text);
    quantity(p, edge_of(p, p->rows / 2 - (p->rows > 1)), text);
    widen(p, text);
    uint32_t used_by_labels = (uint32_t)p->label_width + 2 + MARGIN; /* labels, wall, " cap" on the right */
    p->columns = width > used_by_labels + 4 ? width - used_by_labels : 4;
    p->axis = p->totals->compute_work || p->totals->uncompute_work || p->totals->io ? PB_AXIS_TIME : PB_AXIS_MOVES;
    pb_status status = pb_profile_make(ctx, c, p->axis, p->columns, scratch, &p->profile);
    for (uint32_t x = p->columns; status == PB_OK && x-- > 0;)
        if (p->profile.fast[x] == peak)
            p->peak_column = x;
    return status;
}

pb_status pb_plot_write(pb_context *ctx, const pb_certificate *c, const pb_plot_style *style, pb_sink sink)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    plot p = {.game = pb_certificate_game(c), .totals = pb_certificate_totals(c)};
    p.marks = style->unicode ? &fancy : &plain;
    p.color = style->color;
    pbi_out_init(&p.out, ctx, sink);
    pb_status status = measure(ctx, c, style, &scratch, &p);
    if (status == PB_OK) {
        if (p.cap_line)
            draw_cap(&p);
        for (uint32_t row = p.rows; row-- > 0;)
            draw_row(&p, row);
        draw_axis(&p);
        if (p.slow_line)
            draw_slow(&p);
        draw_peak(&p);
        status = pbi_out_finish(&p.out);
    }
    pb_arena_release(&scratch);
    return status;
}
