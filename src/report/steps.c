/* steps.c -- the moves of a plan one by one, as CSV and as JSON. */
#include "pebble/report.h"

#include "base/out.h"
#include "report/phases.h"
#include "report/timed_walk.h"
#include "report/walk.h"

#include <string.h>

/* RFC 4180: quoted if the text contains a comma, a quote or a line break. */
static void csv_text(pbi_out *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        pbi_out_text(out, text);
        return;
    }
    pbi_out_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            pbi_out_char(out, '"');
        pbi_out_char(out, *text);
    }
    pbi_out_char(out, '"');
}

static void csv_row(pbi_out *out, const pbi_walk *w)
{
    char flux[PB_U128_TEXT];
    pbi_out_u64(out, w->step);
    pbi_out_format(out, ",%s,%u,", pb_op_name((pb_op)w->move.op), (unsigned)w->move.node);
    csv_text(out, pb_graph_name(w->graph, w->move.node));
    pbi_out_char(out, ',');
    if (w->move.tier)
        pbi_out_u64(out, w->move.tier);
    else if (w->move.flags & PB_MOVE_BORROW)
        pbi_out_text(out, "borrow");
    else if (w->move.by)
        pbi_out_format(out, "recipe %u", (unsigned)w->move.by);
    pbi_out_char(out, ',');
    pbi_out_u64(out, w->cost);
    pbi_out_char(out, ',');
    pbi_out_u64(out, w->during);
    pbi_out_char(out, ',');
    pbi_out_u64(out, w->after);
    pbi_out_char(out, ',');
    pbi_out_u64(out, w->work);
    pbi_out_char(out, ',');
    pbi_out_bytes(out, flux, pb_u128_text(w->flux, flux));
    pbi_out_char(out, '\n');
}

pb_status pb_steps_csv_write(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    if (pb_certificate_game(c)->kind == PB_GAME_TIMED)
        return pbi_timed_csv(ctx, c, sink);
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_walk w;
    pb_status status = pbi_walk_init(&w, c, &scratch);
    if (status == PB_OK) {
        pbi_out out;
        pbi_out_init(&out, ctx, sink);
        pbi_out_text(&out, "step,op,node,name,tier,cost,memory_during,memory_after,work,flux\n");
        while (pbi_walk_next(&w))
            csv_row(&out, &w);
        status = pbi_out_finish(&out);
    }
    pb_arena_release(&scratch);
    return status;
}

static void json_field(pbi_out *out, const char *key, uint64_t value)
{
    pbi_out_format(out, ",\"%s\":", key);
    pbi_out_json_u64(out, value);
}

static void json_step(pbi_out *out, const pbi_walk *w)
{
    pbi_out_format(out, "%s\n{\"step\":", w->step ? "," : "");
    pbi_out_u64(out, w->step);
    pbi_out_format(out, ",\"op\":\"%s\",\"node\":%u,\"name\":", pb_op_name((pb_op)w->move.op), (unsigned)w->move.node);
    pbi_out_json_text(out, pb_graph_name(w->graph, w->move.node));
    if (w->move.tier)
        json_field(out, "tier", w->move.tier);
    if (w->move.flags & PB_MOVE_BORROW)
        pbi_out_text(out, ",\"in\":\"borrow\"");
    if (w->move.op == PB_COMPUTE && w->removes != PB_NO_NODE) {
        pbi_out_text(out, ",\"over\":");
        pbi_out_json_text(out, pb_graph_name(w->graph, w->removes));
    }
    for (uint32_t i = 0; i < w->also_count; i++) {
        pbi_out_text(out, i ? "," : ",\"also\":[");
        pbi_out_json_text(out, pb_graph_name(w->graph, w->also[i]));
    }
    if (w->also_count)
        pbi_out_char(out, ']');
    json_field(out, "cost", w->cost);
    json_field(out, "memory_during", w->during);
    json_field(out, "memory_after", w->after);
    if (w->game->kind == PB_GAME_TIERED)
        json_field(out, "slow_memory", w->slow);
    json_field(out, "work", w->work);
    pbi_out_text(out, ",\"flux\":");
    pbi_out_json_u128(out, w->flux);
    pbi_out_char(out, '}');
}

static void json_head(pbi_out *out, const pbi_walk *w, const pb_schedule *s, const pb_phases *phases)
{
    pbi_out_text(out, "{\"graph\":");
    pbi_out_json_text(out, w->graph->name);
    pbi_out_format(out, ",\"game\":\"%s\",\"cap\":", pb_game_kind_name(w->game->kind));
    if (w->game->cap == PB_UNLIMITED)
        pbi_out_text(out, "null");
    else
        pbi_out_json_u64(out, w->game->cap);
    pbi_out_text(out, ",\"strategy\":");
    pbi_out_json_text(out, s && s->strategy ? s->strategy : "");
    pbi_out_text(out, ",\"cost_unit\":");
    pbi_out_json_text(out, w->graph->cost_unit);
    pbi_out_text(out, ",\"size_unit\":");
    pbi_out_json_text(out, w->graph->size_unit);
    json_field(out, "start_memory", w->after);
    pbi_phases_json(out, phases);
    pbi_out_text(out, ",\"steps\":[");
}

pb_status pb_steps_json_write(pb_context *ctx, const pb_certificate *c, const pb_schedule *s, pb_sink sink)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_walk w;
    pb_phases phases;
    pb_status status = pbi_walk_init(&w, c, &scratch);
    if (status == PB_OK)
        status = pb_phases_make(ctx, c, &phases);
    if (status == PB_OK) {
        pbi_out out;
        pbi_out_init(&out, ctx, sink);
        json_head(&out, &w, s, &phases);
        while (pbi_walk_next(&w))
            json_step(&out, &w);
        pbi_out_text(&out, w.moves->count ? "\n]}\n" : "]}\n");
        status = pbi_out_finish(&out);
    }
    pb_arena_release(&scratch);
    return status;
}
