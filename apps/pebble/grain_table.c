/* grain_table.c -- pebble compare --grain: what planning larger steps loses, level by level. */
#include "commands.h"
#include "common/figures.h"
#include "common/json_print.h"
#include "grain_option.h"
#include "plain_print.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

enum { MAX_LEVELS = 16 };

typedef struct levels {
    const pb_game *game;
    uint64_t program_peak;
    char name[MAX_LEVELS][120];
    pb_grain_row row[MAX_LEVELS];
    pb_grain_rows rows;
} levels;

static bool read_levels(app *a, levels *all)
{
    static const char every[] = "operation,layer,block,region";
    const char *given = app_option(a, OPT_GRAIN), *text = given;
    if (strncmp(given, "all", 3) == 0 && (!given[3] || given[3] == ',')) {
        size_t room = sizeof every + strlen(given);
        char *list = pb_arena_alloc(&a->arena, room, 1);
        if (!list)
            return app_status(a, PB_ENOMEM), false;
        snprintf(list, room, "%s%s", every, given + 3);
        text = list;
    }
    for (;;) {
        size_t length = strcspn(text, ",");
        uint32_t i = all->rows.count;
        if (i == MAX_LEVELS)
            return app_usage(a, "--grain: more than %d levels; name fewer", MAX_LEVELS), false;
        if (!grain_option(a, all->game->graph, text, length, &all->row[i].grain))
            return false;
        snprintf(all->name[i], sizeof all->name[i], "%.*s", (int)length, text);
        all->rows.count++;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

static void overhead_cell(const pb_plan_result *p, char text[FIGURE_ROOM])
{
    if (p->certificate)
        percent_text(p->schedule.metrics.overhead, text);
    else
        snprintf(text, FIGURE_ROOM, "-");
}

static bool print_level(const levels *all, uint32_t i, table *t)
{
    const pb_grain_row *row = &all->row[i];
    const pb_grained *r = &row->result;
    const pb_graph *g = r->coarse ? r->coarse->graph : all->game->graph;
    bool best = i == all->rows.winner;
    char steps[FIGURE_ROOM], nodes[FIGURE_ROOM], rough[FIGURE_ROOM] = "", expanded[FIGURE_ROOM] = "",
                                                 final[FIGURE_ROOM], peak[FIGURE_ROOM], why[512], time[FIGURE_ROOM],
                                                 rough_time[FIGURE_ROOM] = "";
    if (!row->applies) {
        const char *cells[] = {"", all->name[i], row->why, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
        return table_row(t, cells, NULL);
    }
    pb_quantity_text(r->coarse ? r->coarse->cluster_count : g->needed_count, NULL, steps, sizeof steps);
    pb_quantity_text(g->node_count, NULL, nodes, sizeof nodes);
    if (!r->planned.certificate) {
        pb_result_reason(&r->planned, all->game, why, sizeof why);
        const char *cells[] = {"", all->name[i], steps, nodes, why, NULL, NULL, NULL, NULL, NULL};
        return table_row(t, cells, NULL);
    }
    overhead_cell(&r->planned, final);
    amount_text(r->planned.schedule.metrics.peak, g->size_unit, peak);
    if (r->coarse) {
        overhead_cell(&r->rough, rough);
        overhead_cell(&r->expanded, expanded);
        snprintf(rough_time, sizeof rough_time, "%.2f s", r->coarse_seconds);
    }
    snprintf(time, sizeof time, "%.2f s", row->seconds);
    const char *cells[] = {best ? "*" : "", all->name[i], steps, nodes, rough, expanded, final, peak, rough_time, time};
    return table_row(t, cells, best ? "1" : NULL);
}

static pb_status print_levels(app *a, const levels *all)
{
    static const table_column columns[] = {{"", false, 0},         {"level", false, 0},      {"steps", true, 0},
                                           {"nodes", true, 2},     {"coarse plan", true, 0}, {"expanded", true, 0},
                                           {"improved", true, 0},  {"peak", true, 0},        {"coarse time", true, 1},
                                           {"total time", true, 0}};
    table t;
    char cap[FIGURE_ROOM], peak[FIGURE_ROOM];
    const pb_graph *g = all->game->graph;
    amount_text(all->game->cap, g->size_unit, cap);
    amount_text(all->program_peak, g->size_unit, peak);
    print_line(stdout, "%s: cap %s; peak in program order %s", g->name, all->game->cap == PB_UNLIMITED ? "none" : cap,
               peak);
    puts("extra work of the coarse plan, of that plan on the fine graph, and after the search on the fine graph\n");
    table_init(&t, &a->arena, columns, sizeof columns / sizeof *columns);
    t.color = a->color;
    t.width = a->width;
    t.fit = true;
    for (uint32_t i = 0; i < all->rows.count; i++)
        if (!print_level(all, i, &t))
            return PB_ENOMEM;
    table_print(&t, stdout);
    return PB_OK;
}

static void json_plan(const char *key, const pb_plan_result *p)
{
    printf(",\"%s\":", key);
    if (!p->certificate) {
        fputs("null", stdout);
        return;
    }
    const pb_metrics *m = &p->schedule.metrics;
    printf("{\"outcome\":\"%s\",\"peak\":", pb_outcome_name(p->schedule.outcome));
    json_u64(stdout, m->peak);
    fputs(",\"makespan\":", stdout);
    json_u64(stdout, m->makespan);
    printf(",\"recompute_count\":%llu,\"overhead\":%.9g}", (unsigned long long)m->recompute_count, m->overhead);
}

static void json_levels(const levels *all)
{
    fputs("{\"graph\":", stdout);
    json_text(stdout, all->game->graph->name);
    fputs(",\"cap\":", stdout);
    json_cap(stdout, all->game->cap);
    fputs(",\"winner\":", stdout);
    json_text(stdout, all->rows.winner < all->rows.count ? all->name[all->rows.winner] : NULL);
    fputs(",\"levels\":[", stdout);
    for (uint32_t i = 0; i < all->rows.count; i++) {
        const pb_grain_row *row = &all->row[i];
        const pb_grained *r = &row->result;
        fputs(i ? ",\n{\"level\":" : "\n{\"level\":", stdout);
        json_text(stdout, all->name[i]);
        if (!row->applies) {
            fputs(",\"reason\":", stdout);
            json_text(stdout, row->why);
        } else if (r->coarse) {
            printf(",\"steps\":%u,\"nodes\":%u", (unsigned)r->coarse->cluster_count,
                   (unsigned)r->coarse->graph->node_count);
            json_plan("coarse", &r->rough);
            json_plan("expanded", &r->expanded);
            printf(",\"coarse_seconds\":%.3f", r->coarse_seconds);
        }
        if (row->applies)
            json_plan("plan", &r->planned);
        printf(",\"seconds\":%.3f}", row->seconds);
    }
    puts("]}");
}

exit_code compare_grains(app *a, const pb_game *game, const pb_request *request, uint64_t program_peak)
{
    levels *all = pb_arena_zero(&a->arena, 1, sizeof *all);
    if (!all)
        return app_status(a, PB_ENOMEM);
    all->game = game;
    all->program_peak = program_peak;
    all->rows.row = all->row;
    if (!read_levels(a, all))
        return a->exhausted ? EXIT_FAILED : EXIT_USAGE;
    pb_status status = pb_compare_grains(&a->ctx, game, request, &a->arena, &all->rows);
    if (status == PB_OK && app_option(a, OPT_JSON))
        json_levels(all);
    else if (status == PB_OK)
        status = print_levels(a, all);
    if (status != PB_OK)
        return app_status(a, status);
    return all->rows.winner == UINT32_MAX ? EXIT_NOTHING : EXIT_DONE;
}
