/* cmd_info.c -- pebble info: what is in a graph, and the smallest caps. */
#include "commands.h"
#include "common/figures.h"
#include "common/row_json.h"
#include "files.h"
#include "plain_print.h"
#include "settings.h"
#include "step_print.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

static exit_code find_all(app *a, const pb_graph *g, pb_info *f)
{
    pb_game game = PB_GAME_DEFAULT(g);
    pb_request request = PB_REQUEST_DEFAULT;
    exit_code code = setting_game(a, &game);
    if (code != EXIT_DONE)
        return code;
    if (!setting_request(a, &request))
        return EXIT_USAGE;
    unsigned games = setting_games(a, &game);
    pb_status made = pb_info_make(&a->ctx, game.graph, f);
    if (made == PB_OK && game.graph->priced_by)
        made = pb_step_report_make(&a->ctx, game.graph, &a->arena, &f->step);
    if (made != PB_OK)
        return app_status(a, made);
    game.cap = PB_UNLIMITED;
    for (unsigned bit = PB_GAME_REMAT; bit <= PB_GAME_TIMED; bit *= 2) {
        if (!(games & bit))
            continue;
        game.kind = (pb_game_kind)bit;
        progress_planning(&a->progress, true);
        pb_status status = pb_info_add_game(&a->ctx, &game, &request, &a->arena, f);
        progress_planning(&a->progress, false);
        if (status != PB_OK)
            return app_status(a, status);
    }
    return EXIT_DONE;
}

static void fact(const char *name, const char *value) { print_line(stdout, "  %-22s %s", name, value); }

static void print_shape(const pb_info *f)
{
    const pb_graph *g = f->g;
    char text[256], number[96];
    snprintf(text, sizeof text, "%s, depth %u", pb_shape_name(g->shape), (unsigned)g->max_depth);
    fact("shape", text);
    snprintf(text, sizeof text, "%u%s", (unsigned)g->target_count, g->targets_named ? "" : ", every sink");
    fact("targets", text);
    if (f->given || f->keep || f->once || f->byproducts) {
        snprintf(text, sizeof text, "%u given, %u to keep, %u that may be computed only once, %u by-products",
                 (unsigned)f->given, (unsigned)f->keep, (unsigned)f->once, (unsigned)f->byproducts);
        fact("special", text);
    }
    pb_amount_text(g->needed_cost, g->cost_unit, number, sizeof number);
    snprintf(text, sizeof text, "%s, for the %u nodes that the targets need", number, (unsigned)g->needed_count);
    fact("cost", text);
    pb_amount_text(g->total_size, g->size_unit, number, sizeof number);
    int used = snprintf(text, sizeof text, "%s in total", number);
    if (f->largest_at != PB_NO_NODE) {
        pb_amount_text(f->largest, g->size_unit, number, sizeof number);
        used += snprintf(text + used, sizeof text - (size_t)used, ", the largest %s (%.60s)", number,
                         pb_graph_name(g, f->largest_at));
    }
    if (g->fixed_size) {
        pb_amount_text(g->fixed_size, g->size_unit, number, sizeof number);
        snprintf(text + used, sizeof text - (size_t)used, ", %s always in use", number);
    }
    fact("sizes", text);
    pb_amount_text(f->program_peak, g->size_unit, number, sizeof number);
    snprintf(text, sizeof text, "%s (this is --cap 100%%)", number);
    fact("peak in program order", text);
}

static void why_text(const pb_info *f, const pb_least_fact *l, char *text, size_t room)
{
    if (l->bounds.least_at != PB_NO_NODE)
        snprintf(text, room, "%s of %.40s", l->bounds.least_why, pb_graph_name(f->g, l->bounds.least_at));
    else
        snprintf(text, room, "%s", l->bounds.least_why ? l->bounds.least_why : "");
}

static void share_text(const pb_info *f, uint64_t cap, char *text, size_t room)
{
    char share[FIGURE_ROOM] = "";
    if (f->program_peak && cap / 10 >= f->program_peak)
        percent_text((double)cap / (double)f->program_peak, share);
    else if (f->program_peak)
        snprintf(share, sizeof share, "%.1f %%", 100.0 * (double)cap / (double)f->program_peak);
    snprintf(text, room, "%s", share);
}

static pb_status print_text(app *a, const pb_info *f)
{
    static const table_column columns[] = {{"game", false, 0},       {"lower bound", true, 0},
                                           {"limited by", false, 1}, {"smallest known plan", true, 0},
                                           {"% of peak", true, 2},   {"strategy", false, 0}};
    const pb_graph *g = f->g;
    char nodes[32], edges[32];
    pb_quantity_text(g->node_count, NULL, nodes, sizeof nodes);
    pb_quantity_text(g->edge_count, NULL, edges, sizeof edges);
    fputs(a->color ? "\033[1m" : "", stdout);
    print_plain(stdout, g->name[0] ? g->name : "graph");
    printf("%s: %s nodes, %s edges\n", a->color ? "\033[0m" : "", nodes, edges);
    print_shape(f);
    putchar('\n');
    if (f->step.machine && print_step(a, g, &f->step) != PB_OK)
        return PB_ENOMEM;
    table t;
    table_init(&t, &a->arena, columns, 6);
    t.color = a->color;
    t.width = a->width;
    t.fit = a->terminal;
    for (int i = 0; i < f->game_count; i++) {
        const pb_least_fact *l = &f->games[i];
        char proved[96], why[128], cap[96], share[32];
        pb_amount_text(l->bounds.least_cap, g->size_unit, proved, sizeof proved);
        why_text(f, l, why, sizeof why);
        pb_amount_text(l->cap, g->size_unit, cap, sizeof cap);
        share_text(f, l->cap, share, sizeof share);
        const char *cells[] = {pb_game_kind_name(l->kind), proved, why, cap, share, l->strategy};
        if (l->bounds.impossible) {
            snprintf(why, sizeof why, "no plan at any cap: %.60s can never be computed",
                     pb_graph_name(g, l->bounds.impossible_at));
            cells[1] = why;
            cells[2] = NULL;
        } else if (!l->known) {
            cells[3] = "?";
            cells[4] = "";
            cells[5] = l->reason ? l->reason : "not found in time; allow a longer --time";
        }
        if (!table_row(&t, cells, NULL))
            return PB_ENOMEM;
    }
    table_print(&t, stdout);
    return PB_OK;
}

static void print_json(const pb_info *f)
{
    putchar('{');
    json_info_fields(stdout, f);
    puts("}");
}

exit_code cmd_info(app *a)
{
    const pb_graph *g;
    pb_info f;
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one graph file, as in pebble info g.json");
    exit_code code = read_graph(a, a->opts.positional[0], &g);
    if (code != EXIT_DONE)
        return code;
    code = find_all(a, g, &f);
    if (code != EXIT_DONE)
        return code;
    pb_status status;
    if (app_option(a, OPT_JSON))
        print_json(&f);
    else if ((status = print_text(a, &f)) != PB_OK)
        return app_status(a, status);
    return progress_interrupted() ? EXIT_INTERRUPTED : EXIT_DONE;
}
