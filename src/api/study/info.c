/* info.c -- the content of a graph, and its smallest caps; see summary.h. */
#include "pebble/summary.h"

#include "api/study/step_report.h"
#include "report/metrics_json.h"

pb_status pb_info_make(pb_context *ctx, const pb_graph *g, pb_info *out)
{
    pb_info f = {.g = g, .largest_at = PB_NO_NODE};
    for (pb_node v = 0; v < g->node_count; v++) {
        if (f.largest_at == PB_NO_NODE || g->size[v] > f.largest) {
            f.largest = g->size[v];
            f.largest_at = v;
        }
        f.given += (g->flags[v] & PB_NODE_GIVEN) != 0;
        f.byproducts += (g->flags[v] & PB_NODE_BYPRODUCT) != 0;
        f.once += (g->flags[v] & PB_NODE_ONCE) != 0;
        f.keep += (g->flags[v] & PB_NODE_KEEP) != 0;
    }
    pb_status status = pb_graph_program_peak(ctx, g, &f.program_peak);
    if (status == PB_OK)
        *out = f;
    return status;
}

pb_status pb_info_add_game(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_info *info)
{
    return pb_least_fact_find(ctx, game, request, result, &info->games[info->game_count++]);
}

static const char *name_of(const pb_graph *g, pb_node v) { return v == PB_NO_NODE ? NULL : pb_graph_name(g, v); }

static void put_games(pbi_out *out, const pb_info *f)
{
    pbi_out_text(out, ",\"games\":[");
    for (int i = 0; i < f->game_count; i++) {
        const pb_least_fact *l = &f->games[i];
        pbi_put_text(out, i ? ",{\"game\":" : "{\"game\":", pb_game_kind_name(l->kind));
        pbi_out_text(out, l->bounds.impossible ? ",\"impossible\":true" : ",\"impossible\":false");
        pbi_put_u64(out, ",\"proved_cap\":", l->bounds.least_cap);
        pbi_put_text(out, ",\"proved_by\":", l->bounds.least_why);
        pbi_put_text(out, ",\"proved_at\":", name_of(f->g, l->bounds.least_at));
        pbi_put_cap(out, ",\"known_cap\":", l->known ? l->cap : PB_UNLIMITED);
        pbi_put_text(out, ",\"strategy\":", l->strategy);
        pbi_out_char(out, '}');
    }
    pbi_out_char(out, ']');
}

pb_status pb_info_json_write(pb_context *ctx, const pb_info *f, pb_sink sink)
{
    const pb_graph *g = f->g;
    pbi_out out;
    pbi_out_init(&out, ctx, sink);
    pbi_put_text(&out, "\"graph\":", g->name);
    pbi_put_u64(&out, ",\"nodes\":", g->node_count);
    pbi_put_u64(&out, ",\"edges\":", g->edge_count);
    pbi_put_text(&out, ",\"shape\":", pb_shape_name(g->shape));
    pbi_put_u64(&out, ",\"depth\":", g->max_depth);
    pbi_put_u64(&out, ",\"targets\":", g->target_count);
    pbi_put_u64(&out, ",\"given\":", f->given);
    pbi_put_u64(&out, ",\"needed_nodes\":", g->needed_count);
    pbi_put_text(&out, ",\"cost_unit\":", g->cost_unit);
    pbi_put_text(&out, ",\"size_unit\":", g->size_unit);
    pbi_put_u64(&out, ",\"needed_cost\":", g->needed_cost);
    pbi_put_u64(&out, ",\"total_size\":", g->total_size);
    pbi_put_u64(&out, ",\"fixed_size\":", g->fixed_size);
    pbi_put_u64(&out, ",\"largest_size\":", f->largest);
    pbi_put_text(&out, ",\"largest_node\":", name_of(g, f->largest_at));
    pbi_put_u64(&out, ",\"written_peak\":", f->program_peak);
    if (f->step.machine)
        pbi_step_json(&out, g, &f->step);
    put_games(&out, f);
    return pbi_out_finish(&out);
}
