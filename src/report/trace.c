/* trace.c -- Chrome trace events, as chrome://tracing and Perfetto read them.
 *
 * The time axis is that of the schedule: work and io added up, one device, no overlap. A cost in ns is shown
 * exactly; any other unit counts as a microsecond, the unit of the format. Moves without cost are instants.
 */
#include "pebble/report.h"

#include "base/out.h"
#include "report/timed_walk.h"
#include "report/walk.h"

#include <string.h>

enum { TRACK_COMPUTE = 1, TRACK_TRANSFER = 2 };

typedef struct tracer {
    pbi_out out;
    bool nanoseconds, first, slow;
} tracer;

static void next_event(tracer *t)
{
    pbi_out_text(&t->out, t->first ? "\n" : ",\n");
    t->first = false;
}

/* The format needs plain JSON numbers of any size. */
static void write_time(tracer *t, uint64_t time)
{
    pbi_out_u64(&t->out, t->nanoseconds ? time / 1000 : time);
    if (t->nanoseconds && time % 1000)
        pbi_out_format(&t->out, ".%03u", (unsigned)(time % 1000));
}

static void track_name(tracer *t, int track, const char *name)
{
    next_event(t);
    pbi_out_format(&t->out, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
                   track, name);
}

static void counter(tracer *t, const char *name, uint64_t time, uint64_t value)
{
    next_event(t);
    pbi_out_format(&t->out, "{\"ph\":\"C\",\"name\":\"%s\",\"pid\":1,\"ts\":", name);
    write_time(t, time);
    pbi_out_text(&t->out, ",\"args\":{\"size\":");
    pbi_out_u64(&t->out, value);
    pbi_out_text(&t->out, "}}");
}

static void write_move(tracer *t, const pbi_walk *w, bool again)
{
    bool transfer = w->move.op == PB_STORE || w->move.op == PB_LOAD || w->move.op == PB_DROP;
    const char *op = again ? "recompute" : pb_op_name((pb_op)w->move.op);
    next_event(t);
    pbi_out_format(&t->out, "{\"ph\":\"%s\",\"name\":", w->cost ? "X" : "i");
    pbi_out_json_text(&t->out, pb_graph_name(w->graph, w->move.node));
    pbi_out_format(&t->out, ",\"cat\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":", op,
                   transfer ? TRACK_TRANSFER : TRACK_COMPUTE);
    write_time(t, w->start);
    if (w->cost) {
        pbi_out_text(&t->out, ",\"dur\":");
        write_time(t, w->cost);
    } else {
        pbi_out_text(&t->out, ",\"s\":\"t\"");
    }
    pbi_out_format(&t->out, ",\"args\":{\"op\":\"%s\",\"step\":", op);
    pbi_out_u64(&t->out, w->step);
    pbi_out_text(&t->out, ",\"memory\":");
    pbi_out_u64(&t->out, w->during);
    if (w->move.tier)
        pbi_out_format(&t->out, ",\"tier\":%u", (unsigned)w->move.tier);
    pbi_out_text(&t->out, "}}");
}

/* Counters are valid until the next sample: one during the move, one after it if it differs. */
static void write_counters(tracer *t, const pbi_walk *w)
{
    if (w->during != w->before)
        counter(t, "fast memory", w->start, w->during);
    if (w->after != w->during)
        counter(t, "fast memory", w->end, w->after);
    if (t->slow && (w->move.op == PB_STORE || w->move.op == PB_DROP))
        counter(t, "slow memory", w->end, w->slow);
}

static pb_status write_trace(tracer *t, pbi_walk *w, bool *computed)
{
    pbi_out_text(&t->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"graph\":");
    pbi_out_json_text(&t->out, w->graph->name);
    pbi_out_text(&t->out, ",\"cost_unit\":");
    pbi_out_json_text(&t->out, w->graph->cost_unit);
    pbi_out_text(&t->out, ",\"size_unit\":");
    pbi_out_json_text(&t->out, w->graph->size_unit);
    pbi_out_text(&t->out, "},\"traceEvents\":[");
    track_name(t, TRACK_COMPUTE, "compute");
    if (t->slow)
        track_name(t, TRACK_TRANSFER, "transfer");
    counter(t, "fast memory", 0, w->after);
    if (t->slow)
        counter(t, "slow memory", 0, w->slow);
    while (pbi_walk_next(w)) {
        bool again = w->move.op == PB_COMPUTE && computed[w->move.node];
        write_move(t, w, again);
        write_counters(t, w);
        if (w->move.op == PB_COMPUTE)
            computed[w->move.node] = true;
    }
    pbi_out_text(&t->out, "\n]}\n");
    return pbi_out_finish(&t->out);
}

pb_status pb_trace_write(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    if (pb_certificate_game(c)->kind == PB_GAME_TIMED)
        return pbi_timed_trace(ctx, c, sink);
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_walk w;
    pb_status status = pbi_walk_init(&w, c, &scratch);
    if (status == PB_OK) {
        tracer t = {.first = true, .slow = w.game->kind == PB_GAME_TIERED};
        t.nanoseconds = strcmp(w.graph->cost_unit, "ns") == 0;
        pbi_out_init(&t.out, ctx, sink);
        bool *computed = pb_arena_zero(&scratch, w.graph->node_count, sizeof *computed);
        status = computed ? write_trace(&t, &w, computed) : PB_ENOMEM;
    }
    pb_arena_release(&scratch);
    return status;
}
