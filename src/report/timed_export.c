/* timed_export.c -- timed plans as Chrome trace events, CSV, decisions and figures by lane. */
#include "report/timed_walk.h"

#include "pebble/report.h"

#include <string.h>

typedef pb_status (*body)(pbi_out *out, pbi_timed_walk *w, const pb_certificate *c);

static pb_status write_with(pb_context *ctx, const pb_certificate *c, pb_sink sink, body write)
{
    pb_arena scratch;
    pbi_timed_walk w;
    pbi_out out;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_timed_walk_init(&w, c, &scratch);
    if (status == PB_OK) {
        pbi_out_init(&out, ctx, sink);
        status = write(&out, &w, c);
        pb_status end = pbi_out_finish(&out);
        status = status == PB_OK ? end : status;
    }
    pb_arena_release(&scratch);
    return status;
}

/* ---- trace ---- */

/* Microseconds, the unit of the format; the units of abstract clocks count as such. */
static void trace_time(pbi_out *out, const pb_machine *m, uint64_t time)
{
    uint64_t per_micro = m->per_second / 1000000;
    if (per_micro > 1) {
        pbi_out_u64(out, time / per_micro);
        if (time % per_micro)
            pbi_out_format(out, ".%03u", (unsigned)(time % per_micro * 1000 / per_micro));
    } else {
        pbi_out_u64(out, m->per_second ? time * (1000000 / m->per_second) : time);
    }
}

static void trace_counter(pbi_out *out, const pbi_timed_walk *w, uint32_t memory, uint64_t time)
{
    pbi_out_text(out, ",\n{\"ph\":\"C\",\"name\":");
    pbi_out_json_text(out, w->machine->memories[memory].name);
    pbi_out_text(out, ",\"pid\":1,\"ts\":");
    trace_time(out, w->machine, time);
    pbi_out_text(out, ",\"args\":{\"size\":");
    pbi_out_u64(out, w->held[memory]);
    pbi_out_text(out, "}}");
}

static void trace_track(pbi_out *out, uint32_t lane, const char *name)
{
    pbi_out_format(out, "%s\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%u,\"args\":{\"name\":",
                   lane ? "," : "", (unsigned)lane + 1);
    pbi_out_json_text(out, name);
    pbi_out_text(out, "}}");
}

static void trace_tracks(pbi_out *out, const pbi_timed_walk *w)
{
    const pb_machine *m = w->machine;
    for (uint32_t p = 0; p < m->processor_count; p++)
        trace_track(out, p, m->processors[p].name);
    for (uint32_t i = 0, lane = 0; i < m->link_count; i++)
        if (w->game->timing->lane[i] == lane) { /* the first link of the lane */
            trace_track(out, m->processor_count + lane, m->links[i].lane ? m->links[i].lane : m->links[i].name);
            lane++;
        }
}

static void trace_move(pbi_out *out, const pbi_timed_walk *w)
{
    const char *op = w->again ? "recompute" : pb_op_name((pb_op)w->move->op);
    pbi_out_text(out, ",\n{\"ph\":\"X\",\"name\":");
    pbi_out_json_text(out, pb_graph_name(w->graph, w->move->node));
    pbi_out_format(out, ",\"cat\":\"%s\",\"pid\":1,\"tid\":%u,\"ts\":", op, (unsigned)w->lane + 1);
    trace_time(out, w->machine, w->at);
    pbi_out_text(out, ",\"dur\":");
    trace_time(out, w->machine, w->end - w->at);
    pbi_out_format(out, ",\"args\":{\"op\":\"%s\",\"step\":", op);
    pbi_out_u64(out, w->step);
    pbi_out_text(out, "}}");
}

static pb_status write_trace(pbi_out *out, pbi_timed_walk *w, const pb_certificate *c)
{
    (void)c;
    pbi_out_text(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"graph\":");
    pbi_out_json_text(out, w->graph->name);
    pbi_out_text(out, ",\"machine\":");
    pbi_out_json_text(out, w->machine->name);
    pbi_out_text(out, ",\"time_unit\":");
    pbi_out_json_text(out, w->machine->time_unit);
    pbi_out_text(out, ",\"size_unit\":");
    pbi_out_json_text(out, w->graph->size_unit);
    pbi_out_text(out, "},\"traceEvents\":[");
    trace_tracks(out, w);
    for (uint32_t i = 0; i < w->machine->memory_count; i++)
        trace_counter(out, w, i, 0);
    while (pbi_timed_walk_next(w)) {
        if (w->move && w->move->op != PB_FREE)
            trace_move(out, w);
        trace_counter(out, w, w->memory, w->at);
    }
    pbi_out_text(out, "\n]}\n");
    return PB_OK;
}

pb_status pbi_timed_trace(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    return write_with(ctx, c, sink, write_trace);
}

/* ---- CSV ---- */

/* RFC 4180: quoted if the text contains a comma, a quote or a line break. */
static void csv_text(pbi_out *out, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted)
        pbi_out_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            pbi_out_char(out, '"');
        pbi_out_char(out, *text);
    }
    if (quoted)
        pbi_out_char(out, '"');
}

static pb_status write_csv(pbi_out *out, pbi_timed_walk *w, const pb_certificate *c)
{
    (void)c;
    pbi_out_text(out, "step,op,node,name,place,start,end,memory,held\n");
    while (pbi_timed_walk_next(w)) {
        if (!w->move)
            continue;
        pbi_out_u64(out, w->step);
        pbi_out_format(out, ",%s,%u,", pb_op_name((pb_op)w->move->op), (unsigned)w->move->node);
        csv_text(out, pb_graph_name(w->graph, w->move->node));
        pbi_out_char(out, ',');
        csv_text(out, w->place);
        pbi_out_char(out, ',');
        pbi_out_u64(out, w->at);
        pbi_out_char(out, ',');
        pbi_out_u64(out, w->end);
        pbi_out_char(out, ',');
        csv_text(out, w->machine->memories[w->memory].name);
        pbi_out_char(out, ',');
        pbi_out_u64(out, w->held[w->memory]);
        pbi_out_char(out, '\n');
    }
    return PB_OK;
}

pb_status pbi_timed_csv(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    return write_with(ctx, c, sink, write_csv);
}

/* ---- decisions ---- */

/* What differs from computing each value once and keeping it. */
static pb_status write_decisions(pbi_out *out, pbi_timed_walk *w, const pb_certificate *c)
{
    (void)c;
    while (pbi_timed_walk_next(w)) {
        bool copy = w->move && w->move->op == PB_COPY, free = w->move && w->move->op == PB_FREE;
        if (!copy && !free && !(w->move && w->again))
            continue;
        pbi_out_text(out, copy ? "copy " : free ? "free " : "recompute ");
        pbi_out_plain(out, pb_graph_name(w->graph, w->move->node));
        pbi_out_text(out, copy ? " over " : free ? " from " : " on ");
        pbi_out_plain(out, w->place);
        pbi_out_text(out, " at ");
        pbi_out_u64(out, w->at);
        if (!free) {
            pbi_out_text(out, " until ");
            pbi_out_u64(out, w->end);
        }
        pbi_out_char(out, '\n');
    }
    return PB_OK;
}

pb_status pbi_timed_decisions(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    return write_with(ctx, c, sink, write_decisions);
}

/* ---- figures by lane ---- */

static void out_amount(pbi_out *out, const char *before, uint64_t value, const char *unit)
{
    char text[128];
    pb_amount_text(value, unit, text, sizeof text);
    pbi_out_text(out, before);
    pbi_out_plain(out, text);
}

static void lane_line(pbi_out *out, const char *name, const pb_lane_use *l, uint64_t makespan, const char *unit)
{
    pbi_out_text(out, "  ");
    pbi_out_plain(out, name);
    out_amount(out, ": busy ", l->busy, unit);
    pbi_out_format(out, " (%.1f %%) in ", makespan ? 100.0 * (double)l->busy / (double)makespan : 0.0);
    pbi_out_u64(out, l->moves);
    pbi_out_text(out, l->moves == 1 ? " move" : " moves");
    for (int i = 0; i < PB_STALL_COUNT; i++)
        if (l->stall[i]) {
            pbi_out_format(out, ", waits for %s ", pb_stall_name((pb_stall)i));
            out_amount(out, "", l->stall[i], unit);
        }
    pbi_out_char(out, '\n');
}

static pb_status write_explain(pbi_out *out, pbi_timed_walk *w, const pb_certificate *c)
{
    const pb_timed_totals *t = &pb_certificate_totals(c)->timed;
    const pb_machine *m = w->machine;
    const char *unit = m->time_unit, *size = w->graph->size_unit;
    out_amount(out, "makespan ", t->makespan, unit);
    out_amount(out, ", span ", t->span, unit);
    out_amount(out, ", recomputed ", t->recompute, unit);
    pbi_out_text(out, "\nlanes\n");
    for (uint32_t p = 0; p < m->processor_count; p++)
        lane_line(out, m->processors[p].name, &t->lanes[p], t->makespan, unit);
    for (uint32_t i = 0, lane = 0; i < m->link_count; i++)
        if (w->game->timing->lane[i] == lane) {
            const char *name = m->links[i].lane ? m->links[i].lane : m->links[i].name;
            lane_line(out, name, &t->lanes[m->processor_count + lane], t->makespan, unit);
            lane++;
        }
    pbi_out_text(out, "memories\n");
    for (uint32_t i = 0; i < m->memory_count; i++) {
        uint64_t cap = i ? m->memories[i].cap : w->game->cap;
        pbi_out_text(out, "  ");
        pbi_out_plain(out, m->memories[i].name);
        out_amount(out, ": peak ", t->peaks[i], size);
        if (cap != PB_UNLIMITED)
            out_amount(out, " of ", cap, size);
        pbi_out_char(out, '\n');
    }
    return PB_OK;
}

pb_status pbi_timed_explain(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    return write_with(ctx, c, sink, write_explain);
}
