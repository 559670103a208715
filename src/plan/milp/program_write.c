/* program_write.c -- see program_write.h.
 *
 * MPS is written in free form, LP as CPLEX describes it: both are what Cbc, HiGHS, SCIP, GLPK, CPLEX and Gurobi read.
 * Their solutions differ, but all have lines or tags with a column's name followed by its value. Only the columns R
 * decide what is computed, so nothing else is read.
 */
#include "plan/milp/program_write.h"

#include "base/context.h"
#include "base/out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 32, POLL = 4096, LINE = 400 };

typedef struct writer {
    const pbi_staged *m;
    const pbi_program *p;
    pbi_out *out;
    char (*name)[NAME]; /* by column */
    double *factor;     /* by column: of the row that is written */
} writer;

static bool name_columns(const pbi_staged *m, pb_arena *arena, char (**out)[NAME])
{
    char(*name)[NAME] = pb_arena_alloc(arena, m->program.columns + 1, sizeof *name);
    if (!name)
        return false;
    for (size_t c = 0; c < m->program.columns; c++)
        snprintf(name[c], NAME, "X_%zu", c);
    for (uint32_t t = 0; t < m->stages; t++) {
        for (uint32_t i = 0; i <= t; i++)
            if (pbi_staged_r(m, t, i) >= 0)
                snprintf(name[pbi_staged_r(m, t, i)], NAME, "R_%" PRIu32 "_%" PRIu32, t, i);
        for (uint32_t j = 0; j < m->values; j++)
            if (pbi_staged_s(m, t, j) >= 0)
                snprintf(name[pbi_staged_s(m, t, j)], NAME, "S_%" PRIu32 "_%" PRIu32, t, j);
    }
    *out = name;
    return true;
}

static size_t row_end(const pbi_program *p, size_t r) { return r + 1 < p->rows ? p->row[r + 1].start : p->entries; }

/* The entries of a row with each column once: the first of a column has the sum, the others are skipped. */
static void gather(writer *w, size_t r)
{
    for (size_t e = w->p->row[r].start; e < row_end(w->p, r); e++)
        w->factor[w->p->entry[e].column] += w->p->entry[e].factor;
}

static double take(writer *w, int column)
{
    double factor = w->factor[column];
    w->factor[column] = 0;
    return factor;
}

static void header(writer *w, const char *comment)
{
    const pbi_staged *m = w->m;
    pbi_out_format(w->out, "%s Checkmate's program for the graph ", comment);
    pbi_out_plain(w->out, m->game->graph->name);
    pbi_out_text(w->out, "\n");
    pbi_out_format(w->out,
                   "%s R_t_i: stage t computes node i of the order; S_t_j: value j is in memory when stage t begins\n",
                   comment);
    pbi_out_format(w->out, "%s objective: recomputation in units of %.17g; memory in units of %.17g\n", comment,
                   m->price, m->unit);
}

/* ---- MPS ---- */

static void mps_rows(writer *w)
{
    const pbi_program *p = w->p;
    pbi_out_text(w->out, "ROWS\n N work\n");
    for (size_t r = 0; r < p->rows; r++) {
        const pbi_row *row = &p->row[r];
        char kind = row->low == row->high ? 'E' : isinf(row->low) ? 'L' : 'G';
        pbi_out_format(w->out, " %c r%zu\n", kind, r);
    }
}

/* Entries by column, as the form wants them. */
typedef struct by_column {
    size_t *start;
    size_t *row;
    double *factor;
} by_column;

static bool turn(writer *w, pb_arena *arena, by_column *b)
{
    const pbi_program *p = w->p;
    b->start = pb_arena_zero(arena, p->columns + 2, sizeof *b->start);
    b->row = pb_arena_alloc(arena, p->entries + 1, sizeof *b->row);
    b->factor = pb_arena_alloc(arena, p->entries + 1, sizeof *b->factor);
    if (!b->start || !b->row || !b->factor)
        return false;
    for (size_t e = 0; e < p->entries; e++)
        b->start[p->entry[e].column + 2]++;
    for (size_t c = 0; c < p->columns; c++)
        b->start[c + 2] += b->start[c + 1];
    for (size_t r = 0; r < p->rows; r++) {
        gather(w, r);
        for (size_t e = p->row[r].start; e < row_end(p, r); e++) {
            size_t at = b->start[p->entry[e].column + 1]++;
            b->row[at] = r;
            b->factor[at] = take(w, p->entry[e].column);
        }
    }
    return true;
}

static void mps_columns(writer *w, const by_column *b)
{
    const pbi_program *p = w->p;
    bool whole = false;
    pbi_out_text(w->out, "COLUMNS\n");
    for (size_t c = 0; c < p->columns; c++) {
        if (p->column[c].whole != whole) {
            whole = !whole;
            pbi_out_format(w->out, " M%zu 'MARKER' '%s'\n", c, whole ? "INTORG" : "INTEND");
        }
        pbi_out_format(w->out, " %s work %.17g\n", w->name[c], p->column[c].price);
        for (size_t at = b->start[c]; at < b->start[c + 1]; at++)
            if (b->factor[at] != 0)
                pbi_out_format(w->out, " %s r%zu %.17g\n", w->name[c], b->row[at], b->factor[at]);
    }
    if (whole)
        pbi_out_text(w->out, " MEND 'MARKER' 'INTEND'\n");
}

static void mps_sides(writer *w)
{
    const pbi_program *p = w->p;
    pbi_out_text(w->out, "RHS\n");
    for (size_t r = 0; r < p->rows; r++) {
        double side = isinf(p->row[r].low) ? p->row[r].high : p->row[r].low;
        if (side != 0 && !isinf(side))
            pbi_out_format(w->out, " rhs r%zu %.17g\n", r, side);
    }
    pbi_out_text(w->out, "RANGES\n");
    for (size_t r = 0; r < p->rows; r++)
        if (!isinf(p->row[r].low) && !isinf(p->row[r].high) && p->row[r].low != p->row[r].high)
            pbi_out_format(w->out, " rng r%zu %.17g\n", r, p->row[r].high - p->row[r].low);
    pbi_out_text(w->out, "BOUNDS\n");
    for (size_t c = 0; c < p->columns; c++) {
        if (p->column[c].low != 0)
            pbi_out_format(w->out, " LO bnd %s %.17g\n", w->name[c], p->column[c].low);
        if (!isinf(p->column[c].high))
            pbi_out_format(w->out, " UP bnd %s %.17g\n", w->name[c], p->column[c].high);
    }
    pbi_out_text(w->out, "ENDATA\n");
}

static pb_status write_mps(writer *w, pb_arena *arena)
{
    by_column b;
    if (!turn(w, arena, &b))
        return PB_ENOMEM;
    header(w, "*");
    pbi_out_text(w->out, "NAME checkmate\n");
    mps_rows(w);
    mps_columns(w, &b);
    mps_sides(w);
    return PB_OK;
}

/* ---- LP ---- */

/* " + 2 R_3_1", in lines that are not too long. */
static void term(writer *w, double factor, size_t column, size_t *length)
{
    char text[NAME + 40];
    int used = snprintf(text, sizeof text, " %c %.17g %s", factor < 0 ? '-' : '+', fabs(factor), w->name[column]);
    *length += (size_t)used;
    if (*length > LINE) {
        pbi_out_text(w->out, "\n ");
        *length = (size_t)used;
    }
    pbi_out_text(w->out, text);
}

static void lp_side(writer *w, size_t r, size_t number, const char *sign, double side)
{
    const pbi_program *p = w->p;
    size_t length = 0;
    pbi_out_format(w->out, " r%zu%s:", r, number ? "b" : "");
    gather(w, r);
    for (size_t e = p->row[r].start; e < row_end(p, r); e++) {
        double factor = take(w, p->entry[e].column);
        if (factor != 0)
            term(w, factor, (size_t)p->entry[e].column, &length);
    }
    if (!length) /* a row needs a term */
        term(w, 0, 0, &length);
    pbi_out_format(w->out, " %s %.17g\n", sign, side);
}

static void lp_rows(writer *w)
{
    const pbi_program *p = w->p;
    pbi_out_text(w->out, "Subject To\n");
    for (size_t r = 0; r < p->rows; r++) {
        const pbi_row *row = &p->row[r];
        if (row->low == row->high)
            lp_side(w, r, 0, "=", row->low);
        if (row->low != row->high && !isinf(row->low))
            lp_side(w, r, 0, ">=", row->low);
        if (row->low != row->high && !isinf(row->high))
            lp_side(w, r, !isinf(row->low), "<=", row->high);
    }
}

static void write_lp(writer *w)
{
    const pbi_program *p = w->p;
    size_t length = 0;
    header(w, "\\");
    pbi_out_text(w->out, "Minimize\n work:");
    for (size_t c = 0; c < p->columns; c++)
        if (p->column[c].price != 0)
            term(w, p->column[c].price, c, &length);
    if (!length)
        term(w, 0, 0, &length);
    pbi_out_text(w->out, "\n");
    lp_rows(w);
    pbi_out_text(w->out, "Bounds\n");
    for (size_t c = 0; c < p->columns; c++)
        if (isinf(p->column[c].high))
            pbi_out_format(w->out, " %s >= %.17g\n", w->name[c], p->column[c].low);
        else
            pbi_out_format(w->out, " %.17g <= %s <= %.17g\n", p->column[c].low, w->name[c], p->column[c].high);
    pbi_out_text(w->out, "General\n");
    for (size_t c = 0; c < p->columns; c++)
        if (p->column[c].whole)
            pbi_out_format(w->out, " %s\n", w->name[c]);
    pbi_out_text(w->out, "End\n");
}

pb_status pbi_staged_write(pb_context *ctx, const pbi_staged *m, bool lp, pb_sink sink)
{
    pb_arena scratch;
    pbi_out out;
    pb_arena_init(&scratch, ctx);
    pbi_out_init(&out, ctx, sink);
    writer w = {.m = m, .p = &m->program, .out = &out};
    w.factor = pb_arena_zero(&scratch, m->program.columns + 1, sizeof *w.factor);
    pb_status status = w.factor && name_columns(m, &scratch, &w.name) ? PB_OK : PB_ENOMEM;
    if (status == PB_OK && lp)
        write_lp(&w);
    else if (status == PB_OK)
        status = write_mps(&w, &scratch);
    pb_arena_release(&scratch);
    return status == PB_OK ? pbi_out_finish(&out) : status;
}

/* ---- solutions ---- */

static bool is_separator(char c) { return strchr(" \t\r\n\"'=<>/,;", c) != NULL; }

/* The next word; false at the end. */
static bool next_word(const char **at, const char *end, char word[NAME])
{
    while (*at < end && is_separator(**at))
        (*at)++;
    size_t length = 0;
    for (; *at < end && !is_separator(**at); (*at)++)
        if (length < NAME - 1)
            word[length++] = **at;
    word[length] = 0;
    return length > 0;
}

/* "R_3_1" as the column of stage 3, node 1; -1 for another word. */
static int column_named(const pbi_staged *m, const char *word)
{
    char *end;
    if (strncmp(word, "R_", 2) != 0 || word[2] < '0' || word[2] > '9')
        return -1;
    unsigned long t = strtoul(word + 2, &end, 10), i;
    if (*end != '_' || end[1] < '0' || end[1] > '9')
        return -1;
    i = strtoul(end + 1, &end, 10);
    return *end || t >= m->stages || i > t ? -1 : pbi_staged_r(m, (uint32_t)t, (uint32_t)i);
}

static bool number(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end);
    return end != word && !*end && isfinite(*value);
}

pb_status pbi_staged_read(pb_context *ctx, const pbi_staged *m, const char *text, size_t length, double *x)
{
    const char *at = text, *end = text + length;
    char word[NAME];
    bool any = false; /* zeros may be left out, so perhaps no R */
    memset(x, 0, m->program.columns * sizeof *x);
    while (next_word(&at, end, word)) {
        int column = column_named(m, word);
        double value;
        any = any ||
              ((*word == 'R' || *word == 'S' || *word == 'X') && word[1] == '_' && word[2] >= '0' && word[2] <= '9');
        if (column < 0)
            continue;
        bool tag = false; /* <variable name="R_3_1" index="12" value="1"/> */
        const char *back = at;
        while (next_word(&at, end, word) && (strcmp(word, "index") == 0 || strcmp(word, "value") == 0)) {
            tag = tag || strcmp(word, "value") == 0;
            if (!tag)
                next_word(&at, end, word);
        }
        if (!number(word, &value)) {
            at = back;
            continue;
        }
        x[column] = value;
    }
    if (!any)
        return pbi_fail(ctx, PB_EFORMAT,
                        "it has no columns R_t_i or S_t_j; give the graph, the cap and the options that "
                        "it was exported with, and the solver's solution file");
    return PB_OK;
}
