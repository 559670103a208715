/* pipeline.c -- the only place where the stages meet: plan, verify, measure, bound.
 *
 * Nothing leaves here that the verifier has not replayed. `optimal` is claimed for a plan whose cost meets a
 * proved bound, `infeasible` where a proved bound passes the cap, or where an exact strategy says so.
 */
#include "api/pipeline.h"

#include "api/borrow.h"
#include "api/clean_plan.h"
#include "api/game_bounds.h"
#include "api/infeasible.h"
#include "base/context.h"
#include "game/price.h"
#include "plan/method_evict.h"
#include "plan/strategy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t clock_of(const pb_context *ctx) { return ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0; }

static bool has_plan(const pb_planned *p) { return p->certificate != NULL; }

bool pbi_planned_better(const pb_planned *a, const pb_planned *b)
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
        return pbi_fail(ctx, PB_EUNKNOWN, "there is no policy \"%.40s\"", request->policy);
    *job = (pbi_job){.ctx = ctx, .request = request, .ticks = ctx->tick_limit};
    return pb_graph_hash(ctx, g, job->hash);
}

static pb_status answer(pb_planned *out, pb_arena *result, pb_outcome outcome, const char *text)
{
    out->schedule.outcome = outcome;
    out->schedule.reason = pb_arena_text(result, text, strlen(text));
    return out->schedule.reason ? PB_OK : PB_ENOMEM;
}

pb_status pbi_provenance(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                         pb_planned *out)
{
    pb_schedule *s = &out->schedule;
    pb_game *copy = pb_arena_alloc(result, 1, sizeof *copy);
    if (!copy)
        return PB_ENOMEM;
    *copy = *game;
    *out = (pb_planned){.game = copy, .failed_step = UINT64_MAX, .failed_node = PB_NO_NODE, .asked = spec->row->name};
    out->spec = spec->text ? spec->text : spec->row->name;
    s->graph_name = game->graph->name;
    s->read_with = game->graph->read_with;
    memcpy(s->graph_hash, job->hash, sizeof s->graph_hash);
    s->game = game->kind;
    s->cap = game->cap;
    s->borrow = game->borrow;
    s->tier_count = game->kind == PB_GAME_TIERED ? game->tier_count : 0;
    memcpy(s->tiers, game->tiers, sizeof s->tiers);
    s->largest = pbi_largest_priced(game->graph, s->tiers, s->tier_count);
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
    if (spec->row->strength == PB_PORTFOLIO)
        s->policy_asked = pbi_policy_constant(asked);
    pb_moves_init(&s->moves, result);
    return PB_OK;
}

pb_status pbi_fault(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result, pb_planned *out)
{
    char text[sizeof job->ctx->error.message];
    memcpy(text, job->ctx->error.message, sizeof text);
    pb_status status = pbi_provenance(job, game, spec, result, out);
    return status == PB_OK ? answer(out, result, PB_GAVE_UP, text) : status;
}

/* Proved infeasibility, before any planning. *proved tells. */
static pb_status check_feasible(const pb_game *game, const pb_bounds *b, pb_arena *result, pb_planned *out,
                                bool *proved)
{
    char text[300];
    *proved = pbi_infeasible_text(game, b, text, sizeof text);
    return *proved ? answer(out, result, PB_INFEASIBLE, text) : PB_OK;
}

/* What the bounds make of a plan that was measured. */
static void claim(const pb_game *game, const pb_bounds *b, pb_schedule *s)
{
    const pb_weights *w = &game->weights;
    bool by_work = !w->alpha && !w->beta && w->gamma; /* least cost is then least makespan */
    if ((b->has_cost && pb_u128_compare(s->metrics.cost, b->cost) == 0) ||
        (by_work && !game->borrow && s->metrics.makespan == s->lower_bound))
        s->outcome = PB_OPTIMAL;
    if (s->outcome == PB_OPTIMAL && by_work)
        s->lower_bound = s->metrics.makespan; /* the proof is a bound */
    s->metrics.gap = pb_metrics_gap(s->metrics.makespan, s->lower_bound);
}

/* Replay, clean up and measure plan->moves; claim what is proved. */
static pb_status certify(const pbi_job *job, const pb_bounds *b, pbi_plan *plan, pb_arena *result, pb_planned *out)
{
    pb_context *ctx = job->ctx;
    pb_schedule *s = &out->schedule;
    pb_moves *moves = pb_arena_alloc(result, 1, sizeof *moves);
    if (!moves)
        return PB_ENOMEM;
    *moves = plan->moves;
    pb_verdict verdict;
    pb_status status = job->as_made ? pbi_certify_as_made(ctx, out->game, moves, result, &verdict, &s->metrics)
                                    : pbi_certify(ctx, out->game, moves, result, &verdict, &s->metrics);
    if (status != PB_OK)
        return status;
    if (!verdict.certificate) {
        char text[300];
        pb_verdict_text(out->game, moves, &verdict, text, sizeof text);
        return pbi_fail(ctx, PB_EBUG, "strategy %s made an illegal plan: %s [rule %s]", s->strategy, text,
                        pb_rule_name(verdict.rule));
    }
    pb_news cleaner = {PB_NEWS_PLAN, out->game, s->strategy, NULL, s->metrics.peak, s->metrics.makespan, NULL};
    if (moves->move != plan->moves.move) /* better than what was told of it */
        pbi_tell(job->request, &cleaner);
    s->moves = *moves;
    s->has_metrics = true;
    s->outcome = plan->outcome == PB_OPTIMAL ? PB_OPTIMAL : PB_FOUND;
    claim(out->game, b, s);
    out->certificate = verdict.certificate;
    return PB_OK;
}

/* An exact row answers for graphs of one shape: where it has not said what it saw, that is what it was. */
static const char *note_of(const pbi_plan *plan, const pb_planned *out)
{
    static const char *const by_shape[] = {NULL, "the graph is a chain", "the graph is an adjoint chain",
                                           "the graph is an in-tree", NULL};
    const pb_strategy *row = pb_strategy_find(out->schedule.strategy);
    return plan->note ? plan->note : row->strength == PB_EXACT ? by_shape[out->game->graph->shape] : NULL;
}

/* What the strategy said, into the answer. */
static pb_status conclude(const pbi_job *job, const pb_bounds *b, pbi_plan *plan, pb_arena *result, pb_planned *out)
{
    pb_option *options = pb_arena_alloc(result, plan->option_count, sizeof *options);
    if (!options)
        return PB_ENOMEM;
    memcpy(options, plan->options, plan->option_count * sizeof *options);
    out->schedule.options = options;
    out->schedule.option_count = plan->option_count;
    if (plan->policy)
        out->schedule.policy = plan->policy;
    out->failed_step = plan->failed_step;
    out->failed_node = plan->failed_node;
    out->failed_need = plan->failed_need;
    if (plan->outcome == PB_FOUND || plan->outcome == PB_OPTIMAL) {
        out->schedule.note = note_of(plan, out);
        return certify(job, b, plan, result, out);
    }
    return answer(out, result, plan->outcome, plan->reason ? plan->reason : "no plan was found");
}

/* ---- portfolios: rows are planned in arenas of their own, the best is kept ---- */

typedef struct portfolio {
    const pbi_job *job;
    const pb_game *game;
    pb_planned best;
    pb_arena arena; /* of the best */
    bool any;
    pb_planned fast; /* tiered: the best in fast memory alone; its moves are in an arena of their own */
    pb_arena fast_arena;
    bool any_fast;
    uint64_t lower_bound; /* the best that a row has proved */
    bool starved;         /* a row ran out of memory: the others may not */
    char fault[256];      /* what a row made was illegal: the others may be right */
} portfolio;

/* Plans on the way, told to the listener under the name of the row that makes them. */
typedef struct herald {
    const pb_request *request;
    const pb_game *game;
    const char *strategy;
} herald;

static void tell_better(void *state, uint64_t peak, uint64_t makespan)
{
    const herald *h = state;
    pbi_tell(
        h->request,
        &(pb_news){.kind = PB_NEWS_PLAN, .game = h->game, .strategy = h->strategy, .peak = peak, .makespan = makespan});
}

static bool uses_slow_memory(const pb_moves *moves)
{
    for (uint64_t i = 0; i < moves->count; i++)
        if (moves->move[i].op == PB_STORE || moves->move[i].op == PB_LOAD)
            return true;
    return false;
}

/* What is proved of the game without slow memory is not proved of the game with it. */
static void forget_proofs(pb_planned *p)
{
    p->schedule.lower_bound = 0;
    if (p->schedule.outcome == PB_OPTIMAL)
        p->schedule.outcome = PB_FOUND;
    if (p->schedule.outcome == PB_INFEASIBLE)
        p->schedule.outcome = PB_GAVE_UP;
}

/* The best plan in fast memory alone: rows that know no other begin from it. They do without where memory is short. */
static void keep_fast(portfolio *p, const pb_planned *now)
{
    pb_planned copy = *now;
    pb_arena arena;
    if (p->game->kind != PB_GAME_TIERED || (p->any_fast && !pbi_planned_better(now, &p->fast)) ||
        uses_slow_memory(&now->schedule.moves))
        return;
    pb_arena_init(&arena, p->job->ctx);
    if (pbi_schedule_copy(&arena, &copy.schedule) != PB_OK) {
        pb_arena_release(&arena);
        return;
    }
    if (p->any_fast)
        pb_arena_release(&p->fast_arena);
    p->fast = copy;
    p->fast_arena = arena;
    p->any_fast = true;
}

/* One row's answer, in an arena of its own. */
static pb_status ask_row(portfolio *p, const pb_strategy *row, bool fast, pb_arena *arena, pb_planned *now)
{
    pb_request request = *p->job->request;
    pbi_job job = *p->job;
    pbi_spec spec = {.row = row};
    pb_game game = *p->game;
    job.request = &request;
    job.no_proofs = true; /* the portfolio asks exact rows itself */
    if (p->any)           /* the best so far is where a search begins */
        request.start = &p->best.schedule.moves;
    if (p->any_fast)
        job.fast_start = &p->fast.schedule.moves;
    if (!fast)
        return pbi_plan_row(&job, &game, &spec, arena, now);
    game.kind = PB_GAME_REMAT;
    game.tier_count = 0;
    job.quick = NULL;
    job.cache = NULL; /* those bounds are of the portfolio's game */
    request.start = job.fast_start;
    pb_status status = pbi_plan_row(&job, &game, &spec, arena, now);
    if (status == PB_OK)
        forget_proofs(now);
    return status;
}

/* Takes over what a row has proved. `better`: its plan is the best so far. */
static pb_status take_proofs(portfolio *p, const pb_strategy *row, const pb_planned *now, bool better, pbi_plan *plan)
{
    if (now->schedule.lower_bound > p->lower_bound)
        p->lower_bound = now->schedule.lower_bound;
    if (now->schedule.outcome == PB_INFEASIBLE && row->strength == PB_EXACT) {
        plan->outcome = PB_INFEASIBLE; /* an exact row's proof holds for the portfolio */
        plan->reason = pb_arena_text(plan->arena, now->schedule.reason, strlen(now->schedule.reason));
        return plan->reason ? PB_OK : PB_ENOMEM;
    }
    if (has_plan(now) && now->schedule.outcome == PB_OPTIMAL && p->any && !better)
        p->best.schedule.outcome = plan->outcome = PB_OPTIMAL; /* it is as good as one that is proved */
    return PB_OK;
}

static void take_better(portfolio *p, const pb_strategy *row, const pb_planned *now, pb_arena arena, pbi_plan *plan)
{
    if (p->any)
        pb_arena_release(&p->arena);
    p->best = *now;
    p->arena = arena;
    p->any = true;
    tell_better(&(herald){p->job->request, p->game, row->name}, now->schedule.metrics.peak,
                now->schedule.metrics.makespan);
    plan->outcome = now->schedule.outcome;
    plan->makespan = now->schedule.metrics.makespan;
    plan->moves_values = uses_slow_memory(&now->schedule.moves);
}

static pb_status try_row(void *state, const pb_strategy *row, bool fast, uint64_t ticks, pbi_plan *plan, bool *cut)
{
    portfolio *p = state;
    pb_context *ctx = p->job->ctx;
    uint64_t limit = ctx->tick_limit;
    pb_planned now;
    pb_arena arena;
    bool better = false;
    pb_arena_init(&arena, ctx);
    if (ticks && (!limit || ticks < limit))
        ctx->tick_limit = ticks;
    pb_status status = ask_row(p, row, fast, &arena, &now);
    *cut = ctx->tick_limit && ctx->ticks > ctx->tick_limit;
    ctx->tick_limit = limit;
    if (status == PB_OK && has_plan(&now)) {
        better = !p->any || pbi_planned_better(&now, &p->best);
        keep_fast(p, &now);
    }
    if (status == PB_OK)
        status = take_proofs(p, row, &now, better, plan);
    bool starved = status == PB_ENOMEM; /* its memory is given back below, and the next row may need less */
    p->starved = p->starved || starved;
    bool faulty = status == PB_EBUG; /* nothing of it is used; told, so that it is not lost */
    if (faulty) {
        snprintf(p->fault, sizeof p->fault, "%.255s", ctx->error.message);
        if (ctx->log)
            ctx->log(ctx->callback_state, p->fault);
    }
    if (status == PB_OK && better)
        take_better(p, row, &now, arena, plan);
    else
        pb_arena_release(&arena);
    return status == PB_OK || starved || faulty ? pbi_poll(ctx) : status;
}

/* Moves, options and texts of the portfolio's best into `plan`, which lives in the result's arena. */
static pb_status take_best(const portfolio *p, pbi_plan *plan)
{
    const pb_schedule *s = &p->best.schedule;
    pb_status status = PB_OK;
    plan->moves.move = pb_arena_alloc(plan->arena, (size_t)s->moves.count, sizeof *s->moves.move);
    plan->moves.extra = pb_arena_alloc(plan->arena, s->moves.extra_count, sizeof *s->moves.extra);
    if (!plan->moves.move || !plan->moves.extra)
        return PB_ENOMEM;
    plan->moves.count = plan->moves.room = s->moves.count;
    plan->moves.extra_count = plan->moves.extra_room = s->moves.extra_count;
    if (s->moves.count)
        memcpy(plan->moves.move, s->moves.move, (size_t)s->moves.count * sizeof *s->moves.move);
    if (s->moves.extra_count)
        memcpy(plan->moves.extra, s->moves.extra, s->moves.extra_count * sizeof *s->moves.extra);
    plan->outcome = s->outcome;
    plan->policy = s->policy; /* policy and keys are constants of the library */
    plan->strategy = s->strategy;
    if (s->note)
        status = pbi_plan_note(plan, "%s", s->note);
    for (uint32_t i = 0; i < s->option_count && status == PB_OK; i++)
        status = pbi_plan_record(plan, s->options[i].key, s->options[i].value);
    return status;
}

static pb_status run_strategy(const pbi_job *job, const pb_game *game, const pbi_spec *spec, const pb_bounds *bounds,
                              pbi_plan *plan)
{
    portfolio p = {.job = job, .game = game};
    herald h = {.request = job->request, .game = game, .strategy = spec->row->name};
    bool takes = spec->row->takes_policy || spec->row->strength == PB_PORTFOLIO;
    pbi_plan_options options = {
        .policy = spec->policy ? spec->policy
                  : takes      ? job->request->policy
                               : NULL,
        .seed = job->request->seed,
        .threads = job->request->threads ? job->request->threads : 1,
        .patient = job->request->patient && !(job->others && spec->row->strength == PB_EXACT),
        .options = spec->options,
        .option_count = spec->option_count,
        .bounds = bounds,
        .start = job->request->start,
        .fast_start = job->fast_start,
        .try_row = try_row,
        .try_state = &p,
        .better = job->request->listener ? tell_better : NULL,
        .better_state = &h,
    };
    pb_request inner = *job->request; /* a policy named in the spec holds for the portfolio's rows too */
    inner.policy = options.policy;
    pbi_job inner_job = *job;
    inner_job.request = &inner;
    p.job = &inner_job;
    pb_status status = pbi_strategy_function(spec->row)(job->ctx, game, &options, plan);
    if (p.lower_bound > plan->lower_bound)
        plan->lower_bound = p.lower_bound;
    if (p.any) {
        if (status == PB_OK)
            status = take_best(&p, plan);
        pb_arena_release(&p.arena);
    } else if (status == PB_OK && p.fault[0] && plan->outcome == PB_GAVE_UP) {
        status = pbi_fail(job->ctx, PB_EBUG, "%s", p.fault);
    } else if (status == PB_OK && p.starved && plan->outcome == PB_GAVE_UP) {
        status = pbi_fail(job->ctx, PB_ENOMEM, "every strategy that might have found a plan ran out of memory");
    }
    if (p.any_fast)
        pb_arena_release(&p.fast_arena);
    return status;
}

/* A limit or the clock ended planning with nothing to show: an answer, not an error. */
static bool is_answer(const pb_context *ctx, pb_status status)
{
    return status == PB_ELIMIT || status == PB_ERANGE || (status == PB_ECANCELLED && ctx->stopped == PB_STOP_TIME);
}

/* What is proved, into an answer that is there already. */
static pb_status settle(const pb_game *game, const pb_bounds *bounds, pb_arena *result, pb_planned *out)
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

/* Exact rows of the same game may prove what this row could not. With a limit on time, which a search uses up, they come first. */
static bool proves_first(const pbi_job *job, const pbi_spec *spec)
{
    bool itself = spec->row->strength == PB_EXACT || spec->row->strength == PB_PORTFOLIO;
    return job->request->time_ns && !itself && !job->no_proofs;
}

static pb_status run_bounded(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pbi_bound_cache *own,
                             pb_arena *result, pb_planned *out)
{
    pb_context *ctx = job->ctx;
    pb_bounds *bounds;
    pbi_plan plan;
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
    status = run_strategy(job, game, spec, bounds, &plan);
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
    pbi_held held = pbi_hold(ctx); /* what was found is verified even after a stop */
    status = conclude(job, bounds, &plan, result, out);
    pbi_resume(ctx, held);
    return status;
}

static pb_status plan_bounded(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                              pb_planned *out)
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
                               pb_planned *out)
{
    pb_bounds bounds;
    pbi_plan plan;
    bool proved;
    pbi_job inner = *job; /* it plays other games than this */
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
    pbi_held held = pbi_hold(job->ctx);
    status = conclude(job, &bounds, &plan, result, out);
    pbi_resume(job->ctx, held);
    return status;
}

/* Borrowed memory brings the reversible game into the others. */
static bool plays(const pb_strategy *row, const pb_game *game)
{
    unsigned games = row->games;
    return (games & (unsigned)game->kind) ||
           (game->borrow && game->kind == PB_GAME_REMAT && (games & PB_GAME_REVERSIBLE));
}

pb_status pbi_plan_row(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result, pb_planned *out)
{
    pb_context *ctx = job->ctx;
    uint64_t start = clock_of(ctx);
    pb_status status = pbi_provenance(job, game, spec, result, out);
    if (status != PB_OK)
        return status;
    ctx->ticks = 0;
    if (!plays(spec->row, game)) {
        char text[120];
        snprintf(text, sizeof text, "does not apply: %s does not play the %s game", spec->row->name,
                 pb_game_kind_name(game->kind));
        status = answer(out, result, PB_GAVE_UP, text);
    } else if (game->borrow) {
        status = plan_borrowed(job, game, spec, result, out);
    } else {
        status = plan_bounded(job, game, spec, result, out);
    }
    if (is_answer(ctx, status))
        status = answer(out, result, PB_GAVE_UP, ctx->error.message);
    out->seconds = (double)(clock_of(ctx) - start) * 1e-9;
    return status;
}

/* The search for the smallest cap may prove that this one is too small. */
static pb_status settle_least(const pb_game *game, pb_arena *result, pb_planned *p)
{
    bool proved;
    p->schedule.has_least = true;
    p->schedule.least_proved = p->least->bounds.least_cap;
    p->schedule.least_known = p->least->known ? p->least->cap : PB_UNLIMITED;
    if (p->schedule.outcome == PB_INFEASIBLE)
        return PB_OK;
    return check_feasible(game, &p->least->bounds, result, p, &proved);
}

/* Planners trust the plan they begin from. */
static pb_status check_start(pb_context *ctx, const pb_game *game, const pb_moves *start)
{
    pb_arena scratch;
    pb_verdict verdict;
    pb_game any = *game;
    any.cap = PB_UNLIMITED;
    pb_arena_init(&scratch, ctx);
    pb_status status = pb_verify(ctx, &any, start, &scratch, &verdict);
    if (status == PB_OK && !verdict.certificate)
        status = pbi_fail(ctx, PB_EINVAL, "the plan to begin from is illegal [rule %s]", pb_rule_name(verdict.rule));
    pb_arena_release(&scratch);
    return status;
}

static pb_status plan_job(pb_context *ctx, const pb_game *game, const pb_request *request, bool as_made,
                          pb_arena *result, pb_planned *out)
{
    pbi_job job;
    pbi_spec spec;
    pb_planned planned;
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
        status = pbi_policy_check(ctx, request->policy, text);
    if (status == PB_OK && request->start)
        status = check_start(ctx, game, request->start);
    if (status == PB_OK)
        status = pbi_plan_row(&job, game, &spec, result, &planned);
    if (status == PB_OK && request->find_least && !has_plan(&planned)) {
        bool infeasible = planned.schedule.outcome == PB_INFEASIBLE;
        status = pbi_least_after(ctx, game, infeasible, request, result, &planned.least);
        if (status == PB_OK && planned.least)
            status = settle_least(game, result, &planned);
    }
    if (status == PB_OK)
        *out = planned;
    return status;
}

pb_status pb_plan(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result, pb_planned *out)
{
    return plan_job(ctx, game, request, false, result, out);
}

pb_status pbi_plan_as_made(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_planned *out)
{
    return plan_job(ctx, game, request, true, result, out);
}
