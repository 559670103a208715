/* portfolio.c -- see portfolio.h. Rows are planned in arenas of their own; the best is kept. */
#include "api/pipeline/portfolio.h"

#include "base/context.h"

#include <stdio.h>
#include <string.h>

typedef struct portfolio {
    const pbi_job *job;
    const pb_game *game;
    pb_plan_result best;
    pb_arena arena; /* of the best */
    bool any;
    pb_plan_result fast; /* tiered: the best in fast memory alone; its moves are in an arena of their own */
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
    pbi_emit(h->request,
             &(pb_event){
                 .kind = PB_EVENT_PLAN, .game = h->game, .strategy = h->strategy, .peak = peak, .makespan = makespan});
}

static bool uses_slow_memory(const pb_moves *moves)
{
    for (uint64_t i = 0; i < moves->count; i++)
        if (moves->move[i].op == PB_STORE || moves->move[i].op == PB_LOAD)
            return true;
    return false;
}

/* What is proved of the game without slow memory is not proved of the game with it. */
static void forget_proofs(pb_plan_result *p)
{
    p->schedule.lower_bound = 0;
    if (p->schedule.outcome == PB_OPTIMAL)
        p->schedule.outcome = PB_FOUND;
    if (p->schedule.outcome == PB_INFEASIBLE)
        p->schedule.outcome = PB_GAVE_UP;
}

/* The best plan in fast memory alone: rows that know no other begin from it. They do without where memory is short. */
static void keep_fast(portfolio *p, const pb_plan_result *now)
{
    pb_plan_result copy = *now;
    pb_arena arena;
    if (p->game->kind != PB_GAME_TIERED || (p->any_fast && !pbi_result_better(now, &p->fast)) ||
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
static pb_status ask_row(portfolio *p, const pb_strategy *row, bool fast, pb_arena *arena, pb_plan_result *now)
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
static pb_status take_proofs(portfolio *p, const pb_strategy *row, const pb_plan_result *now, bool better,
                             pbi_plan *plan)
{
    if (now->schedule.lower_bound > p->lower_bound)
        p->lower_bound = now->schedule.lower_bound;
    if (now->schedule.outcome == PB_INFEASIBLE && row->strength == PB_EXACT) {
        plan->outcome = PB_INFEASIBLE; /* an exact row's proof holds for the portfolio */
        plan->reason = pb_arena_text(plan->arena, now->schedule.reason, strlen(now->schedule.reason));
        return plan->reason ? PB_OK : PB_ENOMEM;
    }
    if (now->certificate && now->schedule.outcome == PB_OPTIMAL && p->any && !better)
        p->best.schedule.outcome = plan->outcome = PB_OPTIMAL; /* it is as good as one that is proved */
    return PB_OK;
}

static void take_better(portfolio *p, const pb_strategy *row, const pb_plan_result *now, pb_arena arena, pbi_plan *plan)
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
    pb_plan_result now;
    pb_arena arena;
    bool better = false;
    pb_arena_init(&arena, ctx);
    if (ticks && (!limit || ticks < limit))
        ctx->tick_limit = ticks;
    pb_status status = ask_row(p, row, fast, &arena, &now);
    *cut = ctx->tick_limit && ctx->ticks > ctx->tick_limit;
    ctx->tick_limit = limit;
    if (status == PB_OK && now.certificate) {
        better = !p->any || pbi_result_better(&now, &p->best);
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

pb_status pbi_run_strategy(const pbi_job *job, const pb_game *game, const pbi_spec *spec, const pb_bounds *bounds,
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
        .end_ns = job->end_ns,
        .options = spec->options,
        .option_count = spec->option_count,
        .bounds = bounds,
        .start = job->request->start,
        .fast_start = job->fast_start,
        .try_row = try_row,
        .try_state = &p,
        .better = job->request->handler ? tell_better : NULL,
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
