/* job_events.c -- see job.h: the events of a running job, and the callbacks from the library that create them. */
#define _XOPEN_SOURCE 700
#include "job.h"

#include "common/figures.h"
#include "common/json_print.h"
#include "common/row_json.h"
#include "text_out.h"

#include <math.h>
#include <string.h>

enum { PROGRESS_NS = 100000000, INCUMBENT_NS = 50000000 };

void job_send_event(job *j, const char *name, text_out *text, bool merge)
{
    log_add(j->log, name, text_end(text, NULL), merge);
}

void job_send_state(job *j, const char *state)
{
    text_out text;
    FILE *out = text_begin(&text);
    if (out)
        fprintf(out, "{\"state\":\"%s\"}", state);
    log_state(j->log, state);
    job_send_event(j, "state", &text, false);
}

/* ---- callbacks from the library ---- */

static pb_stop should_stop(void *state)
{
    const job_spec *spec = state;
    if (job_stopped(spec->job))
        return PB_STOP_INTERRUPT;
    return spec->deadline_ns && job_clock() >= spec->deadline_ns ? PB_STOP_TIME : PB_GO_ON;
}

static uint64_t clock_ns(void *state)
{
    (void)state;
    return job_clock();
}

static void send_progress(void *state, const char *what, uint64_t done, uint64_t total)
{
    job_spec *spec = state;
    uint64_t now = job_clock();
    text_out text;
    if (now - spec->progress_ns < PROGRESS_NS)
        return;
    spec->progress_ns = now;
    FILE *out = text_begin(&text);
    if (out) {
        fputs("{\"strategy\":", out);
        json_text(out, spec->strategy_now);
        fputs(",\"what\":", out);
        json_text(out, what);
        fprintf(out, ",\"done\":%llu,\"total\":%llu,\"elapsed_ms\":%.0f}", (unsigned long long)done,
                (unsigned long long)total, 1e-6 * (double)(now - spec->begin_ns));
    }
    job_send_event(spec->job, "progress", &text, true);
}

static void send_bound(job_spec *spec, const pb_event *event)
{
    const pb_graph *g = event->game->graph;
    const pb_bounds *b = event->bounds;
    text_out text;
    spec->has_bound = true;
    spec->bound = b->makespan;
    FILE *out = text_begin(&text);
    if (out) {
        fprintf(out, "{\"game\":\"%s\",\"cap\":", pb_game_kind_name(event->game->kind));
        json_cap(out, event->game->cap);
        fputs(",\"least_cap\":", out);
        json_u64(out, b->least_cap);
        fputs(",\"makespan\":", out);
        json_u64(out, b->makespan);
        fputs(",\"overhead\":", out);
        json_double(out, g->needed_cost ? (double)b->makespan / (double)g->needed_cost - 1 : 0.0);
        fprintf(out, ",\"over\":%s}", b->impossible || b->over || event->game->cap < b->least_cap ? "true" : "false");
    }
    job_send_event(spec->job, "bound", &text, false);
}

static void send_incumbent(job_spec *spec, const pb_event *event)
{
    const pb_graph *g = event->game->graph;
    uint64_t now = job_clock(), needed = g->needed_cost;
    text_out text;
    const pb_weights *w = &event->game->weights;
    double score = (double)w->alpha * (double)event->peak + (double)(w->gamma ? w->gamma : 1) * (double)event->makespan;
    if (score >= spec->best_score)
        return;
    spec->best_score = score;
    FILE *out = text_begin(&text);
    if (out) {
        fputs("{\"strategy\":", out);
        json_text(out, spec->strategy_now);
        fputs(",\"by\":", out);
        json_text(out, event->strategy);
        fprintf(out, ",\"game\":\"%s\",\"peak\":", pb_game_kind_name(event->game->kind));
        json_u64(out, event->peak);
        fputs(",\"makespan\":", out);
        json_u64(out, event->makespan);
        fputs(",\"overhead\":", out);
        json_double(out, needed ? (double)event->makespan / (double)needed - 1 : 0.0);
        fputs(",\"recompute\":", out);
        json_u64(out, event->makespan > needed ? event->makespan - needed : 0);
        fputs(",\"gap\":", out);
        if (spec->has_bound)
            json_double(out, pb_metrics_gap(event->makespan, spec->bound));
        else
            fputs("null", out);
        fprintf(out, ",\"elapsed_ms\":%.0f}", 1e-6 * (double)(now - spec->begin_ns));
    }
    job_send_event(spec->job, "incumbent", &text, now - spec->incumbent_ns < INCUMBENT_NS);
    spec->incumbent_ns = now;
}

void job_limit(job *j, uint64_t time_ms)
{
    job_spec *spec = j->spec;
    spec->deadline_ns = time_ms ? job_clock() + time_ms * 1000000u : 0;
    if (j->ctx.stopped == PB_STOP_TIME) /* the previous strategy's time limit */
        j->ctx.stopped = PB_GO_ON;
}

static void begin_row(job_spec *spec, const pb_event *event)
{
    spec->strategy_now = event->strategy;
    spec->best_score = INFINITY;
    spec->progress_ns = 0;
    job_limit(spec->job, spec->time_ms);
    send_progress(spec, "begins", spec->row_count, 0);
}

static void on_event(void *state, const pb_event *event)
{
    job_spec *spec = state;
    switch (event->kind) {
    case PB_EVENT_BEGIN: begin_row(spec, event); break;
    case PB_EVENT_BOUND: send_bound(spec, event); break;
    case PB_EVENT_PLAN: send_incumbent(spec, event); break;
    case PB_EVENT_ROW: job_send_row(spec->job, event->planned, spec->row_count); break;
    }
}

void job_set_callbacks(job *j)
{
    job_spec *spec = j->spec;
    spec->begin_ns = job_clock();
    spec->best_score = INFINITY;
    spec->handler = (pb_event_handler){on_event, spec};
    spec->request.handler = &spec->handler;
    j->ctx.tick_limit = spec->ticks;
    j->ctx.stop = should_stop;
    j->ctx.clock_ns = clock_ns;
    j->ctx.progress = send_progress;
    j->ctx.callback_state = spec;
}

/* ---- rows ---- */

/* Keeps row `index` as it was sent; returns the number of its plan. */
static uint64_t keep_row(job *j, const pb_plan_result *planned, uint32_t index)
{
    job_spec *spec = j->spec;
    if (index < spec->row_count) {
        store_update_plan(spec->store, j, spec->rows[index].plan, planned);
    } else {
        if (spec->row_count == spec->row_room) {
            uint32_t room = spec->row_room ? 2 * spec->row_room : 32;
            struct job_row *rows = pb_arena_zero(&j->arena, room, sizeof *rows);
            if (!rows)
                return 0;
            if (spec->row_count)
                memcpy(rows, spec->rows, spec->row_count * sizeof *rows);
            spec->rows = rows;
            spec->row_room = room;
        }
        spec->rows[spec->row_count++].plan = store_add_plan(spec->store, j, planned);
    }
    struct job_row *row = &spec->rows[index];
    row->gap = planned->schedule.metrics.gap;
    row->lower_bound = planned->schedule.lower_bound;
    row->outcome = planned->schedule.outcome;
    return row->plan;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

/* FNV-1a of the moves, so that the page can show equal plans in one row. */
static uint64_t moves_hash(const pb_moves *moves)
{
    uint64_t hash = hash_bytes(0xcbf29ce484222325u, moves->move, (size_t)moves->count * sizeof *moves->move);
    return hash_bytes(hash, moves->extra, moves->extra_count * sizeof *moves->extra);
}

static void print_number(FILE *out, const char *key, uint64_t plan)
{
    if (plan)
        fprintf(out, ",\"%s\":\"p%llu\"", key, (unsigned long long)plan);
    else
        fprintf(out, ",\"%s\":null", key);
}

void job_send_row(job *j, const pb_plan_result *planned, uint32_t index)
{
    uint64_t plan = keep_row(j, planned, index);
    char label[FIGURE_ROOM];
    text_out text;
    strategy_text(&planned->schedule, label);
    FILE *out = text_begin(&text);
    if (out) {
        fputc('{', out);
        json_row_fields(out, planned, planned->game);
        fprintf(out, ",\"index\":%lu", (unsigned long)index);
        print_number(out, "plan", planned->certificate ? plan : 0);
        print_number(out, "attempt", planned->certificate ? 0 : plan);
        if (planned->certificate)
            fprintf(out, ",\"plan_hash\":\"%016llx\"", (unsigned long long)moves_hash(&planned->schedule.moves));
        else
            fputs(",\"plan_hash\":null", out);
        fputs(",\"asked\":", out);
        json_text(out, planned->spec);
        fputs(",\"label\":", out);
        json_text(out, label);
        fputc('}', out);
    }
    job_send_event(j, "row", &text, false);
}

void job_done(job *j, pb_status status, uint32_t winner, const char *sentence)
{
    const job_spec *spec = j->spec;
    uint64_t plan = winner < spec->row_count ? spec->rows[winner].plan : 0;
    bool lost = status == PB_OK && log_lost(j->log);
    bool failed = (status != PB_OK && status != PB_ECANCELLED) || lost;
    text_out text;
    FILE *out = text_begin(&text);
    if (out) {
        fprintf(out, "{\"state\":\"%s\",\"winner\":", failed ? "failed" : job_stopped(j) ? "stopped" : "done");
        if (plan)
            fprintf(out, "\"p%llu\",\"winner_index\":%lu", (unsigned long long)plan, (unsigned long)winner);
        else
            fputs("null,\"winner_index\":null", out);
        fputs(",\"error\":", out);
        if (failed) {
            fputs("{\"message\":", out);
            json_text(out, lost ? "out of memory: some results are missing; use fewer strategies or caps"
                           : j->ctx.error.message[0] ? j->ctx.error.message
                                                     : pb_status_text(status));
            fputc('}', out);
        } else {
            fputs("null", out);
        }
        fputs(",\"sentence\":", out);
        json_text(out, sentence);
        fprintf(out, ",\"elapsed_ms\":%.0f}", 1e-6 * (double)(job_clock() - spec->begin_ns));
    }
    job_send_event(j, "done", &text, false);
}
