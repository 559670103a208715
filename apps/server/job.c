/* job.c -- see job.h: creating and running jobs of the kinds compare, plan and least. */
#define _XOPEN_SOURCE 700
#include "job.h"

#include "common/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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
    j->spec->store = s; /* from here on job_drop releases the graph */
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

/* A bound proved by one strategy holds for all: rows that it changes are sent again. */
static void send_changed_rows(job *j, const pb_comparison *c)
{
    const job_spec *spec = j->spec;
    for (uint32_t i = 0; i < c->row_count && i < spec->row_count; i++) {
        const pb_schedule *s = &c->rows[i].schedule;
        const struct job_row *row = &spec->rows[i];
        if (s->metrics.gap != row->gap || s->lower_bound != row->lower_bound || s->outcome != row->outcome)
            job_send_row(j, &c->rows[i], i);
    }
}

/* A strategy that does not fit: "; last-use fails at move 12, 10 MiB over the cap". */
static void failed_text(const pb_comparison *c, char *text, size_t room)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < c->row_count; i++) {
        const pb_plan_result *p = &c->rows[i];
        char over[FIGURE_ROOM];
        if (p->certificate || !p->failed_need || p->failed_node == PB_NO_NODE ||
            p->schedule.game != c->rows[c->winner].schedule.game)
            continue;
        amount_text(p->failed_need - p->game->cap, p->game->graph->size_unit, over);
        snprintf(text, room, "; %s fails at move %llu, %s over the cap", p->schedule.strategy,
                 (unsigned long long)p->failed_step, over);
    }
}

/* "no plan found for 33 %; the smallest cap with a known plan is 38 % (8.3 GiB)", for each game that was planned */
static void least_sentence(const job *j, const pb_comparison *c, char *text, size_t room)
{
    size_t used = 0;
    for (uint32_t i = 0; i < c->least_count && used + 1 < room; i++) {
        char one[512];
        pb_game game = j->spec->base;
        game.kind = c->least[i]->kind;
        pb_least_fact_text(c->least[i], &game, j->graph->facts.program_peak, one, sizeof one);
        bool several = c->least_count > 1;
        used += (size_t)snprintf(text + used, room - used, "%s%s%s%s", i ? ". " : "",
                                 several ? pb_game_kind_name(game.kind) : "", several ? ": " : "", one);
    }
}

/* "sqrt fits in 50 % of ..., for 21 % more work" */
static void winner_sentence(const job *j, const pb_comparison *c, char *text, size_t room)
{
    char name[FIGURE_ROOM], trade[512], failed[256], more[FIGURE_ROOM];
    if (c->winner == UINT32_MAX && c->least_count) {
        least_sentence(j, c, text, room);
        return;
    }
    if (c->winner == UINT32_MAX) {
        snprintf(text, room, "%s",
                 c->interrupted ? "stopped before any plan was found; plan again"
                 : c->row_count ? "no strategy fits this cap; raise it or add strategies"
                                : "none of these strategies supports this game; choose others");
        return;
    }
    const pb_schedule *s = &c->rows[c->winner].schedule;
    strategy_text(s, name);
    if (s->metrics.peak <= j->graph->facts.program_peak) {
        trade_text(s, j->spec->base.graph, j->graph->facts.program_peak, trade, sizeof trade);
    } else {
        percent_text(s->metrics.overhead, more);
        snprintf(trade, sizeof trade, "fits, for %s more work than computing each value once", more);
    }
    failed_text(c, failed, sizeof failed);
    snprintf(text, room, "%s %s%s%s", name, trade, s->outcome == PB_OPTIMAL ? ", which is optimal" : "", failed);
}

static void run_compare(job *j)
{
    job_spec *spec = j->spec;
    pb_comparison c;
    char sentence[768];
    spec->request.time_ns = spec->time_ms * 1000000u;
    spec->request.time_each = true;
    spec->request.prove = spec->request.find_least = spec->request.attempts = true;
    pb_compare_request request = {.strategies = spec->strategies, .games = spec->games, .plan = spec->request};
    pb_status status = pb_compare(&j->ctx, &spec->base, &request, &j->arena, &c);
    if (status != PB_OK) {
        job_done(j, status, UINT32_MAX, NULL);
        return;
    }
    send_changed_rows(j, &c);
    winner_sentence(j, &c, sentence, sizeof sentence);
    job_done(j, status, c.winner, sentence);
}

static void run_least(job *j)
{
    job_spec *spec = j->spec;
    pb_plan_result planned;
    char sentence[768], name[FIGURE_ROOM], peak[FIGURE_ROOM];
    pb_bounds bounds;
    spec->strategy_now = "least cap";
    job_limit(j, spec->time_ms);
    pb_status status = pb_least_bound(&j->ctx, &spec->base, &bounds);
    if (status == PB_OK)
        spec->handler.on_event(spec, &(pb_event){.kind = PB_EVENT_BOUND, .game = &spec->base, .bounds = &bounds});
    if (status == PB_OK)
        status = pb_least_cap(&j->ctx, &spec->base, &spec->request, &j->arena, &planned);
    if (status != PB_OK) {
        job_done(j, status, UINT32_MAX, NULL);
        return;
    }
    job_send_row(j, &planned, 0);
    strategy_text(&planned.schedule, name);
    amount_text(planned.schedule.metrics.peak, spec->base.graph->size_unit, peak);
    if (planned.certificate)
        snprintf(sentence, sizeof sentence, "%s is the smallest cap with a known plan (%s)", peak, name);
    else
        snprintf(sentence, sizeof sentence, "no plan was found; allow more time");
    job_done(j, status, planned.certificate ? 0 : UINT32_MAX, sentence);
}

void job_skip(job *j)
{
    j->spec->begin_ns = job_clock();
    job_done(j, PB_ECANCELLED, UINT32_MAX, NULL);
}

void job_run(job *j)
{
    job_send_state(j, "running");
    job_set_callbacks(j);
    switch (j->spec->kind) {
    case JOB_COMPARE:
    case JOB_PLAN: run_compare(j); break;
    case JOB_LEAST: run_least(j); break;
    case JOB_SWEEP: job_run_sweep(j); break;
    }
}
