/* cmd_profile.c -- pebble profile: measures the costs of a workload's nodes on this machine. */
#include "commands.h"
#include "common/json_print.h"
#include "files.h"
#include "machine_print.h"
#include "plain_print.h"
#include "table.h"
#include "workload_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_ROWS = 12, MAX_REPEATS = 10000 };

/* Computed nodes, the most expensive first. */
static pb_node *ranked(app *a, const pb_graph *g)
{
    pb_node *node = pb_arena_alloc(&a->arena, (size_t)g->order_count + 1, sizeof *node);
    if (!node)
        return NULL;
    memcpy(node, g->order, g->order_count * sizeof *node);
    /* Only the first few are shown: a selection of them is enough. */
    uint32_t shown = g->order_count < TOP_ROWS ? g->order_count : TOP_ROWS;
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t best = i;
        for (uint32_t k = i + 1; k < g->order_count; k++)
            if (g->cost[node[k]] > g->cost[node[best]])
                best = k;
        pb_node swap = node[best];
        memmove(node + i + 1, node + i, (best - i) * sizeof *node);
        node[i] = swap;
    }
    return node;
}

static void figure(FILE *out, const char *name, const char *text) { print_line(out, "  %-10s %s", name, text); }

static void print_figures(FILE *out, const workload_spec *spec, const pb_profiled *p)
{
    char one[FIGURE_ROOM], two[FIGURE_ROOM], three[FIGURE_ROOM], text[4 * FIGURE_ROOM];
    print_line(out, "%s: %u computation%s, measured %u time%s", spec->text, (unsigned)p->graph->order_count,
               p->graph->order_count == 1 ? "" : "s", (unsigned)p->repeats, p->repeats == 1 ? "" : "s");
    duration_text(p->run.median, one);
    duration_text(p->run.low, two);
    duration_text(p->run.high, three);
    snprintf(text, sizeof text, "%s; half of the runs took from %s to %s", one, two, three);
    figure(out, "one run", text);
    pb_quantity_text(p->peak, "byte", one, sizeof one);
    pb_quantity_text(p->block, "byte", two, sizeof two);
    snprintf(text, sizeof text, "peak %s in program order, in a block of %s", one, two);
    figure(out, "memory", text);
    duration_text(p->overhead_ns, one);
    snprintf(text, sizeof text, "%s per computation, included in the costs", one);
    figure(out, "engine", text);
}

static bool print_nodes(app *a, FILE *out, const pb_profiled *p)
{
    static const table_column columns[] = {{"node", false, 0}, {"cost", true, 0}, {"share", true, 0}, {"from", true, 2},
                                           {"to", true, 1},    {"size", true, 0}, {"group", false, 3}};
    const pb_graph *g = p->graph;
    const pb_node *node = ranked(a, g);
    table t;
    table_init(&t, &a->arena, columns, sizeof columns / sizeof *columns);
    t.color = a->color;
    t.width = a->width;
    t.fit = true;
    for (uint32_t i = 0; node && i < g->order_count && i < TOP_ROWS; i++) {
        pb_node v = node[i];
        char cost[FIGURE_ROOM], share[FIGURE_ROOM], low[FIGURE_ROOM], high[FIGURE_ROOM], size[FIGURE_ROOM];
        duration_text(g->cost[v], cost);
        percent_text(g->needed_cost ? (double)g->cost[v] / (double)g->needed_cost : 0, share);
        duration_text(p->time[v].low, low);
        duration_text(p->time[v].high, high);
        pb_quantity_text(g->size[v], "byte", size, sizeof size);
        const char *group = g->group && g->group[v] != UINT32_MAX ? g->group_names[g->group[v]] : "";
        const char *cells[] = {pb_graph_name(g, v), cost, share, low, high, size, group};
        if (!table_row(&t, cells, NULL))
            return false;
    }
    if (!node)
        return false;
    fputs(g->order_count > TOP_ROWS ? "\nthe most expensive nodes:\n" : "\n", out);
    table_print(&t, out);
    return true;
}

static void print_spread(const char *key, const pb_spread *s)
{
    printf(",\"%s\":{\"low\":", key);
    json_u64(stdout, s->low);
    fputs(",\"median\":", stdout);
    json_u64(stdout, s->median);
    fputs(",\"high\":", stdout);
    json_u64(stdout, s->high);
    putchar('}');
}

static void print_json(const workload_spec *spec, const pb_profiled *p)
{
    const pb_graph *g = p->graph;
    fputs("{\"workload\":", stdout);
    json_text(stdout, spec->name);
    fputs(",\"options\":", stdout);
    workload_print_options(spec);
    printf(",\"repeats\":%u", (unsigned)p->repeats);
    print_spread("run_ns", &p->run);
    fputs(",\"overhead_ns\":", stdout);
    json_u64(stdout, p->overhead_ns);
    fputs(",\"peak\":", stdout);
    json_u64(stdout, p->peak);
    fputs(",\"block\":", stdout);
    json_u64(stdout, p->block);
    fputs(",\"nodes\":[", stdout);
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        printf("%s\n{\"name\":", i ? "," : "");
        json_text(stdout, pb_graph_name(g, v));
        fputs(",\"cost\":", stdout);
        json_u64(stdout, g->cost[v]);
        print_spread("kernel_ns", &p->time[v]);
        fputs(",\"size\":", stdout);
        json_u64(stdout, g->size[v]);
        putchar('}');
    }
    puts("]}");
}

static exit_code write_profile(app *a, const pb_graph *g, const char *path)
{
    file_out out;
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    return file_finish(a, &out, pb_graph_write(&a->ctx, g, PB_FORMAT_JSON, file_sink(&out)));
}

static exit_code show(app *a, const workload_spec *spec, const pb_profiled *p)
{
    const char *path = app_option(a, OPT_OUTPUT);
    bool piped = path && strcmp(path, "-") == 0;
    FILE *out = piped ? stderr : stdout;
    exit_code code = path ? write_profile(a, p->graph, path) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    if (app_option(a, OPT_JSON)) {
        print_json(spec, p);
    } else if (!piped || !app_option(a, OPT_QUIET)) {
        print_figures(out, spec, p);
        if (!print_nodes(a, out, p))
            return app_status(a, PB_ENOMEM);
    }
    return EXIT_DONE;
}

exit_code cmd_profile(app *a)
{
    workload_spec spec;
    pb_workload *w = NULL;
    pb_profiled profiled;
    uint64_t repeat;
    const char *path = app_option(a, OPT_OUTPUT);
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one workload, as in pebble profile synthetic:steps=20");
    if (app_option(a, OPT_JSON) && path && strcmp(path, "-") == 0)
        return app_usage(a, "--json and -o - both write to standard output; give -o a file name");
    if (!workload_parse(a, a->opts.positional[0], &spec) || !clock_option(a) || !app_number(a, OPT_REPEAT, 0, &repeat))
        return EXIT_USAGE;
    if (repeat > MAX_REPEATS)
        return app_usage(a, "--repeat: expected at most %d", MAX_REPEATS);
    exit_code code = workload_open(a, &spec, &w);
    if (code != EXIT_DONE)
        return code;
    if (app_option(a, OPT_TIMED_BY)) {
        code = price_graph(a, pb_workload_graph(w));
        pb_workload_close(w);
        return code;
    }
    measuring(a, true);
    pb_status status = pb_profile_workload(&a->ctx, w, (uint32_t)repeat, &a->arena, &profiled);
    measuring(a, false);
    code = status == PB_OK ? show(a, &spec, &profiled) : app_status(a, status);
    pb_workload_close(w);
    if (code == EXIT_DONE && progress_interrupted()) {
        app_note(a, "interrupted: these are the figures of %u run%s", (unsigned)profiled.repeats,
                 profiled.repeats == 1 ? "" : "s");
        return EXIT_INTERRUPTED;
    }
    return code;
}
