/* many.c -- comparisons, sweeps and infos for other languages; see bindings.h. */
#include "api/session/session.h"

#include "base/context.h"
#include "pebble/report.h"
#include "pebble/summary.h"

#include <string.h>

enum { DEFAULT_POINTS = 20 };

/* A comparison, and what its document contains in addition to the rows. */
typedef struct contest {
    pb_comparison rows; /* must be first: a pointer to it is also a pointer to the contest */
    pb_game base;
    pb_front_view front;
    uint64_t program_peak;
} contest;

static pb_status run_contest(pb_session *s, const pb_graph *g, contest *c)
{
    pb_request request;
    pb_event_handler handler;
    pb_status status = pbi_take_game(s, g, &c->base);
    if (status == PB_OK)
        status = pbi_take_request(s, &request, &handler);
    if (status == PB_OK)
        status = pb_graph_program_peak(&s->ctx, g, &c->program_peak);
    if (status != PB_OK)
        return status;
    request.prove = request.find_least = request.attempts = true;
    pb_compare_request compare = {.strategies = request.strategy, .plan = request};
    compare.games = pb_settings_games(&s->settings, &c->base);
    if (compare.games & PB_GAME_REVERSIBLE)
        status = pb_front_view_make(&s->ctx, c->base.graph, s->left_ns, &s->arena, &c->front);
    if (status == PB_OK)
        status = pb_compare(&s->ctx, &c->base, &compare, &s->arena, &c->rows);
    return status;
}

pb_status pb_session_compare(pb_session *s, const pb_graph *g, const pb_comparison **out)
{
    if (!s)
        return PB_EINVAL;
    contest *c = pb_arena_zero(&s->arena, 1, sizeof *c);
    pb_status status = c ? pbi_session_begin(s) : PB_ENOMEM;
    if (status == PB_OK)
        status = run_contest(s, g, c);
    if (status == PB_OK)
        *out = &c->rows;
    return pbi_session_finish(s, status);
}

pb_status pb_session_write_comparison(pb_session *s, const pb_comparison *rows)
{
    if (!s)
        return PB_EINVAL;
    const contest *c = (const contest *)rows;
    return pbi_session_end(
        s, pb_comparison_json_write(&s->ctx, &c->base, c->program_peak, &c->rows, &c->front, pbi_session_write(s)));
}

uint64_t pb_comparison_row_count(const pb_comparison *c) { return c->row_count; }

const pb_plan_result *pb_comparison_row(const pb_comparison *c, uint64_t row)
{
    return row < c->row_count ? &c->rows[row] : NULL;
}

/* ---- sweeps ---- */

static pb_status run_sweep(pb_session *s, const pb_graph *g, pb_sweep *out)
{
    pb_sweep_request request = {.game = 0};
    pb_event_handler handler;
    pb_game base;
    pb_weights *weights = NULL;
    uint64_t points;
    pb_status status = pbi_take_game(s, g, &base);
    if (status == PB_OK)
        status = pbi_take_request(s, &request.plan, &handler);
    if (status == PB_OK)
        status = pbi_session_name(
            s, pb_settings_weights(&s->ctx, &s->settings, base.graph, &s->arena, &weights, &request.weights_count));
    if (status == PB_OK)
        status = pbi_take_number(s, PB_SET_points, DEFAULT_POINTS, PB_SWEEP_MAX_CAPS, &points);
    if (status != PB_OK)
        return status;
    request.weights = weights;
    request.strategies = request.plan.strategy;
    request.plan.strategy = NULL;
    request.game = s->settings.text[PB_SET_game] ? (unsigned)base.kind : 0;
    request.time_ns = s->left_ns;
    uint64_t begin = s->ctx.clock_ns(NULL);
    status = pb_sweep_choose_caps(&s->ctx, &base, s->settings.text[PB_SET_caps], (uint32_t)points, &s->arena, &request);
    uint64_t spent = s->ctx.clock_ns(NULL) - begin;
    if (status != PB_OK)
        return status;
    request.time_ns = !s->left_ns ? 0 : spent < s->left_ns ? s->left_ns - spent : 1;
    request.plan.prove = true;
    request.plan.time_ns = 0; /* each cell gets its share */
    return pb_sweep_make(&s->ctx, &base, &request, &s->arena, out);
}

pb_status pb_session_sweep(pb_session *s, const pb_graph *g, const pb_sweep **out)
{
    if (!s)
        return PB_EINVAL;
    pb_sweep *sweep = pb_arena_zero(&s->arena, 1, sizeof *sweep);
    pb_status status = sweep ? pbi_session_begin(s) : PB_ENOMEM;
    if (status == PB_OK)
        status = run_sweep(s, g, sweep);
    if (status == PB_OK)
        *out = sweep;
    return pbi_session_finish(s, status);
}

pb_status pb_session_write_sweep(pb_session *s, const pb_sweep *sweep, const char *form)
{
    if (!s)
        return PB_EINVAL;
    pb_status status;
    if (strcmp(form, "json") == 0)
        status = pb_sweep_json_write(&s->ctx, &sweep, 1, pbi_session_write(s));
    else if (strcmp(form, "csv") == 0)
        status = pb_sweep_csv_write(&s->ctx, sweep, true, pbi_session_write(s));
    else if (strcmp(form, "svg") == 0)
        status = pb_sweep_svg_write(&s->ctx, &sweep, 1, pbi_session_write(s));
    else
        status = pbi_fail(&s->ctx, PB_EINVAL, "a sweep can be written as json, csv or svg; choose one of them");
    return pbi_session_end(s, status);
}

pb_status pb_session_cell(pb_session *s, const pb_sweep *sweep, uint64_t cell, const pb_plan_result **out)
{
    if (!s)
        return PB_EINVAL;
    if (cell >= sweep->cell_count)
        return pbi_session_end(s, pbi_fail(&s->ctx, PB_EINVAL, "the sweep has no cell %llu; cells count from 0",
                                           (unsigned long long)cell));
    const pb_sweep_cell *c = &sweep->cells[cell];
    pb_plan_result *p = pb_arena_zero(&s->arena, 1, sizeof *p);
    if (!p)
        return pbi_session_end(s, PB_ENOMEM);
    *p = (pb_plan_result){.schedule = c->schedule,
                          .asked = sweep->lines[pb_sweep_line_of(sweep, (uint32_t)cell)].spec,
                          .game = c->game,
                          .certificate = c->certificate,
                          .failed_step = UINT64_MAX,
                          .failed_node = PB_NO_NODE,
                          .seconds = c->seconds};
    *out = c->present ? p : NULL;
    return PB_OK;
}

/* ---- infos ---- */

static pb_status run_info(pb_session *s, const pb_graph *g, pb_info *info)
{
    pb_request request;
    pb_event_handler handler;
    pb_game game;
    pb_status status = pbi_take_game(s, g, &game);
    if (status == PB_OK)
        status = pbi_take_request(s, &request, &handler);
    if (status == PB_OK)
        status = pb_info_make(&s->ctx, game.graph, info);
    if (status == PB_OK && game.graph->priced_by)
        status = pb_step_report_make(&s->ctx, game.graph, &s->arena, &info->step);
    unsigned games = status == PB_OK ? pb_settings_games(&s->settings, &game) : 0;
    request.strategy = NULL;
    game.cap = PB_UNLIMITED;
    for (unsigned bit = PB_GAME_REMAT; bit <= PB_GAME_TIMED && status == PB_OK; bit *= 2) {
        game.kind = (pb_game_kind)bit;
        if (games & bit)
            status = pb_info_add_game(&s->ctx, &game, &request, &s->arena, info);
    }
    return status;
}

pb_status pb_session_info(pb_session *s, const pb_graph *g)
{
    if (!s)
        return PB_EINVAL;
    pb_info info;
    pb_status status = pbi_session_begin(s);
    if (status == PB_OK)
        status = run_info(s, g, &info);
    pb_sink sink = pbi_session_write(s);
    if (status == PB_OK)
        status = sink.write(sink.state, "{", 1);
    if (status == PB_OK)
        status = pb_info_json_write(&s->ctx, &info, sink);
    if (status == PB_OK)
        status = sink.write(sink.state, "}\n", 2);
    return pbi_session_finish(s, status);
}
