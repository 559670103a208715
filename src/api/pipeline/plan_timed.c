/* plan_timed.c -- from a request in the timed game to a verified plan with a bound.
 *
 * Strategies of the timed game start from plans of the remat game on the first processor: for the cap, and for larger
 * ones, where copies then make up for the missing memory. This file makes them, runs the strategies, verifies every
 * plan, and claims what the bound proves.
 */
#include "api/pipeline/plan_timed.h"

#include "api/pipeline/run_strategy.h"
#include "api/pipeline/share.h"
#include "base/checked.h"
#include "base/context.h"

#include <stdio.h>
#include <string.h>

/* Larger caps, in percent of the cap. */
static const uint32_t larger[] = {115, 130, 150, 175, 200, 250, 300, 400};
enum { LARGER = sizeof larger / sizeof *larger, MAX_SEQUENTIAL = LARGER + 2 };

typedef struct planner {
    const pbi_job *job;
    const pb_game *game;
    pb_arena *result, *scratch;
    pb_moves sequential[MAX_SEQUENTIAL];
    uint32_t sequential_count;
    bool sequential_fits;
    pb_moves tiered;
    bool has_tiered;
} planner;

static bool stopped(const pb_context *ctx) { return ctx->stopped != PB_GO_ON; }

/* ---- plans of the remat game ---- */

/* Can the remat game in this memory make v, or use it, and leave it where it must be kept? */
static bool is_playable(const pb_timing *t, pb_node v, uint32_t memory)
{
    const pb_graph *g = t->graph;
    uint16_t flags = g->flags[v];
    if ((flags & PB_NODE_KEEP) && t->keep[v] != UINT32_MAX && t->keep[v] != memory)
        return false;
    if (!(flags & PB_NODE_NEEDED))
        return true;
    return flags & PB_NODE_GIVEN ? t->start[v] == memory : !pb_graph_is_computed(g, v) || t->duration[v] != PB_NO_TIME;
}

/* In the remat game, given values are in this memory, or in a slow one that the game does not have. */
static uint16_t flags_in(const pb_timing *t, pb_node v, uint32_t memory)
{
    uint16_t flags = t->graph->flags[v] & (uint16_t)~PB_NODE_GIVEN_SLOW;
    bool elsewhere = (flags & PB_NODE_GIVEN) && t->start[v] != memory;
    return elsewhere ? (uint16_t)(flags | PB_NODE_GIVEN_SLOW) : flags;
}

/* The remat game on the first processor; false if it cannot be played there. */
static pb_status remat_game(const planner *p, pb_game *out, bool *playable)
{
    const pb_timing *t = p->game->timing;
    const pb_graph *g = p->game->graph, *timed;
    uint32_t memory = t->machine->processors[0].memory;
    *playable = true;
    for (pb_node v = 0; v < g->node_count && *playable; v++)
        *playable = is_playable(t, v, memory);
    if (!*playable)
        return PB_OK;
    pb_graph *own = pb_arena_alloc(p->scratch, 1, sizeof *own);
    uint64_t *cost = pb_arena_zero(p->scratch, (size_t)g->node_count + 1, sizeof *cost);
    uint16_t *flags = pb_arena_alloc(p->scratch, (size_t)g->node_count + 1, sizeof *flags);
    if (!own || !cost || !flags)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++) {
        cost[v] = pb_graph_is_computed(g, v) && t->duration[v] != PB_NO_TIME ? t->duration[v] : 0;
        flags[v] = flags_in(t, v, memory);
    }
    pb_graph_costs costs = {.cost = cost};
    pb_status status = pb_graph_with_costs(p->job->ctx, t->graph, &costs, p->scratch, &timed);
    if (status != PB_OK)
        return status;
    *own = *timed;
    own->flags = flags;
    own->fixed_size = t->fixed[memory];
    own->total_size = pbi_add_saturated(own->total_size - timed->fixed_size, own->fixed_size);
    *out = (pb_game){.graph = own,
                     .kind = PB_GAME_REMAT,
                     .cap = memory ? t->machine->memories[memory].cap : p->game->cap,
                     .weights = PB_WEIGHTS_DEFAULT};
    return PB_OK;
}

/* Adds a plan for this game if one is found within a part of the time. */
static pb_status add_sequential(planner *p, const pb_game *game, const char *strategy, uint64_t time_ns, bool *found)
{
    pb_context *ctx = p->job->ctx;
    const pb_request *asked = p->job->request;
    pb_request request = {.strategy = strategy, .seed = asked->seed, .threads = asked->threads, .time_ns = time_ns};
    pb_plan_result planned = {.certificate = NULL};
    pbi_share share;
    pbi_share_begin(&share, ctx, time_ns);
    pb_status status = pb_plan(ctx, game, &request, p->scratch, &planned);
    pbi_share_end(&share);
    *found = status == PB_OK && planned.certificate;
    if (*found)
        p->sequential[p->sequential_count++] = planned.schedule.moves;
    bool answer = status == PB_ELIMIT || status == PB_ERANGE || (status == PB_ECANCELLED && !stopped(ctx));
    return answer ? PB_OK : status;
}

static pb_status make_sequential(planner *p)
{
    pb_game game;
    bool playable, found;
    uint64_t time = p->job->request->time_ns, peak;
    pb_status status = remat_game(p, &game, &playable);
    if (status != PB_OK || !playable)
        return status;
    uint64_t cap = game.cap;
    status = add_sequential(p, &game, "auto", time / 4, &p->sequential_fits);
    if (status == PB_OK)
        status = pb_graph_program_peak(p->job->ctx, game.graph, &peak);
    for (int i = 0; i < LARGER && status == PB_OK && cap < peak && !stopped(p->job->ctx); i++) {
        if (!pbi_mul_div_up(cap, larger[i], 100, &game.cap) || game.cap >= peak)
            break;
        status = add_sequential(p, &game, "cut", time / 32, &found);
    }
    return status;
}

/* A plan of the tiered game with the first two memories of the machine. */
static pb_status make_tiered(planner *p, bool asked)
{
    const pb_machine *m = p->game->timing->machine;
    pb_game game;
    pb_tier tiers[PB_MAX_TIERS];
    uint32_t count;
    bool playable;
    if (pb_machine_tiers(m, tiers, &count) == 0 || m->processors[0].memory != 0)
        return PB_OK;
    pb_status status = remat_game(p, &game, &playable);
    if (status != PB_OK || !playable)
        return status;
    game.kind = PB_GAME_TIERED;
    game.tier_count = 1;
    game.tiers[0] = tiers[0];
    uint32_t before = p->sequential_count;
    status =
        add_sequential(p, &game, asked ? "auto" : "cut", p->job->request->time_ns / (asked ? 2 : 32), &p->has_tiered);
    if (p->has_tiered)
        p->tiered = p->sequential[before];
    p->sequential_count = before;
    return status;
}

/* ---- strategies ---- */

static pb_status run_row(planner *p, const pb_strategy *row, const pbi_spec *spec, pbi_plan *plan)
{
    const pb_request *request = p->job->request;
    pbi_plan_options options = {.seed = request->seed,
                                .threads = request->threads ? request->threads : 1,
                                .patient = request->patient,
                                .end_ns = p->job->end_ns,
                                .sequential = p->sequential,
                                .sequential_count = p->sequential_count,
                                .sequential_fits = p->sequential_fits,
                                .tiered = p->has_tiered ? &p->tiered : NULL};
    if (spec->row == row) {
        options.options = spec->options;
        options.option_count = spec->option_count;
    }
    pbi_plan_reset(plan, p->result);
    return pbi_strategy_function(row)(p->job->ctx, p->game, &options, plan);
}

/* Verifies and measures a plan, and takes it if it is better than what is there. */
static pb_status take(const planner *p, const pb_strategy *row, const pbi_plan *plan, pb_plan_result *out)
{
    pb_context *ctx = p->job->ctx;
    pb_verdict verdict;
    pb_plan_result next = *out;
    pb_moves *moves = pb_arena_alloc(p->result, 1, sizeof *moves);
    pb_option *options = pb_arena_alloc(p->result, (size_t)plan->option_count + 1, sizeof *options);
    if (!moves || !options)
        return PB_ENOMEM;
    *moves = plan->moves;
    pbi_held held = pbi_hold(ctx); /* the time may be over: what was found still counts */
    pb_status status = pb_verify(ctx, out->game, moves, p->result, &verdict);
    if (status == PB_OK && verdict.certificate)
        status = pb_metrics_measure(ctx, verdict.certificate, &next.schedule.metrics);
    pbi_resume(ctx, held);
    if (status == PB_OK && !verdict.certificate) {
        char text[300];
        pb_verdict_text(out->game, moves, &verdict, text, sizeof text);
        return pbi_fail(ctx, PB_EBUG, "strategy %s made an illegal plan: %s [rule %s]", row->name, text,
                        pb_rule_name(verdict.rule));
    }
    if (status != PB_OK)
        return status;
    memcpy(options, plan->options, plan->option_count * sizeof *options);
    next.certificate = verdict.certificate;
    next.schedule.moves = *moves;
    next.schedule.strategy = row->name;
    next.schedule.has_metrics = true;
    next.schedule.outcome = PB_FOUND;
    next.schedule.reason = NULL;
    next.schedule.options = options;
    next.schedule.option_count = plan->option_count;
    if (pbi_result_better(&next, out)) {
        *out = next;
        pbi_emit(p->job->request, &(pb_event){PB_EVENT_PLAN, out->game, row->name, NULL, next.schedule.metrics.peak,
                                              next.schedule.metrics.makespan, NULL});
    }
    return PB_OK;
}

static pb_status try_row(planner *p, const pb_strategy *row, const pbi_spec *spec, pb_plan_result *out)
{
    pbi_plan plan;
    pb_status status = run_row(p, row, spec, &plan);
    bool timeup = status == PB_ECANCELLED && (p->job->ctx->stopped == PB_STOP_TIME || out->certificate);
    bool limit = status == PB_ELIMIT || timeup;
    const char *why = limit ? p->job->ctx->error.message : plan.reason;
    if (status == PB_OK && plan.outcome == PB_FOUND)
        return take(p, row, &plan, out);
    if (status != PB_OK && !limit)
        return status;
    if (!out->certificate && (spec->row == row || row->strength == PB_ANYTIME)) {
        out->schedule.reason =
            pb_arena_text(p->result, why ? why : "no plan was found", strlen(why ? why : "no plan was found"));
        if (!out->schedule.reason)
            return PB_ENOMEM;
    }
    return PB_OK;
}

static void claim(const pb_game *game, pb_schedule *s)
{
    const pb_weights *w = &game->weights;
    uint64_t value = pb_metrics_objective(game, &s->metrics);
    if (!w->alpha && !w->beta && w->gamma && value == s->lower_bound)
        s->outcome = PB_OPTIMAL;
    s->metrics.gap = pb_metrics_gap(value, s->lower_bound);
}

/* Puts what is proved into the answer: infeasible, or a bound. Bounds take at most an eighth of the time. */
static pb_status state_bounds(const pbi_job *job, const pb_game *game, pb_arena *result, pb_plan_result *out)
{
    pb_timed_bounds b;
    pbi_share share;
    char text[400], need[128];
    pb_schedule *s = &out->schedule;
    pbi_share_begin(&share, job->ctx, job->request->time_ns / 8);
    pb_status status = pb_timed_bounds_make(job->ctx, game, 0, &b);
    pbi_share_end(&share);
    if (status != PB_OK)
        return status;
    s->bound_kind = PB_BOUND_FREE_ORDER;
    s->lower_bound = game->objective == PB_OBJECTIVE_SPAN ? b.span : b.makespan;
    if (!b.infeasible)
        return PB_OK;
    const char *memory = game->timing->machine->memories[b.memory].name;
    pb_amount_text(b.needed, game->graph->size_unit, need, sizeof need);
    if (b.infeasible_at == PB_NO_NODE)
        snprintf(text, sizeof text, "memory %.60s holds %s at the start, more than its cap; raise the cap", memory,
                 need);
    else
        snprintf(text, sizeof text, "computing %.80s needs %s in memory %.60s, more than its cap; raise the cap",
                 pb_graph_name(game->graph, b.infeasible_at), need, memory);
    s->outcome = PB_INFEASIBLE;
    s->reason = pb_arena_text(result, text, strlen(text));
    return s->reason ? PB_OK : PB_ENOMEM;
}

static pb_status plan_rows(planner *p, const pbi_spec *spec, pb_plan_result *out)
{
    uint32_t count;
    const pb_strategy *rows = pb_strategies(&count);
    bool retimed = strcmp(spec->row->name, "retimed") == 0;
    pb_status status = retimed ? PB_OK : make_sequential(p);
    if (status == PB_OK)
        status = make_tiered(p, retimed);
    p->job->ctx->ticks = 0;
    for (uint32_t i = 0; i < count && status == PB_OK; i++) {
        bool asked = spec->row->strength == PB_PORTFOLIO ? rows[i].strength != PB_PORTFOLIO : spec->row == &rows[i];
        if (asked && (rows[i].games & PB_GAME_TIMED))
            status = try_row(p, &rows[i], spec, out);
    }
    return status;
}

pb_status pbi_plan_timed(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                         pb_plan_result *out)
{
    pb_context *ctx = job->ctx;
    pb_arena scratch;
    uint64_t start = ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0;
    if (!game->timing)
        return pbi_fail(ctx, PB_EINVAL, "the timed game needs the times of a machine; call pb_timing_make");
    pb_status status = pbi_provenance(job, game, spec, result, out);
    if (status != PB_OK)
        return status;
    out->schedule.outcome = PB_GAVE_UP;
    out->schedule.reason = "the strategy does not play the timed game; use auto, overlap or offload-all";
    pb_arena_init(&scratch, ctx);
    planner p = {.job = job, .game = game, .result = result, .scratch = &scratch};
    status = state_bounds(job, game, result, out);
    if (status == PB_OK && out->schedule.outcome != PB_INFEASIBLE && (spec->row->games & PB_GAME_TIMED))
        status = plan_rows(&p, spec, out);
    pb_arena_release(&scratch);
    if (status == PB_OK && out->certificate)
        claim(game, &out->schedule);
    out->seconds = ctx->clock_ns ? (double)(ctx->clock_ns(ctx->callback_state) - start) * 1e-9 : 0;
    return status;
}
