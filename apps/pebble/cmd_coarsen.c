/* cmd_coarsen.c -- pebble coarsen: a graph with fewer, larger steps, and its plans on the fine graph. */
#include "commands.h"
#include "common/figures.h"
#include "files.h"
#include "grain_option.h"
#include "settings.h"

#include <stdio.h>
#include <string.h>

/* Standard error: standard output may have the graph. */
static exit_code note_result(app *a, const pb_coarse *c)
{
    uint64_t fine, coarse;
    char one[FIGURE_ROOM], two[FIGURE_ROOM], nodes[FIGURE_ROOM], steps[FIGURE_ROOM], before[FIGURE_ROOM];
    pb_status status = pb_graph_program_peak(&a->ctx, c->fine, &fine);
    if (status == PB_OK)
        status = pb_graph_program_peak(&a->ctx, c->graph, &coarse);
    if (status != PB_OK)
        return app_status(a, status);
    amount_text(fine, c->fine->size_unit, one);
    amount_text(coarse, c->graph->size_unit, two);
    pb_quantity_text(c->graph->node_count, NULL, nodes, sizeof nodes);
    pb_quantity_text(c->cluster_count, NULL, steps, sizeof steps);
    pb_quantity_text(c->member_start[c->cluster_count], NULL, before, sizeof before);
    app_note(a, "%s computations in %s step%s (%s nodes, %u edges); peak in program order %s, before %s", before, steps,
             c->cluster_count == 1 ? "" : "s", nodes, (unsigned)c->graph->edge_count, two, one);
    return EXIT_DONE;
}

static exit_code write_coarse(app *a, const pb_coarse *c)
{
    const char *path = app_option(a, OPT_OUTPUT);
    pb_format format = PB_FORMAT_JSON;
    file_out out;
    if (!graph_format(a, app_option(a, OPT_FORMAT), path, &format))
        return EXIT_USAGE;
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    exit_code code = file_finish(a, &out, pb_graph_write(&a->ctx, c->graph, format, file_sink(&out)));
    return code == EXIT_DONE ? note_result(a, c) : code;
}

/* --expand: a schedule of the coarse graph as a schedule of the fine one. */
static exit_code expand(app *a, const pb_game *game, const pb_coarse *c, const char *path)
{
    pb_schedule coarse;
    pb_judgement judged;
    pb_plan_result fine;
    pb_game open = *game;
    char one[FIGURE_ROOM], two[FIGURE_ROOM];
    exit_code code = read_schedule(a, path, c->graph, &coarse);
    if (code != EXIT_DONE)
        return code;
    pb_status status = pb_judge_all(&a->ctx, c->graph, &coarse, false, &a->arena, &judged);
    if (status != PB_OK)
        return app_status(a, status);
    if (judged.failure == PB_FAILURE_GRAPH)
        return app_fail(a, EXIT_ILLEGAL,
                        "%s: it was made for another graph; give --by, --nodes and --small as they "
                        "were when that graph was coarsened",
                        path);
    if (judged.failure != PB_FAILURE_NONE)
        return app_fail(a, EXIT_ILLEGAL, "%s: %s", path, judged.message);
    open.cap = coarse.cap;
    status = pb_coarse_expand(&a->ctx, &open, c, &coarse.moves, &a->arena, &fine);
    if (status == PB_EINVAL)
        return app_fail(a, EXIT_INPUT, "%s: %s", path, a->ctx.error.message);
    if (status != PB_OK || !fine.certificate)
        return app_status(a, status == PB_OK ? PB_EBUG : status);
    amount_text(fine.schedule.metrics.peak, game->graph->size_unit, one);
    amount_text(coarse.metrics.peak, game->graph->size_unit, two);
    app_note(a, "expanded: peak %s (coarse %s), %llu recomputations; pebble plan --start searches on from it", one, two,
             (unsigned long long)fine.schedule.metrics.recompute_count);
    return write_schedule(a, &fine.schedule, app_option(a, OPT_OUTPUT));
}

exit_code cmd_coarsen(app *a)
{
    pb_game game = PB_GAME_DEFAULT(NULL);
    pb_coarsen_options how;
    const pb_coarse *c;
    const char *plan = app_option(a, OPT_EXPAND);
    if (a->opts.positional_count != 1)
        return app_usage(a, "expected one graph file, as in pebble coarsen g.json --by block");
    exit_code code = read_graph(a, a->opts.positional[0], &game.graph);
    if (code == EXIT_DONE)
        code = setting_game(a, &game);
    if (code != EXIT_DONE)
        return code;
    if (!coarsen_options(a, game.graph, &how))
        return EXIT_USAGE;
    pb_status status = pb_coarsen(&a->ctx, game.graph, &how, &a->arena, &c);
    if (status == PB_EINVAL)
        return app_usage(a, "%s", a->ctx.error.message);
    if (status != PB_OK)
        return app_status(a, status);
    return plan ? expand(a, &game, c, plan) : write_coarse(a, c);
}
