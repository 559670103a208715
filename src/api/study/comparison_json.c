/* comparison_json.c -- a comparison and its rows as JSON; see summary.h. */
#include "pebble/summary.h"

#include "plan/strategy.h"
#include "report/metrics_json.h"

/* The move at which the strategy's plan exceeds the cap. */
static void put_failed(pbi_out *out, const pb_plan_result *p, const pb_game *game)
{
    if (p->certificate || !p->failed_need || p->failed_node == PB_NO_NODE) {
        pbi_out_text(out, ",\"failed\":null");
        return;
    }
    pbi_put_u64(out, ",\"failed\":{\"step\":", p->failed_step);
    pbi_put_u64(out, ",\"node\":", p->failed_node);
    pbi_put_text(out, ",\"name\":", pb_graph_name(game->graph, p->failed_node));
    pbi_put_u64(out, ",\"need\":", p->failed_need);
    pbi_put_u64(out, ",\"over\":", p->failed_need - game->cap);
    pbi_out_text(out, p->attempt.count ? ",\"playable\":true}" : ",\"playable\":false}");
}

/* The groups that a comparison can be reduced to. */
static void put_groups(pbi_out *out, const pb_plan_result *p)
{
    const pb_strategy *row = p->asked ? pb_strategy_find(p->asked) : NULL;
    const char *comma = "";
    uint32_t count;
    const pb_group *groups = pb_groups(&count);
    pbi_out_text(out, ",\"groups\":[");
    for (uint32_t i = 0; i < count; i++)
        if (row && pb_group_has(groups[i].name, row)) {
            pbi_out_text(out, comma);
            pbi_put_text(out, "", groups[i].name);
            comma = ",";
        }
    pbi_out_char(out, ']');
}

static void put_row(pbi_out *out, const pb_plan_result *p, const pb_game *base)
{
    const pb_schedule *s = &p->schedule;
    char reason[512];
    pbi_put_text(out, "\"strategy\":", s->strategy);
    pbi_put_text(out, ",\"game\":", pb_game_kind_name(s->game));
    pbi_put_text(out, ",\"outcome\":", pb_outcome_name(s->outcome));
    if (!p->certificate)
        pb_result_reason(p, p->game ? p->game : base, reason, sizeof reason);
    pbi_put_text(out, ",\"reason\":", p->certificate ? s->reason : reason);
    pbi_out_text(out, ",\"metrics\":");
    if (p->certificate)
        pbi_put_metrics(out, &s->metrics, &s->weights);
    else
        pbi_out_text(out, "null");
    pbi_put_lanes(out, p->certificate);
    if (s->bound_kind == PB_BOUND_NONE)
        pbi_out_text(out, ",\"lower_bound\":null");
    else
        pbi_put_u64(out, ",\"lower_bound\":", s->lower_bound);
    pbi_put_share(out, ",\"gap\":", p->certificate ? s->metrics.gap : -1);
    pbi_put_share(out, ",\"seconds\":", p->seconds);
    pbi_put_text(out, ",\"bound_kind\":", pb_bound_kind_name(s->bound_kind));
    pbi_put_text(out, ",\"note\":", s->note);
    pbi_put_text(out, ",\"policy\":", s->policy);
    if (s->priorities)
        pbi_put_u64(out, ",\"priorities\":", s->priorities);
    pbi_out_text(out, ",\"options\":{");
    for (uint32_t i = 0; i < s->option_count; i++) {
        pbi_put_text(out, i ? "," : "", s->options[i].key);
        pbi_put_text(out, ":", s->options[i].value);
    }
    pbi_out_char(out, '}');
    pbi_put_text(out, ",\"title\":", pb_row_title(p));
    put_groups(out, p);
    if (p->certificate)
        pbi_put_u64(out, ",\"operations\":", pb_operation_count(&s->moves));
    else
        pbi_out_text(out, ",\"operations\":null");
    put_failed(out, p, p->game ? p->game : base);
}

pb_status pb_row_json_write(pb_context *ctx, const pb_plan_result *p, const pb_game *base, pb_sink sink)
{
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    put_row(&out, p, base);
    return pbi_out_finish(&out);
}

static void put_place(pbi_out *out, const pb_plan_result *p, const pb_front *front)
{
    const pb_metrics *m = &p->schedule.metrics;
    const pb_front_point *point = pb_front_at(front, m->peak);
    pbi_put_text(out, "{\"strategy\":", p->schedule.strategy);
    pbi_put_u64(out, ",\"peak\":", m->peak);
    pbi_put_u64(out, ",\"work\":", m->work);
    pbi_put_cap(out, ",\"least_work\":", point ? point->work : PB_UNLIMITED);
    if (point && point->work)
        pbi_put_share(out, ",\"above\":", (double)(m->work - point->work) / (double)point->work);
    else
        pbi_out_text(out, point && !m->work ? ",\"above\":0" : ",\"above\":null");
    pbi_out_text(out, point && pb_front_is_point(p, point) ? ",\"on_front\":true}" : ",\"on_front\":false}");
}

/* An object, or null. */
static void put_front(pbi_out *out, const pb_comparison *rows, const pb_front_view *view)
{
    const pb_front *front = view ? &view->front : NULL;
    const char *comma = "";
    if (!front || !front->count || !pb_front_matters(rows)) {
        pbi_out_text(out, "null");
        return;
    }
    pbi_out_text(out, front->complete ? "{\"complete\":true" : "{\"complete\":false");
    pbi_put_u64(out, ",\"settled_from\":", front->complete ? 0 : front->settled_from);
    pbi_out_text(out, ",\"points\":[");
    for (uint32_t i = 0; i < front->count; i++) {
        pbi_put_u64(out, i ? ",{\"peak\":" : "{\"peak\":", front->point[i].peak);
        pbi_put_u64(out, ",\"work\":", front->point[i].work);
        pbi_put_u64(out, ",\"moves\":", front->point[i].moves);
        pbi_put_cap(out, ",\"bennett\":", view->bennett[i]); /* null: it does not fit */
        pbi_out_char(out, '}');
    }
    pbi_out_text(out, "],\"strategies\":[");
    for (uint32_t i = 0; i < rows->row_count; i++) {
        const pb_plan_result *p = &rows->rows[i];
        if (!p->certificate || p->schedule.game != PB_GAME_REVERSIBLE)
            continue;
        pbi_out_text(out, comma);
        put_place(out, p, front);
        comma = ",";
    }
    pbi_out_text(out, "]}");
}

/* The smallest caps of the games without a plan. */
static void put_least(pbi_out *out, const pb_comparison *rows)
{
    pbi_out_text(out, ",\"least_caps\":[");
    for (uint32_t i = 0; i < rows->least_count; i++) {
        const pb_least_fact *l = rows->least[i];
        pbi_put_text(out, i ? ",{\"game\":" : "{\"game\":", pb_game_kind_name(l->kind));
        pbi_put_u64(out, ",\"proved_cap\":", l->bounds.least_cap);
        pbi_put_cap(out, ",\"known_cap\":", l->known ? l->cap : PB_UNLIMITED);
        pbi_put_text(out, ",\"strategy\":", l->strategy);
        pbi_out_char(out, '}');
    }
    pbi_out_char(out, ']');
}

/* The lines of the table: which rows they show, and the title. */
static void put_view(pbi_out *out, const pb_view *view)
{
    pbi_out_text(out, ",\n\"table\":[");
    for (uint32_t i = 0; i < view->count; i++) {
        const pb_view_line *line = &view->lines[i];
        pbi_out_text(out, i ? ",\n{\"titles\":[" : "\n{\"titles\":[");
        for (uint32_t k = 0; k < line->count; k++)
            pbi_put_text(out, k ? "," : "", line->titles[k]);
        pbi_out_text(out, "],\"rows\":[");
        for (uint32_t k = 0; k < line->count; k++)
            pbi_put_u64(out, k ? "," : "", line->rows[k]);
        pbi_out_text(out, "]}");
    }
    pbi_out_text(out, "\n]");
}

pb_status pb_comparison_json_write(pb_context *ctx, const pb_game *base, uint64_t program_peak,
                                   const pb_comparison *rows, const pb_front_view *view, pb_sink sink)
{
    const pb_schedule *winner = rows->winner == UINT32_MAX ? NULL : &rows->rows[rows->winner].schedule;
    pb_arena arena;
    pb_view lines;
    pbi_out out;
    pb_arena_init(&arena, ctx);
    pb_status status = pb_view_make(ctx, rows, rows->listed, &arena, &lines);
    if (status != PB_OK) {
        pb_arena_release(&arena);
        return status;
    }
    pbi_out_init(&out, ctx, sink);
    pbi_put_text(&out, "{\"graph\":", base->graph->name);
    pbi_put_cap(&out, ",\"cap\":", base->cap);
    if (base->borrow)
        pbi_put_u64(&out, ",\"borrow\":", base->borrow);
    pbi_put_weights(&out, ",\"weights\":", &base->weights);
    pbi_put_text(&out, ",\"winner\":", winner ? winner->strategy : NULL);
    pbi_put_text(&out, ",\"winner_game\":", winner ? pb_game_kind_name(winner->game) : NULL);
    pbi_put_u64(&out, ",\"written_peak\":", program_peak);
    pbi_put_text(&out, ",\"policy\":", rows->policy);
    put_least(&out, rows);
    pbi_out_text(&out, ",\"strategies\":[");
    for (uint32_t i = 0; i < rows->row_count; i++) {
        pbi_out_text(&out, i ? ",\n{" : "\n{");
        put_row(&out, &rows->rows[i], base);
        pbi_out_char(&out, '}');
    }
    pbi_out_text(&out, "\n]");
    put_view(&out, &lines);
    pbi_out_text(&out, ",\n\"reversible_front\":");
    put_front(&out, rows, view);
    pbi_out_text(&out, "}\n");
    pb_arena_release(&arena);
    return pbi_out_finish(&out);
}
