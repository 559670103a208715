/* step_print.c -- see step_print.h. */
#include "step_print.h"

#include "common/figures.h"
#include "machine_print.h"
#include "plain_print.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

static const char *kind_text(pb_memory_kind kind)
{
    return kind == PB_MEMORY_OPTIMIZER ? "optimizer state"
           : kind == PB_MEMORY_FIXED   ? "always in use"
                                       : pb_memory_kind_name(kind);
}

static void share_text(uint64_t part, uint64_t whole, char text[FIGURE_ROOM])
{
    snprintf(text, FIGURE_ROOM, "%.1f %%", whole ? 100.0 * (double)part / (double)whole : 0.0);
}

static void print_place(const pb_graph *g, const pb_step_report *r)
{
    const char *pass = !r->trains ? "" : r->backward ? " of the backward pass" : " of the forward pass";
    if (r->peak_at == PB_NO_NODE)
        print_line(stdout, "the peak in program order is before the first computation");
    else
        print_line(stdout, "the peak in program order is at %.60s%s (computation %u of %u)",
                   pb_graph_name(g, r->peak_at), pass, (unsigned)r->position, (unsigned)r->computations);
}

static bool print_kinds(app *a, const pb_graph *g, const pb_step_report *r)
{
    static const table_column columns[] = {{"in memory", false, 0}, {"size", true, 0}, {"%", true, 0}};
    char size[FIGURE_ROOM], share[FIGURE_ROOM];
    bool good = true;
    table t;
    table_init(&t, &a->arena, columns, 3);
    t.color = a->color;
    t.width = a->width;
    for (int k = 0; k < PB_MEMORY_KINDS; k++) {
        if (!r->in_use[k])
            continue;
        pb_amount_text(r->in_use[k], g->size_unit, size, sizeof size);
        share_text(r->in_use[k], r->peak, share);
        const char *cells[] = {kind_text((pb_memory_kind)k), size, share};
        good = good && table_row(&t, cells, NULL);
    }
    table_print(&t, stdout);
    return good;
}

static void print_fits(const pb_graph *g, const pb_step_report *r)
{
    const pb_machine *m = r->machine;
    char peak[FIGURE_ROOM], room[FIGURE_ROOM], share[FIGURE_ROOM];
    pb_amount_text(r->peak, g->size_unit, peak, sizeof peak);
    size_text(m, r->room, room);
    snprintf(share, sizeof share, "%.3g %%", r->room ? 100.0 * (double)r->peak / (double)r->room : 0.0);
    if (r->room == PB_UNLIMITED)
        print_line(stdout, "%s fits %s, which has no limit", peak, m->name);
    else if (r->peak <= r->room)
        print_line(stdout, "%s fits %s: %s of its %s", peak, m->name, share, room);
    else
        print_line(stdout, "%s does not fit %s: %s of its %s. `pebble plan --machine` looks for a plan that does", peak,
                   m->name, share, room);
}

static bool print_largest(app *a, const pb_graph *g, const pb_step_report *r)
{
    static const table_column columns[] = {{"largest values", false, 0}, {"group", false, 0}, {"computed by", false, 0},
                                           {"values", true, 0},          {"size", true, 0},   {"% of peak", true, 0}};
    bool good = true;
    table t;
    table_init(&t, &a->arena, columns, 6);
    t.color = a->color;
    t.width = a->width;
    for (uint32_t i = 0; i < r->row_count; i++) {
        const pb_memory_row *row = &r->rows[i];
        char values[FIGURE_ROOM], size[FIGURE_ROOM], share[FIGURE_ROOM];
        snprintf(values, sizeof values, "%u", (unsigned)row->values);
        pb_amount_text(row->size, g->size_unit, size, sizeof size);
        share_text(row->size, r->peak, share);
        const char *cells[] = {
            kind_text(row->kind), row->group ? row->group : "", row->op ? row->op : "", values, size, share};
        good = good && table_row(&t, cells, NULL);
    }
    table_print(&t, stdout);
    return good;
}

static bool print_times(app *a, const pb_graph *g, const pb_step_report *r)
{
    static const table_column columns[] = {
        {"operation", false, 0}, {"nodes", true, 0}, {"time", true, 0}, {"%", true, 0}};
    char time[FIGURE_ROOM], nodes[FIGURE_ROOM], share[FIGURE_ROOM];
    bool good = true;
    table t;
    pb_amount_text(r->time, g->cost_unit, time, sizeof time);
    print_line(stdout, "one step in program order on %s takes %s", r->machine->name, time);
    putchar('\n');
    table_init(&t, &a->arena, columns, 4);
    t.color = a->color;
    t.width = a->width;
    for (uint32_t i = 0; i < r->op_count; i++) {
        pb_amount_text(r->ops[i].time, g->cost_unit, time, sizeof time);
        snprintf(nodes, sizeof nodes, "%u", (unsigned)r->ops[i].nodes);
        share_text(r->ops[i].time, r->time, share);
        const char *cells[] = {r->ops[i].op ? r->ops[i].op : "not stated", nodes, time, share};
        good = good && table_row(&t, cells, NULL);
    }
    table_print(&t, stdout);
    return good;
}

pb_status print_step(app *a, const pb_graph *g, const pb_step_report *r)
{
    print_place(g, r);
    print_fits(g, r);
    putchar('\n');
    bool good = print_kinds(a, g, r);
    putchar('\n');
    if (r->row_count) {
        good = good && print_largest(a, g, r);
        putchar('\n');
    }
    good = good && print_times(a, g, r);
    putchar('\n');
    return good ? PB_OK : PB_ENOMEM;
}
