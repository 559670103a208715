/* job.c -- see job.h: the jobs that compare, and what they tell. */
#define _XOPEN_SOURCE 700
#include "job.h"

#include "figures.h"
#include "json_print.h"
#include "text_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROGRESS_NS = 100000000, PLAN_NS = 50000000 };
#define JOB_BYTES ((size_t)2 << 30)

job *job_new(store *s, event_hub *hub, stored_graph *graph)
{
    job *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    pb_context_init(&j->ctx);
    j->ctx.memory_limit = JOB_BYTES;
    pb_arena_init(&j->arena, &j->ctx);
    j->graph = graph;
    j->log = log_new(hub);
    j->spec = pb_arena_zero(&j->arena, 1, sizeof *j->spec);
    if (!j->log || !j->spec) {
        job_drop(j);
        return NULL;
    }
    j->spec->job = j;
    j->spec->store = s; /* from here on job_drop gives the graph back */
    store_hold_graph(s, graph);
    return j;
}

void job_drop(job *j)
{
    if (j->spec && j->spec->store)
        store_release_graph(j->spec->store, j->graph);
    pb_arena_release(&j->arena);
    log_free(j->log);
    free(j);
}

uint64_t job_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void job_tell(job *j, const char *name, text_out *text, bool merge)
{
    log_add(j->log, name, text_end(text, NULL), merge);
}

bool job_stopped(const job *j) { return atomic_load(&j->stop); }

void job_tell_state(job *j, const char *state)
{
    text_out text;
    FILE *out = text_begin(&text);
    if (out)
        fprintf(out, "{\"state\":\"%s\"}", state);
    job_tell(j, "state", &text, false);
}

/* ---- what the library asks and tells while it plans ---- */

static pb_stop should_stop(void *state)
{
    const job_spec *spec = state;
    if (atomic_load(&spec->job->stop))
        return PB_STOP_INTERRUPT;
    return spec->deadline_ns && job_clock() >= spec->deadline_ns ? PB_STOP_TIME : PB_GO_ON;
}

static uint64_t clock_ns(void *state)
{
    (void)state;
    return job_clock();
}

static void tell_progress(void *state, const char *what, uint64_t done, uint64_t total)
{
    job_spec *spec = state;
    uint64_t now = job_clock();
    text_out text;
    if (now - spec->told_ns < PROGRESS_NS)
        return;
    spec->told_ns = now;
    FILE *out = text_begin(&text);
    if (out) {
        fputs("{\"strategy\":", out);
        json_text(out, spec->now);
        fputs(",\"what\":", out);
        json_text(out, what);
        fprintf(out, ",\"done\":%llu,\"total\":%llu,\"elapsed_ms\":%.0f}", (unsigned long long)done,
                (unsigned long long)total, 1e-6 * (double)(now - spec->begin_ns));
    }
    job_tell(spec->job, "progress", &text, true);
}

static void tell_bound(job_spec *spec, const pb_news *news)
{
    const pb_graph *g = news->game->graph;
    const pb_bounds *b = news->bounds;
    text_out text;
    spec->has_bound = true;
    spec->bound = b->makespan;
    FILE *out = text_begin(&text);
    if (out) {
        fprintf(out, "{\"game\":\"%s\",\"cap\":", pb_game_kind_name(news->game->kind));
        json_cap(out, news->game->cap);
        fputs(",\"least_cap\":", out);
        json_u64(out, b->least_cap);
        fputs(",\"makespan\":", out);
        json_u64(out, b->makespan);
        fputs(",\"overhead\":", out);
        json_double(out, g->needed_cost ? (double)b->makespan / (double)g->needed_cost - 1 : 0.0);
        fprintf(out, ",\"over\":%s}", b->impossible || b->over || news->game->cap < b->least_cap ? "true" : "false");
    }
    job_tell(spec->job, "bound", &text, false);
}

static void tell_plan(job_spec *spec, const pb_news *news)
{
    const pb_graph *g = news->game->graph;
    uint64_t now = job_clock(), needed = g->needed_cost;
    text_out text;
    const pb_weights *w = &news->game->weights;
    double score = (double)w->alpha * (double)news->peak + (double)(w->gamma ? w->gamma : 1) * (double)news->makespan;
    if (score >= spec->best_score)
        return;
    spec->best_score = score;
    FILE *out = text_begin(&text);
    if (out) {
        fputs("{\"strategy\":", out);
        json_text(out, spec->now);
        fputs(",\"by\":", out);
        json_text(out, news->strategy);
        fprintf(out, ",\"game\":\"%s\",\"peak\":", pb_game_kind_name(news->game->kind));
        json_u64(out, news->peak);
        fputs(",\"makespan\":", out);
        json_u64(out, news->makespan);
        fputs(",\"overhead\":", out);
        json_double(out, needed ? (double)news->makespan / (double)needed - 1 : 0.0);
        fputs(",\"recompute\":", out);
        json_u64(out, news->makespan > needed ? news->makespan - needed : 0);
        fputs(",\"gap\":", out);
        if (spec->has_bound)
            json_double(out, pb_metrics_gap(news->makespan, spec->bound));
        else
            fputs("null", out);
        fprintf(out, ",\"elapsed_ms\":%.0f}", 1e-6 * (double)(now - spec->begin_ns));
    }
    job_tell(spec->job, "incumbent", &text, now - spec->plan_ns < PLAN_NS);
    spec->plan_ns = now;
}

void job_limit(job *j, uint64_t time_ms)
{
    job_spec *spec = j->spec;
    spec->deadline_ns = time_ms ? job_clock() + time_ms * 1000000u : 0;
    if (j->ctx.stopped == PB_STOP_TIME) /* that was the time of the strategy before */
        j->ctx.stopped = PB_GO_ON;
}

static void begin_row(job_spec *spec, const pb_news *news)
{
    spec->now = news->strategy;
    spec->best_score = INFINITY;
    spec->told_ns = 0;
    job_limit(spec->job, spec->time_ms);
    tell_progress(spec, "begins", spec->row_count, 0);
}

static void hear(void *state, const pb_news *news)
{
    job_spec *spec = state;
    switch (news->kind) {
    case PB_NEWS_BEGIN: begin_row(spec, news); break;
    case PB_NEWS_BOUND: tell_bound(spec, news); break;
    case PB_NEWS_PLAN: tell_plan(spec, news); break;
    case PB_NEWS_ROW: job_tell_row(spec->job, news->planned, spec->row_count); break;
    }
}

void job_hook(job *j)
{
    job_spec *spec = j->spec;
    spec->begin_ns = job_clock();
    spec->best_score = INFINITY;
    spec->listener = (pb_listener){hear, spec};
    spec->request.listener = &spec->listener;
    j->ctx.tick_limit = spec->ticks;
    j->ctx.stop = should_stop;
    j->ctx.clock_ns = clock_ns;
    j->ctx.progress = tell_progress;
    j->ctx.callback_state = spec;
}

/* ---- rows ---- */

/* Remembers row `index`, as it was told; its plan's number. */
static uint64_t keep_row(job *j, const pb_planned *planned, uint32_t index)
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

static void print_failed(FILE *out, const pb_planned *p)
{
    fputs(",\"failed\":", out);
    if (p->certificate || !p->failed_need || p->failed_node == PB_NO_NODE) {
        fputs("null", out);
        return;
    }
    fputs("{\"step\":", out);
    json_u64(out, p->failed_step);
    fprintf(out, ",\"node\":%lu,\"name\":", (unsigned long)p->failed_node);
    json_text(out, pb_graph_name(p->game->graph, p->failed_node));
    fputs(",\"need\":", out);
    json_u64(out, p->failed_need);
    fputs(",\"over\":", out);
    json_u64(out, p->failed_need - p->game->cap);
    fputc('}', out);
}

void job_tell_row(job *j, const pb_planned *planned, uint32_t index)
{
    uint64_t plan = keep_row(j, planned, index);
    char label[FIGURE_ROOM];
    text_out text;
    strategy_text(&planned->schedule, label);
    FILE *out = text_begin(&text);
    if (out) {
        fputc('{', out);
        json_row_fields(out, planned, planned->game);
        fprintf(out, ",\"index\":%lu,\"plan\":", (unsigned long)index);
        if (plan)
            fprintf(out, "\"p%llu\"", (unsigned long long)plan);
        else
            fputs("null", out);
        fputs(",\"asked\":", out);
        json_text(out, planned->asked);
        fputs(",\"label\":", out);
        json_text(out, label);
        print_failed(out, planned);
        fputc('}', out);
    }
    job_tell(j, "row", &text, false);
}

/* A bound that one strategy has proved serves all: rows that it changes are told again. */
static void tell_changes(job *j, const pb_comparison *c)
{
    const job_spec *spec = j->spec;
    for (uint32_t i = 0; i < c->row_count && i < spec->row_count; i++) {
        const pb_schedule *s = &c->rows[i].schedule;
        const struct job_row *row = &spec->rows[i];
        if (s->metrics.gap != row->gap || s->lower_bound != row->lower_bound || s->outcome != row->outcome)
            job_tell_row(j, &c->rows[i], i);
    }
}

void job_done(job *j, pb_status status, uint32_t winner, const char *sentence)
{
    const job_spec *spec = j->spec;
    uint64_t plan = winner < spec->row_count ? spec->rows[winner].plan : 0;
    bool failed = status != PB_OK && status != PB_ECANCELLED;
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
            json_text(out, j->ctx.error.message[0] ? j->ctx.error.message : pb_status_text(status));
            fputc('}', out);
        } else {
            fputs("null", out);
        }
        fputs(",\"sentence\":", out);
        json_text(out, sentence);
        fprintf(out, ",\"elapsed_ms\":%.0f}", 1e-6 * (double)(job_clock() - spec->begin_ns));
    }
    job_tell(j, "done", &text, false);
}

/* Who does not fit, as far as one row tells it: ", while last-use needs 10 MiB more than that". */
static void loser_text(const pb_comparison *c, char *text, size_t room)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < c->row_count; i++) {
        const pb_planned *p = &c->rows[i];
        char over[FIGURE_ROOM];
        if (p->certificate || !p->failed_need || p->failed_node == PB_NO_NODE ||
            p->schedule.game != c->rows[c->winner].schedule.game)
            continue;
        amount_text(p->failed_need - p->game->cap, p->game->graph->size_unit, over);
        snprintf(text, room, "; %s fails at move %llu, %s over the cap", p->schedule.strategy,
                 (unsigned long long)p->failed_step, over);
    }
}

/* "sqrt fits in 50 % of what the program as written needs, for 21 % more work" */
static void winner_sentence(const job *j, const pb_comparison *c, char *text, size_t room)
{
    char name[FIGURE_ROOM], trade[512], loser[256], more[FIGURE_ROOM];
    if (c->winner == UINT32_MAX) {
        snprintf(text, room, "%s",
                 c->interrupted ? "stopped before any plan was found"
                 : c->row_count ? "no strategy fits this cap"
                                : "none of these strategies plays this game");
        return;
    }
    const pb_schedule *s = &c->rows[c->winner].schedule;
    strategy_text(s, name);
    if (s->metrics.peak <= j->graph->facts.written_peak) {
        trade_text(s, j->graph->facts.written_peak, trade, sizeof trade);
    } else {
        percent_text(s->metrics.overhead, more);
        snprintf(trade, sizeof trade, "fits, for %s more work than computing each value once", more);
    }
    loser_text(c, loser, sizeof loser);
    snprintf(text, room, "%s %s%s%s", name, trade, s->outcome == PB_OPTIMAL ? ", which is optimal" : "", loser);
}

static void run_compare(job *j)
{
    job_spec *spec = j->spec;
    pb_comparison c;
    char sentence[768];
    spec->request.time_ns = spec->time_ms * 1000000u;
    pb_status status = pb_compare(&j->ctx, &spec->base, spec->games, spec->strategies, &spec->request, &j->arena, &c);
    if (status != PB_OK) {
        job_done(j, status, UINT32_MAX, NULL);
        return;
    }
    tell_changes(j, &c);
    winner_sentence(j, &c, sentence, sizeof sentence);
    job_done(j, status, c.winner, sentence);
}

static void run_least(job *j)
{
    job_spec *spec = j->spec;
    pb_planned planned;
    char sentence[768], name[FIGURE_ROOM], peak[FIGURE_ROOM];
    pb_bounds bounds;
    spec->now = "least cap";
    job_limit(j, spec->time_ms);
    pb_status status = pb_bounds_make(&j->ctx, &spec->base, &bounds);
    if (status == PB_OK)
        status = pb_bounds_tighten(&j->ctx, &spec->base, spec->request.bound_effort, &bounds);
    if (status == PB_OK)
        tell_bound(spec, &(pb_news){.kind = PB_NEWS_BOUND, .game = &spec->base, .bounds = &bounds});
    if (status == PB_OK)
        status = pb_least_cap(&j->ctx, &spec->base, &spec->request, &j->arena, &planned);
    if (status != PB_OK) {
        job_done(j, status, UINT32_MAX, NULL);
        return;
    }
    job_tell_row(j, &planned, 0);
    strategy_text(&planned.schedule, name);
    amount_text(planned.schedule.metrics.peak, spec->base.graph->size_unit, peak);
    if (planned.certificate)
        snprintf(sentence, sizeof sentence, "%s is the least that is known to do, with %s", peak, name);
    else
        snprintf(sentence, sizeof sentence, "no plan was found");
    job_done(j, status, planned.certificate ? 0 : UINT32_MAX, sentence);
}

void job_skip(job *j)
{
    j->spec->begin_ns = job_clock();
    job_done(j, PB_ECANCELLED, UINT32_MAX, NULL);
}

void job_run(job *j)
{
    job_tell_state(j, "running");
    job_hook(j);
    switch (j->spec->kind) {
    case JOB_COMPARE:
    case JOB_PLAN: run_compare(j); break;
    case JOB_LEAST: run_least(j); break;
    case JOB_SWEEP: job_run_sweep(j); break;
    }
}
