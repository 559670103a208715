/* cmd_tree.c -- pebble tree: a graph as a tree, and what planning the tree instead of the graph costs. */
#include "commands.h"
#include "common/figures.h"
#include "common/json_print.h"
#include "files.h"
#include "settings.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

static bool read_how(app *a, pb_tree_options *o)
{
    const char *by = app_option(a, OPT_TREE_BY);
    o->by = by && strcmp(by, "spanning") == 0 ? PB_TREE_SPANNING : PB_TREE_DUPLICATE;
    if (by && o->by == PB_TREE_DUPLICATE && strcmp(by, "duplicate") != 0)
        return app_usage(a, "--by: expected duplicate or spanning, not `%s`", by), false;
    if (!app_number(a, OPT_TREE_NODES, PB_TREE_NODES, &o->nodes))
        return false;
    if (o->nodes == 0 || o->nodes > PB_MAX_NODES)
        return app_usage(a, "--nodes: expected a number between 1 and %u", PB_MAX_NODES), false;
    return true;
}

/* "12,345", or "about 10^40" */
static void size_text(const pb_tree_size *s, char text[FIGURE_ROOM])
{
    if (s->nodes == UINT64_MAX)
        snprintf(text, FIGURE_ROOM, "about 10^%.0f", s->digits);
    else
        pb_quantity_text(s->nodes, NULL, text, FIGURE_ROOM);
}

static void note_result(app *a, const pb_tree_form *t, const pb_tree_size *size)
{
    char nodes[FIGURE_ROOM], before[FIGURE_ROOM], unfolded[FIGURE_ROOM], number[FIGURE_ROOM];
    pb_quantity_text(t->tree->node_count, NULL, nodes, sizeof nodes);
    pb_quantity_text(t->graph->node_count, NULL, before, sizeof before);
    if (t->copies) {
        pb_quantity_text(t->copies, NULL, number, sizeof number);
        pb_quantity_text(size->most_copies, NULL, unfolded, sizeof unfolded);
        app_note(a, "a tree of %s nodes from a graph of %s: %s copies, %s of %s", nodes, before, number, unfolded,
                 pb_graph_name(t->graph, size->most));
    } else if (t->dropped) {
        pb_quantity_text(t->dropped, NULL, number, sizeof number);
        size_text(size, unfolded);
        app_note(a, "a tree of %s nodes from a graph of %s, without %s of its reads; with copies it has %s nodes",
                 nodes, before, number, unfolded);
    } else {
        app_note(a, "a tree of %s nodes from a graph of %s, without copies: the graph is a tree", nodes, before);
    }
}

static exit_code write_tree(app *a, const pb_tree_form *t)
{
    const char *path = app_option(a, OPT_OUTPUT);
    pb_format format = PB_FORMAT_JSON;
    file_out out;
    if (!graph_format(a, app_option(a, OPT_FORMAT), path, &format))
        return EXIT_USAGE;
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    return file_finish(a, &out, pb_graph_write(&a->ctx, t->tree, format, file_sink(&out)));
}

typedef struct row {
    const char *name, *key;
    const pb_graph *graph;
    const pb_plan_result *plan;
} row;

static bool print_row(table *tab, const row *r, uint64_t needed)
{
    const pb_metrics *m = &r->plan->schedule.metrics;
    char nodes[FIGURE_ROOM], peak[FIGURE_ROOM], work[FIGURE_ROOM], extra[FIGURE_ROOM], strategy[FIGURE_ROOM];
    pb_quantity_text(r->graph->node_count, NULL, nodes, sizeof nodes);
    if (!r->plan->certificate) {
        const char *cells[] = {r->name, nodes, "no plan found", NULL, NULL, NULL};
        return table_row(tab, cells, NULL);
    }
    amount_text(m->peak, r->graph->size_unit, peak);
    cost_text(m->work, r->graph->cost_unit, work);
    percent_text(needed ? (double)m->work / (double)needed - 1 : 0, extra);
    strategy_text(&r->plan->schedule, strategy);
    const char *cells[] = {r->name, nodes, peak, work, extra, r->key[0] == 'c' ? "-" : strategy};
    return table_row(tab, cells, NULL);
}

static bool print_text(app *a, const row rows[3], uint64_t needed)
{
    static const table_column columns[] = {{"", false, 0},    {"nodes", true, 0},      {"peak", true, 0},
                                           {"work", true, 0}, {"extra work", true, 0}, {"strategy", false, 1}};
    table tab;
    table_init(&tab, &a->arena, columns, sizeof columns / sizeof *columns);
    tab.color = a->color;
    tab.width = a->width;
    tab.fit = true;
    for (int i = 0; i < 3; i++)
        if (!print_row(&tab, &rows[i], needed))
            return false;
    table_print(&tab, stdout);
    return true;
}

static void print_json(const row rows[3], const pb_tree_form *t, const pb_tree_size *size)
{
    printf("{\"by\":\"%s\",\"nodes\":%u,\"copies\":%u,\"dropped\":%u,\"unfolded_nodes\":",
           t->dropped ? "spanning" : "duplicate", (unsigned)t->tree->node_count, (unsigned)t->copies,
           (unsigned)t->dropped);
    if (size->nodes == UINT64_MAX)
        fputs("null", stdout);
    else
        json_u64(stdout, size->nodes);
    fputs(",\"unfolded_log10\":", stdout);
    json_double(stdout, size->digits);
    for (int i = 0; i < 3; i++) {
        printf(",\"%s\":", rows[i].key);
        if (!rows[i].plan->certificate) {
            fputs("null", stdout);
            continue;
        }
        fputs("{\"peak\":", stdout);
        json_u64(stdout, rows[i].plan->schedule.metrics.peak);
        fputs(",\"work\":", stdout);
        json_u64(stdout, rows[i].plan->schedule.metrics.work);
        fputs(",\"strategy\":", stdout);
        json_text(stdout, rows[i].plan->schedule.strategy);
        fputs("}", stdout);
    }
    puts("}");
}

static exit_code print_cost(app *a, const pb_tree_form *t, const pb_tree_size *size)
{
    pb_request request = PB_REQUEST_DEFAULT;
    pb_tree_cost cost;
    if (!setting_request(a, &request))
        return EXIT_USAGE;
    progress_planning(&a->progress, true);
    pb_status status = pb_tree_compare(&a->ctx, t, &request, &a->arena, &cost);
    progress_planning(&a->progress, false);
    if (status != PB_OK)
        return app_status(a, status);
    row rows[3] = {{"the tree", "tree", t->tree, &cost.tree},
                   {"its plan on the graph", "carried", t->graph, &cost.carried},
                   {"the graph, in the same memory", "graph", t->graph, &cost.graph}};
    if (app_option(a, OPT_JSON))
        print_json(rows, t, size);
    else if (!print_text(a, rows, t->graph->needed_cost))
        return app_status(a, PB_ENOMEM);
    return EXIT_DONE;
}

exit_code cmd_tree(app *a)
{
    pb_game game = PB_GAME_DEFAULT(NULL);
    pb_tree_options how;
    pb_tree_size size;
    const pb_tree_form *t;
    const char *path = app_option(a, OPT_OUTPUT);
    bool cost = app_option(a, OPT_TREE_COST);
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one graph file, as in pebble tree g.json --by spanning");
    if (cost && path && strcmp(path, "-") == 0)
        return app_usage(a, "-o needs a file name: standard output is already used for the table");
    if (app_option(a, OPT_JSON) && !cost)
        return app_usage(a, "--json is for --cost; the tree itself is written with --format json");
    if (!read_how(a, &how))
        return EXIT_USAGE;
    exit_code code = read_graph(a, a->opts.positional[0], &game.graph);
    if (code == EXIT_DONE)
        code = setting_game(a, &game);
    if (code != EXIT_DONE)
        return code;
    pb_status status = pb_tree_measure(&a->ctx, game.graph, &size);
    if (status == PB_OK)
        status = pb_tree_make(&a->ctx, game.graph, &how, &a->arena, &t);
    if (status == PB_ELIMIT || status == PB_EINVAL)
        return app_fail(a, EXIT_NOTHING, "%s", a->ctx.error.message);
    if (status != PB_OK)
        return app_status(a, status);
    if (path || !cost)
        code = write_tree(a, t);
    note_result(a, t, &size);
    return code == EXIT_DONE && cost ? print_cost(a, t, &size) : code;
}
