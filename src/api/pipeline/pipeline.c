/* pipeline.c -- the only place that connects the stages: plan, verify, measure, bound.
 *
 * The verifier has replayed every plan that leaves here. The outcome is `optimal` if the cost of the plan meets a
 * proved bound. It is `infeasible` if a proved bound is above the cap, or if an exact strategy proves it.
 */
#include "api/pipeline/pipeline.h"

#include "api/pipeline/borrow.h"
#include "api/pipeline/clean_plan.h"
#include "api/pipeline/evicting.h"
#include "api/pipeline/game_bounds.h"
#include "api/pipeline/infeasible.h"
#include "api/pipeline/plan_timed.h"
#include "api/pipeline/portfolio.h"
#include "base/checked.h"
#include "base/context.h"
#include "game/price.h"
#include "plan/evict/evict.h"
#include "plan/strategy.h"

#include <stdio.h>
#include <string.h>

static uint64_t clock_of(const pb_context *ctx) { return ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0; }

static bool has_plan(const pb_plan_result *p) { return p->certificate != NULL; }

bool pbi_result_better(const pb_plan_result *a, const pb_plan_result *b)
{
    if (!has_plan(a) || !has_plan(b))
        return has_plan(a) && !has_plan(b);
    const pb_metrics *x = &a->schedule.metrics, *y = &b->schedule.metrics;
    int order = pb_u128_compare(x->cost, y->cost);
    if (order)
        return order < 0;
    if (x->makespan != y->makespan)
        return x->makespan < y->makespan;
    return x->peak != y->peak ? x->peak < y->peak : x->moves < y->moves;
}

pb_status pbi_job_init(pbi_job *job, pb_context *ctx, const pb_graph *g, const pb_request *request)
{
    uint32_t count;
    const pb_policy *policies = pb_policies(&count);
    bool known = !request->policy;
    for (uint32_t i = 0; i < count && !known; i++)
        known = strcmp(policies[i].name, request->policy) == 0;
    if (!known)
        return pbi_fail(ctx, PB_EUNKNOWN, "there is no policy \"%.40s\"; `pebble help plan` lists them",
                        request->policy);
    *job = (pbi_job){.ctx = ctx, .request = request, .ticks = ctx->tick_limit};
    return pb_graph_hash(ctx, g, job->hash);
}

static pb_status answer(pb_plan_result *out, pb_arena *result, pb_outcome outcome, const char *text)
{
    out->schedule.outcome = outcome;
    out->schedule.reason = pb_arena_text(result, text, strlen(text));
    return out->schedule.reason ? PB_OK : PB_ENOMEM;
}

pb_status pbi_provenance(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                         pb_plan_result *out)
{
    pb_schedule *s = &out->schedule;
    pb_game *copy = pb_arena_alloc(result, 1, sizeof *copy);
    if (!copy)
        return PB_ENOMEM;
    *copy = *game;
    *out =
        (pb_plan_result){.game = copy, .failed_step = UINT64_MAX, .failed_node = PB_NO_NODE, .asked = spec->row->name};
    out->spec = spec->text ? spec->text : spec->row->name;
    s->graph_name = game->graph->name;
    s->read_with = game->graph->read_with;
    memcpy(s->graph_hash, job->hash, sizeof s->graph_hash);
    s->game = game->kind;
    s->cap = game->cap;
    s->borrow = game->borrow;
    s->tier_count = game->kind == PB_GAME_TIERED ? game->tier_count : 0;
    memcpy(s->tiers, game->tiers, sizeof s->tiers);
    s->machine = game->graph->priced_by;
    s->objective = game->objective;
    s->linked = pbi_price_links(game->graph, s->tiers, s->tier_count, s->links);
    s->weights = game->weights;
    s->strategy = spec->row->name;
    s->seed = job->request->seed;
    s->ticks = job->ticks;
    s->threads = job->request->threads ? job->request->threads : 1;
    s->version = PB_VERSION;
    pbi_policy policy;
    const char *asked = spec->policy ? spec->policy : job->request->policy;
    if (spec->row->takes_policy && pbi_policy_parse(asked, &policy))
        s->policy = pbi_policy_name(policy);
    s->policy_asked = pbi_policy_constant(asked);
    pb_moves_init(&s->moves, result);
    return PB_OK;
}

pb_status pbi_fault(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                    pb_plan_result *out)
{
    char text[sizeof job->ctx->error.message];
    memcpy(text, job->ctx->error.message, sizeof text);
    pb_status status = pbi_provenance(job, game, spec, result, out);
    return status == PB_OK ? answer(out, result, PB_GAVE_UP, text) : status;
}

/* Answers `infeasible` if the bounds prove it; then *proved is true. */
static pb_status check_feasible(const pb_game *game, const pb_bounds *b, pb_arena *result, pb_plan_result *out,
                                bool *proved)
{
    char text[300];
    *proved = pbi_infeasible_text(game, b, text, sizeof text);
    return *proved ? answer(out, result, PB_INFEASIBLE, text) : PB_OK;
}

/* Claims for a measured plan what the bounds prove. */
static void claim(const pb_game *game, const pb_bounds *b, pb_schedule *s)
{
    const pb_weights *w = &game->weights;
    bool by_work = !w->alpha && !w->beta && w->gamma; /* the least cost is then the least makespan */
    if ((b->has_cost && pb_u128_compare(s->metrics.cost, b->cost) == 0) ||
        (by_work && !game->borrow && s->metrics.makespan == s->lower_bound))
        s->outcome = PB_OPTIMAL;
    if (s->outcome == PB_OPTIMAL && by_work)
        s->lower_bound = s->metrics.makespan; /* a proved optimum is a bound */
    s->metrics.gap = pb_metrics_gap(s->metrics.makespan, s->lower_bound);
}

/* Replays, cleans up and measures plan->moves. Claims what is proved. */
static pb_status certify(const pbi_job *job, const pb_bounds *b, const pbi_plan *plan, pb_arena *result,
                         pb_plan_result *out)
{
    pb_context *ctx = job->ctx;
    pb_schedule *s = &out->schedule;
    pb_moves *moves = pb_arena_alloc(result, 1, sizeof *moves);
    if (!moves)
        return PB_ENOMEM;
    *moves = plan->moves;
    pbi_certified c;
    bool as_made = job->as_made || plan->as_asked || (plan->outcome == PB_OPTIMAL && pbi_nothing_is_free(out->game));
    pb_status status = as_made ? pbi_certify_as_made(ctx, out->game, moves, result, &c)
                               : pbi_certify(ctx, out->game, plan->least_memory, moves, result, &c);
    if (status != PB_OK)
        return status;
    if (!c.verdict.certificate) {
        char text[300];
        pb_verdict_text(out->game, moves, &c.verdict, text, sizeof text);
        return pbi_fail(ctx, PB_EBUG, "strategy %s made an illegal plan: %s [rule %s]", s->strategy, text,
                        pb_rule_name(c.verdict.rule));
    }
    s->metrics = c.metrics;
    pb_event cleaner = {PB_EVENT_PLAN, out->game, s->strategy, NULL, s->metrics.peak, s->metrics.makespan, NULL};
    if (moves->move != plan->moves.move) /* better than the plan that was reported */
        pbi_emit(job->request, &cleaner);
    s->moves = *moves;
    s->has_metrics = true;
    s->outcome = plan->outcome == PB_OPTIMAL ? PB_OPTIMAL : PB_FOUND;
    claim(out->game, b, s);
    out->certificate = c.verdict.certificate;
    return PB_OK;
}

/* Takes a portfolio's plan as it is: it was certified when its strategy ran. */
static void take_certified(const pb_bounds *b, const pb_plan_result *best, pb_plan_result *out)
{
    pb_schedule *s = &out->schedule;
    out->game = best->game;
    out->certificate = best->certificate;
    s->note = best->schedule.note;
    s->moves = best->schedule.moves;
    s->metrics = best->schedule.metrics;
    s->has_metrics = true;
    s->outcome = best->schedule.outcome;
    claim(out->game, b, s);
}

/* Exact strategies are for graphs of one shape. If the strategy has left no note, the shape is the note. */
static const char *note_of(const pbi_plan *plan, const pb_plan_result *out)
{
    static const char *const by_shape[] = {NULL, "the graph is a chain", "the graph is an adjoint chain",
                                           "the graph is an in-tree", NULL};
    const pb_strategy *row = pb_strategy_find(out->schedule.strategy);
    return plan->note ? plan->note : row->strength == PB_EXACT ? by_shape[out->game->graph->shape] : NULL;
}

static uint32_t count_priorities(const pb_graph *g)
{
    uint32_t count = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        count += pbi_priority_of(g, v) > 0;
    return count;
}

/* Puts what the strategy returned into the answer. `best`: NULL, or its plan if that is already certified. */
static pb_status conclude(const pbi_job *job, const pb_bounds *b, const pbi_plan *plan, const pb_plan_result *best,
                          pb_arena *result, pb_plan_result *out)
{
    pb_option *options = pb_arena_alloc(result, plan->option_count, sizeof *options);
    if (!options)
        return PB_ENOMEM;
    memcpy(options, plan->options, plan->option_count * sizeof *options);
    out->schedule.options = options;
    out->schedule.option_count = plan->option_count;
    if (plan->policy)
        out->schedule.policy = plan->policy;
    if (plan->policy && strcmp(plan->policy, pbi_policy_name(PBI_PRIORITY)) == 0)
        out->schedule.priorities = count_priorities(out->game->graph);
    out->failed_step = plan->failed_step;
    out->failed_node = plan->failed_node;
    out->failed_need = plan->failed_need;
    if (plan->outcome == PB_FOUND || plan->outcome == PB_OPTIMAL) {
        if (best && best->game->kind == out->game->kind) {
            take_certified(b, best, out);
            return PB_OK;
        }
        out->schedule.note = note_of(plan, out);
        return certify(job, b, plan, result, out);
    }
    return answer(out, result, plan->outcome, plan->reason ? plan->reason : "no plan was found");
}

/* Did a limit or the clock end planning without a plan? That is an answer, not an error. */
static bool is_answer(const pb_context *ctx, pb_status status)
{
    return status == PB_ELIMIT || status == PB_ERANGE || (status == PB_ECANCELLED && ctx->stopped == PB_STOP_TIME);
}

/* Adds what is proved to an existing answer. */
static pb_status settle(const pb_game *game, const pb_bounds *bounds, pb_arena *result, pb_plan_result *out)
{
    pb_schedule *s = &out->schedule;
    uint64_t before = s->lower_bound;
    bool proved;
    pbi_bounds_state(game, bounds, s);
    s->lower_bound = before > s->lower_bound ? before : s->lower_bound;
    if (!has_plan(out))
        return check_feasible(game, bounds, result, out, &proved);
    claim(game, bounds, s);
    return PB_OK;
}

/* Exact strategies of the same game may prove what this strategy could not. If there is a time limit, they run first,
 * because a search uses up the time. */
static bool proves_first(const pbi_job *job, const pbi_spec *spec)
{
    bool itself = spec->row->strength == PB_EXACT || pbi_tries_all(spec->row);
    return job->request->time_ns && !itself && !job->no_proofs;
}

/* Runs the strategy, or the strategies of the portfolio. *best: see pbi_portfolio_run. */
static pb_status run(const pbi_task *t, pbi_plan *plan, pb_plan_result *best)
{
    bool portfolio = t->spec->row->strength == PB_PORTFOLIO;
    return portfolio ? pbi_portfolio_run(t, plan, best) : pbi_plan_evicting(t, pbi_run_strategy(t, plan), plan);
}

static pb_status run_bounded(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pbi_bound_cache *own,
                             pb_arena *result, pb_plan_result *out)
{
    pb_bounds *bounds;
    pbi_plan plan;
    pb_plan_result best = {.certificate = NULL};
    bool proved;
    pb_status status = pbi_bounds_raise(job, game, pbi_bounds_first(spec->row, game->graph), own, &bounds);
    if (status == PB_OK && proves_first(job, spec))
        status = pbi_bounds_raise(job, game, PBI_BOUNDS_PROOF, own, &bounds);
    if (status != PB_OK)
        return status;
    pbi_bounds_state(game, bounds, &out->schedule);
    status = check_feasible(game, bounds, result, out, &proved);
    if (status != PB_OK || proved)
        return status;
    pbi_plan_reset(&plan, result);
    status = run(&(pbi_task){job, game, spec, bounds}, &plan, &best);
    pbi_bounds_tried(job, game, spec, own);
    if (status == PB_OK && plan.outcome != PB_OPTIMAL && plan.outcome != PB_INFEASIBLE)
        status = pbi_bounds_raise(job, game, PBI_BOUNDS_TIGHT, own, &bounds);
    if (status != PB_OK)
        return status;
    pbi_bounds_state(game, bounds, &out->schedule);
    status = check_feasible(game, bounds, result, out, &proved);
    if (status != PB_OK || proved)
        return status;
    if (plan.strategy)
        out->schedule.strategy = plan.strategy;
    if (plan.lower_bound > out->schedule.lower_bound)
        out->schedule.lower_bound = plan.lower_bound;
    return conclude(job, bounds, &plan, best.certificate ? &best : NULL, result, out);
}

static pb_status plan_bounded(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                              pb_plan_result *out)
{
    pbi_bound_cache own = {.level = {PBI_BOUNDS_NONE}};
    pb_bounds *bounds;
    pb_status status = run_bounded(job, game, spec, &own, result, out);
    if (is_answer(job->ctx, status))
        status = answer(out, result, PB_GAVE_UP, job->ctx->error.message);
    bool open = out->schedule.outcome == PB_FOUND || out->schedule.outcome == PB_GAVE_UP;
    if (status != PB_OK || !open || !job->cache || job->no_proofs)
        return status;
    uint64_t ticks = job->ctx->ticks;
    status = pbi_bounds_raise(job, game, PBI_BOUNDS_PROOF, &own, &bounds);
    job->ctx->ticks = ticks;
    return status == PB_OK ? settle(game, bounds, result, out) : status;
}

static pb_status plan_borrowed(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                               pb_plan_result *out)
{
    pb_bounds bounds;
    pbi_plan plan;
    bool proved;
    pbi_job inner = *job; /* it plans other games than this one */
    inner.no_proofs = true;
    inner.quick = NULL;
    pbi_plan_reset(&plan, result);
    pb_status status = pbi_plan_borrowed(&inner, game, spec, result, &bounds, &plan);
    if (status != PB_OK)
        return status;
    pbi_bounds_state(game, &bounds, &out->schedule);
    status = check_feasible(game, &bounds, result, out, &proved);
    if (status != PB_OK || proved)
        return status;
    if (plan.strategy)
        out->schedule.strategy = plan.strategy;
    if (plan.lower_bound > out->schedule.lower_bound)
        out->schedule.lower_bound = plan.lower_bound;
    return conclude(job, &bounds, &plan, NULL, result, out);
}

/* With borrowed memory, strategies of the reversible game can plan the remat game, too. */
static bool plays(const pb_strategy *row, const pb_game *game)
{
    unsigned games = row->games;
    return (games & (unsigned)game->kind) ||
           (game->borrow && game->kind == PB_GAME_REMAT && (games & PB_GAME_REVERSIBLE));
}

/* Sets the end of the strategy's time, which is no later than that of a portfolio around it. */
static pbi_job with_end(const pbi_job *job, uint64_t start)
{
    pbi_job timed = *job;
    uint64_t end = pbi_add_saturated(start, job->request->time_ns);
    if (job->request->time_ns && job->ctx->clock_ns && (!job->end_ns || end < job->end_ns))
        timed.end_ns = end;
    return timed;
}

pb_status pbi_plan_row(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                       pb_plan_result *out)
{
    pb_context *ctx = job->ctx;
    uint64_t start = clock_of(ctx);
    pbi_job timed = with_end(job, start);
    pb_status status;
    if (game->kind == PB_GAME_TIMED) {
        ctx->ticks = 0;
        status = pbi_plan_timed(&timed, game, spec, result, out);
        return is_answer(ctx, status) ? pbi_fault(job, game, spec, result, out) : status;
    }
    status = pbi_provenance(job, game, spec, result, out);
    if (status != PB_OK)
        return status;
    ctx->ticks = 0;
    if (!plays(spec->row, game) || (spec->given && !pbi_spec_plays(spec, game->kind))) {
        char text[120];
        snprintf(text, sizeof text, "does not apply: %s does not play the %s game",
                 spec->given ? "the plan of the file" : spec->row->name, pb_game_kind_name(game->kind));
        status = answer(out, result, PB_GAVE_UP, text);
    } else if (game->borrow) {
        status = plan_borrowed(&timed, game, spec, result, out);
    } else {
        status = plan_bounded(&timed, game, spec, result, out);
    }
    if (is_answer(ctx, status))
        status = answer(out, result, PB_GAVE_UP, ctx->error.message);
    out->seconds = (double)(clock_of(ctx) - start) * 1e-9;
    return status;
}

/* The search for the smallest cap may prove that the game's cap is too small. */
static pb_status settle_least(const pb_game *game, pb_arena *result, pb_plan_result *p)
{
    bool proved;
    p->schedule.has_least = true;
    p->schedule.least_proved = p->least->bounds.least_cap;
    p->schedule.least_known = p->least->known ? p->least->cap : PB_UNLIMITED;
    if (p->schedule.outcome == PB_INFEASIBLE)
        return PB_OK;
    return check_feasible(game, &p->least->bounds, result, p, &proved);
}

/* Planners trust the plan they start from, so it is verified here. */
static pb_status check_start(pb_context *ctx, const pb_game *game, const pb_moves *start)
{
    pb_arena scratch;
    pb_verdict verdict;
    pb_game any = *game;
    any.cap = PB_UNLIMITED;
    pb_arena_init(&scratch, ctx);
    pb_status status = pb_verify(ctx, &any, start, &scratch, &verdict);
    if (status == PB_OK && !verdict.certificate)
        status = pbi_fail(ctx, PB_EINVAL,
                          "the plan to start from is illegal [rule %s]; start from a plan for this graph, game and cap",
                          pb_rule_name(verdict.rule));
    pb_arena_release(&scratch);
    return status;
}

static pb_status plan_job(pb_context *ctx, const pb_game *game, const pb_request *request, bool as_made,
                          pb_arena *result, pb_plan_result *out)
{
    pbi_job job;
    pbi_spec spec;
    pb_plan_result planned;
    pbi_bound_cache cache = {.level = {PBI_BOUNDS_NONE}};
    const char *text = request->strategy ? request->strategy : "auto";
    ctx->stopped = PB_GO_ON;
    pb_status status = pbi_spec_parse(ctx, text, strlen(text), result, &spec);
    if (status == PB_OK)
        status = pbi_job_init(&job, ctx, game->graph, request);
    job.cache = &cache;
    job.as_made = as_made;
    job.no_proofs = !request->prove;
    if (status == PB_OK)
        status = pbi_given_read(ctx, game, request, result, &spec);
    if (status == PB_OK && request->start)
        status = check_start(ctx, game, request->start);
    bool timed = game->kind == PB_GAME_TIMED;
    if (status == PB_OK)
        status = pbi_plan_row(&job, game, &spec, result, &planned);
    if (status == PB_OK && request->attempts && !has_plan(&planned) && !timed)
        status = pbi_attempt(&job, game, &spec, result, &planned);
    if (status == PB_OK && request->find_least && !has_plan(&planned) && !timed) {
        bool infeasible = planned.schedule.outcome == PB_INFEASIBLE;
        status = pbi_least_after(ctx, game, infeasible, request, result, &planned.least);
        if (status == PB_OK && planned.least)
            status = settle_least(game, result, &planned);
    }
    if (status == PB_OK)
        *out = planned;
    return status;
}

pb_status pb_plan(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                  pb_plan_result *out)
{
    return plan_job(ctx, game, request, false, result, out);
}

pb_status pbi_plan_as_made(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_plan_result *out)
{
    return plan_job(ctx, game, request, true, result, out);
}
