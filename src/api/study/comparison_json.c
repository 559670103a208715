/* comparison_json.c -- a comparison and its rows as JSON; see summary.h. */
#include "pebble/summary.h"

#include "report/metrics_json.h"

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
    if (s->bound_kind == PB_BOUND_NONE)
        pbi_out_text(out, ",\"lower_bound\":null");
    else
        pbi_put_u64(out, ",\"lower_bound\":", s->lower_bound);
    pbi_put_share(out, ",\"gap\":", p->certificate ? s->metrics.gap : -1);
    pbi_put_share(out, ",\"seconds\":", p->seconds);
    pbi_put_text(out, ",\"bound_kind\":", pb_bound_kind_name(s->bound_kind));
    pbi_put_text(out, ",\"note\":", s->note);
    pbi_put_text(out, ",\"policy\":", s->policy);
    pbi_out_text(out, ",\"options\":{");
    for (uint32_t i = 0; i < s->option_count; i++) {
        pbi_put_text(out, i ? "," : "", s->options[i].key);
        pbi_put_text(out, ":", s->options[i].value);
    }
    pbi_out_char(out, '}');
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

pb_status pb_comparison_json_write(pb_context *ctx, const pb_game *base, uint64_t program_peak,
                                   const pb_comparison *rows, const pb_front_view *view, pb_sink sink)
{
    const pb_schedule *winner = rows->winner == UINT32_MAX ? NULL : &rows->rows[rows->winner].schedule;
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    pbi_put_text(&out, "{\"graph\":", base->graph->name);
    pbi_put_cap(&out, ",\"cap\":", base->cap);
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
    pbi_out_text(&out, "\n],\"reversible_front\":");
    put_front(&out, rows, view);
    pbi_out_text(&out, "}\n");
    return pbi_out_finish(&out);
}
