/* cmd_price.c -- pebble price: the times that a graph's nodes take on a machine, written into the graph. */
#include "commands.h"
#include "common/json_print.h"
#include "files.h"
#include "machine_print.h"
#include "plain_print.h"
#include "settings.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

exit_code machine_option(app *a, const pb_graph *g, const pb_machine **out)
{
    pb_settings s = {.text[PB_SET_machine] = app_option(a, OPT_MACHINE)};
    if (!s.text[PB_SET_machine])
        s.text[PB_SET_machine] = app_option(a, OPT_TIMED_BY);
    exit_code code = setting_code(a, &s, pb_settings_machine(&a->ctx, &s, g, &a->arena, out));
    if (code == EXIT_DONE && !*out)
        return app_usage(a, "there is no machine: name one, as in --machine here.json; pebble machine measure makes "
                            "such a file, pebble machine list has others");
    return code;
}

exit_code time_graph(app *a, const pb_graph *g, const pb_machine *m, const pb_graph **out, pb_time_report *report)
{
    pb_status status = pb_graph_time(&a->ctx, g, m, &a->arena, out, report);
    if (status == PB_EINVAL || status == PB_ERANGE)
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    return app_status(a, status);
}

/* "3 of 12, x2.5 (block3.conv)" */
static void outside_text(const pb_graph *g, const pb_time_row *row, char text[2 * FIGURE_ROOM])
{
    if (!row->modelled)
        snprintf(text, 2 * FIGURE_ROOM, "-");
    else if (!row->outside)
        snprintf(text, 2 * FIGURE_ROOM, "none");
    else
        snprintf(text, 2 * FIGURE_ROOM, "%u of %u, by x%.*f at most (%.60s)", (unsigned)row->outside,
                 (unsigned)row->nodes, row->beyond < 9.95 ? 1 : 0, row->beyond, pb_graph_name(g, row->node));
}

/* One line for each operation: its time, and what lies outside the measured range. */
static bool print_times(app *a, FILE *out, const pb_graph *g, const pb_machine *m, const pb_time_report *r)
{
    static const table_column columns[] = {{"operation", false, 0},
                                           {"type", false, 0},
                                           {"nodes", true, 0},
                                           {"time", true, 0},
                                           {"share", true, 0},
                                           {"by", false, 0},
                                           {"outside the measured range", false, 1}};
    table t;
    uint64_t total = 0;
    table_init(&t, &a->arena, columns, sizeof columns / sizeof *columns);
    t.color = a->color;
    t.width = a->width;
    for (uint32_t i = 0; i < r->row_count; i++)
        total += r->rows[i].time;
    for (uint32_t i = 0; i < r->row_count; i++) {
        const pb_time_row *row = &r->rows[i];
        char nodes[FIGURE_ROOM], time[FIGURE_ROOM], share[FIGURE_ROOM], outside[2 * FIGURE_ROOM];
        snprintf(nodes, sizeof nodes, "%u", (unsigned)row->nodes);
        pb_amount_text(row->time, m->time_unit, time, sizeof time);
        percent_text(total ? (double)row->time / (double)total : 0, share);
        outside_text(g, row, outside);
        const char *cells[] = {row->op ? row->op : "-",
                               row->dtype ? row->dtype : "-",
                               nodes,
                               time,
                               share,
                               row->modelled ? "model" : "rates",
                               outside};
        if (!table_row(&t, cells, NULL))
            return false;
    }
    if (r->row_count)
        table_print(&t, out);
    if (r->kept)
        fprintf(out, "\n%u node%s kept the time that the graph states.\n", (unsigned)r->kept, r->kept == 1 ? "" : "s");
    if (r->unknown && !m->per_second)
        fputs("\nThe clock is abstract: nodes take their cost.\n", out);
    else if (r->unknown)
        fprintf(out, "\n%u node%s state%s neither flops nor bytes, and keep%s the cost.\n", (unsigned)r->unknown,
                r->unknown == 1 ? "" : "s", r->unknown == 1 ? "s" : "", r->unknown == 1 ? "s" : "");
    return true;
}

static void print_json(const pb_graph *g, const pb_machine *m, const pb_time_report *r)
{
    fputs("{\"graph\":", stdout);
    json_text(stdout, g->name);
    fputs(",\"machine\":", stdout);
    json_text(stdout, m->name);
    fputs(",\"time_unit\":", stdout);
    json_text(stdout, m->time_unit);
    printf(",\"kept\":%u,\"unknown\":%u,\"outside\":%u,\"operations\":[", (unsigned)r->kept, (unsigned)r->unknown,
           (unsigned)r->outside);
    for (uint32_t i = 0; i < r->row_count; i++) {
        const pb_time_row *row = &r->rows[i];
        fputs(i ? ",\n{\"op\":" : "\n{\"op\":", stdout);
        row->op ? json_text(stdout, row->op) : (void)fputs("null", stdout);
        fputs(",\"dtype\":", stdout);
        row->dtype ? json_text(stdout, row->dtype) : (void)fputs("null", stdout);
        printf(",\"nodes\":%u,\"time\":", (unsigned)row->nodes);
        json_u64(stdout, row->time);
        printf(",\"by\":\"%s\",\"outside\":%u,\"beyond\":%.4g,\"node\":", row->modelled ? "model" : "rates",
               (unsigned)row->outside, row->beyond);
        json_text(stdout, pb_graph_name(g, row->node));
        putchar('}');
    }
    puts("]}");
}

/* The time of all nodes, each computed once, on the first processor. */
static exit_code print_total(app *a, FILE *out, const pb_graph *g, const pb_machine *m)
{
    const pb_graph *priced;
    char time[FIGURE_ROOM];
    pb_status status = pb_graph_price(&a->ctx, g, m, &a->arena, &priced);
    if (status != PB_OK)
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    pb_amount_text(priced->needed_cost, m->time_unit, time, sizeof time);
    print_line(out, "%s on %s: %s, every node computed once", g->name, m->name, time);
    return EXIT_DONE;
}

static exit_code show_times(app *a, const pb_graph *g, const pb_machine *m, const pb_time_report *r)
{
    const char *path = app_option(a, OPT_OUTPUT);
    bool piped = path && strcmp(path, "-") == 0;
    file_out out;
    if (path && !file_create(a, path, &out))
        return EXIT_FAILED;
    exit_code code =
        path ? file_finish(a, &out, pb_graph_write(&a->ctx, g, PB_FORMAT_JSON, file_sink(&out))) : EXIT_DONE;
    if (code != EXIT_DONE || (piped && app_option(a, OPT_QUIET)))
        return code;
    if (app_option(a, OPT_JSON)) {
        print_json(g, m, r);
        return EXIT_DONE;
    }
    code = print_total(a, piped ? stderr : stdout, g, m);
    if (code == EXIT_DONE && !print_times(a, piped ? stderr : stdout, g, m, r))
        return app_status(a, PB_ENOMEM);
    return code;
}

exit_code price_graph(app *a, const pb_graph *g)
{
    const pb_machine *m;
    const pb_graph *timed;
    pb_time_report report;
    const char *path = app_option(a, OPT_OUTPUT);
    if (app_option(a, OPT_JSON) && path && strcmp(path, "-") == 0)
        return app_usage(a, "--json and -o - both write to standard output; give -o a file name");
    exit_code code = machine_option(a, g, &m);
    if (code == EXIT_DONE)
        code = time_graph(a, g, m, &timed, &report);
    return code == EXIT_DONE ? show_times(a, timed, m, &report) : code;
}

exit_code cmd_price(app *a)
{
    const pb_graph *g;
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one graph, as in pebble price g.json --machine here.json");
    exit_code code = read_graph(a, a->opts.positional[0], &g);
    return code == EXIT_DONE ? price_graph(a, g) : code;
}
