/* portfolio.c -- see portfolio.h. Each strategy plans in its own arena; the arena of the best plan is kept. */
#include "api/pipeline/portfolio.h"

#include "api/pipeline/rounds.h"
#include "base/arena.h"
#include "base/context.h"

#include <stdio.h>
#include <string.h>

typedef struct portfolio {
    const pbi_task *task;
    pbi_job job; /* for the strategies */
    pb_request request;
    pbi_rounds rounds;
    pb_plan_result best;
    pb_arena arena; /* holds `best` */
    bool any;
    pb_plan_result fast; /* tiered: the best plan in fast memory alone; its moves are in an arena of their own */
    pb_arena fast_arena;
    bool any_fast;
    uint64_t lower_bound;                     /* the highest that a strategy has proved */
    const char *reason;                       /* why the game is infeasible */
    bool starved;                             /* a strategy ran out of memory: others may need less */
    char bug[sizeof((pb_error *)0)->message]; /* a strategy's plan was illegal: those of others may be legal */
} portfolio;

static bool uses_slow_memory(const pb_moves *moves)
{
    for (uint64_t i = 0; i < moves->count; i++)
        if (moves->move[i].op == PB_STORE || moves->move[i].op == PB_LOAD)
            return true;
    return false;
}

/* A proof for the game without slow memory does not hold for the game with it. */
static void forget_proofs(pb_plan_result *p)
{
    p->schedule.lower_bound = 0;
    if (p->schedule.outcome == PB_OPTIMAL)
        p->schedule.outcome = PB_FOUND;
    if (p->schedule.outcome == PB_INFEASIBLE)
        p->schedule.outcome = PB_GAVE_UP;
}

/* Keeps the best plan in fast memory alone. Strategies that use only fast memory start from it. If memory is short,
 * they start without it. */
static void keep_fast(portfolio *p, const pb_plan_result *now)
{
    pb_plan_result copy = *now;
    pb_arena arena;
    if (p->task->game->kind != PB_GAME_TIERED || (p->any_fast && !pbi_result_better(now, &p->fast)) ||
        uses_slow_memory(&now->schedule.moves))
        return;
    pb_arena_init(&arena, p->job.ctx);
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

/* Runs one strategy in its own arena. */
static pb_status ask(portfolio *p, const pbi_turn *t, pb_arena *arena, pb_plan_result *now)
{
    pb_request request = p->request;
    pbi_job job = p->job;
    pbi_spec spec = {.row = t->row};
    pb_game game = *p->task->game;
    job.request = &request;
    if (p->any) /* a search starts from the best plan so far */
        request.start = &p->best.schedule.moves;
    if (p->any_fast)
        job.fast_start = &p->fast.schedule.moves;
    if (!t->fast)
        return pbi_plan_row(&job, &game, &spec, arena, now);
    game.kind = PB_GAME_REMAT;
    game.tier_count = 0;
    job.quick = NULL;
    job.cache = NULL; /* those bounds are for the portfolio's game */
    request.start = job.fast_start;
    pb_status status = pbi_plan_row(&job, &game, &spec, arena, now);
    if (status == PB_OK)
        forget_proofs(now);
    return status;
}

/* What a strategy proves also holds for the portfolio. `better`: its plan is the best so far. */
static pb_status take_proofs(portfolio *p, const pb_strategy *row, const pb_plan_result *now, bool better,
                             pb_arena *result)
{
    if (now->schedule.lower_bound > p->lower_bound)
        p->lower_bound = now->schedule.lower_bound;
    if (now->schedule.outcome == PB_INFEASIBLE && row->strength == PB_EXACT) {
        p->rounds.outcome = PB_INFEASIBLE;
        p->reason = pb_arena_text(result, now->schedule.reason, strlen(now->schedule.reason));
        return p->reason ? PB_OK : PB_ENOMEM;
    }
    if (now->certificate && now->schedule.outcome == PB_OPTIMAL && p->any && !better)
        p->best.schedule.outcome = p->rounds.outcome = PB_OPTIMAL; /* it is as good as a plan that is proved optimal */
    return PB_OK;
}

static void take_better(portfolio *p, const pb_strategy *row, const pb_plan_result *now, pb_arena arena)
{
    const pb_metrics *m = &now->schedule.metrics;
    if (p->any)
        pb_arena_release(&p->arena);
    p->best = *now;
    p->arena = arena;
    p->any = true;
    pbi_emit_plan(p->task, row->name, m->peak, m->makespan);
    p->rounds.outcome = now->schedule.outcome;
    p->rounds.makespan = m->makespan;
    p->rounds.uses_slow = uses_slow_memory(&now->schedule.moves);
}

/* An illegal plan is not used. It is logged, so that the bug is not lost. */
static void log_bug(portfolio *p)
{
    pb_context *ctx = p->job.ctx;
    memcpy(p->bug, ctx->error.message, sizeof p->bug);
    if (ctx->log)
        ctx->log(ctx->callback_state, p->bug);
}

/* Takes one turn. *cut: it ran out of ticks. */
static pb_status try_turn(portfolio *p, const pbi_turn *t, uint64_t ticks, pb_arena *result, bool *cut)
{
    pb_context *ctx = p->job.ctx;
    uint64_t limit = ctx->tick_limit;
    pb_plan_result now;
    pb_arena arena;
    bool better = false;
    pb_arena_init(&arena, ctx);
    if (ticks && (!limit || ticks < limit))
        ctx->tick_limit = ticks;
    pb_status status = ask(p, t, &arena, &now);
    *cut = ctx->tick_limit && ctx->ticks > ctx->tick_limit;
    ctx->tick_limit = limit;
    if (status == PB_OK && now.certificate) {
        better = !p->any || pbi_result_better(&now, &p->best);
        keep_fast(p, &now);
    }
    if (status == PB_OK)
        status = take_proofs(p, t->row, &now, better, result);
    bool starved = status == PB_ENOMEM; /* its memory is freed below, and the next strategy may need less */
    p->starved = p->starved || starved;
    if (status == PB_EBUG)
        log_bug(p);
    if (status == PB_OK && better)
        take_better(p, t->row, &now, arena);
    else
        pb_arena_release(&arena);
    return status == PB_OK || starved || status == PB_EBUG ? pbi_poll(ctx) : status;
}

/* Takes one turn within its share of memory. */
static pb_status try_within(portfolio *p, const pbi_turn *t, pbi_round now, pb_arena *result, bool *cut)
{
    pb_context *ctx = p->job.ctx;
    size_t limit = ctx->memory_limit, share = pbi_turn_memory(&p->rounds);
    if (share && (!limit || share < limit - ctx->memory_used))
        ctx->memory_limit = ctx->memory_used + share;
    pb_status status = try_turn(p, t, pbi_turn_effort(&p->rounds, t->row, now), result, cut);
    ctx->memory_limit = limit;
    return status;
}

static pb_status play_rounds(portfolio *p, pb_arena *result)
{
    pbi_turn turns[PBI_MAX_TURNS];
    bool cut[PBI_MAX_TURNS] = {false};
    uint32_t count = pbi_turns_make(p->task->game, p->task->spec->row->traits, turns);
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < PBI_ROUND_COUNT * count && status == PB_OK && !pbi_rounds_done(&p->rounds); i++) {
        const pbi_turn *t = &turns[i % count];
        bool *was_cut = &cut[i % count];
        pbi_round now = (pbi_round)(i / count);
        pbi_progress(p->job.ctx, t->row->name, i, PBI_ROUND_COUNT * count);
        if (pbi_turn_is_due(&p->rounds, t, *was_cut, now))
            status = try_within(p, t, now, result, was_cut);
        else if (now == PBI_ROUND_FIRST)
            *was_cut = true;
        p->rounds.exact_cut |= now == PBI_ROUND_FIRST && t->row->strength == PB_EXACT && *was_cut;
    }
    bool ended = status == PB_ECANCELLED || status == PB_ELIMIT;
    return ended && p->rounds.outcome != PB_GAVE_UP ? PB_OK : status;
}

/* The caller's own plan is kept if no strategy has a better one. */
static pb_status keep_start(portfolio *p, pb_arena *result)
{
    const pb_request *request = p->task->job->request;
    const pb_strategy *row = pbi_strategy_with(PB_GAME_ALL, PB_HEURISTIC, PB_TRAIT_FILE | PB_TRAIT_MOVES, 0);
    pb_context *ctx = p->job.ctx;
    pb_plan_result now;
    pb_verdict verdict;
    pb_arena arena;
    pb_game open = *p->task->game;
    if (!request->start || !request->start_name || p->rounds.outcome == PB_OPTIMAL ||
        p->rounds.outcome == PB_INFEASIBLE)
        return PB_OK;
    open.cap = PB_UNLIMITED;
    pb_status status = pb_verify(ctx, &open, request->start, result, &verdict);
    if (status != PB_OK || !verdict.certificate)
        return status;
    pbi_given given = {.name = request->start_name,
                       .moves = request->start,
                       .game = open.kind,
                       .peak = pb_certificate_totals(verdict.certificate)->peak};
    pbi_spec spec = {.row = row, .given = &given};
    pb_arena_init(&arena, ctx);
    status = pbi_plan_row(&p->job, p->task->game, &spec, &arena, &now);
    if (status == PB_OK && now.certificate && (!p->any || pbi_result_better(&now, &p->best)))
        take_better(p, row, &now, arena);
    else
        pb_arena_release(&arena);
    return status;
}

/* Reports why there is no plan. */
static pb_status give_up(const portfolio *p, pbi_plan *plan)
{
    if (p->bug[0])
        return pbi_fail(p->job.ctx, PB_EBUG, "%s", p->bug);
    if (p->starved)
        return pbi_fail(p->job.ctx, PB_ENOMEM,
                        "every strategy that might have found a plan ran out of memory" PBI_FREE_MEMORY);
    return pbi_plan_give_up(plan, "no strategy found a plan within the cap");
}

/* Moves the best plan, and all that it points to, into the arena of `plan`. */
static void hand_over(portfolio *p, pbi_plan *plan, pb_plan_result *best)
{
    const pb_schedule *s = &p->best.schedule;
    pbi_arena_adopt(plan->arena, &p->arena);
    *best = p->best;
    best->schedule.moves.arena = plan->arena;
    plan->moves = best->schedule.moves;
    plan->policy = s->policy;
    plan->strategy = s->strategy;
    plan->note = s->note;
    plan->option_count = s->option_count;
    memcpy(plan->options, s->options, s->option_count * sizeof *plan->options);
}

pb_status pbi_portfolio_run(const pbi_task *t, pbi_plan *plan, pb_plan_result *best)
{
    portfolio p = {.task = t, .job = *t->job, .request = *t->job->request};
    p.rounds = (pbi_rounds){.game = t->game,
                            .bounds = t->bounds,
                            .gap = p.request.gap,
                            .patient = p.request.patient,
                            .outcome = PB_GAVE_UP};
    p.request.policy = pbi_task_policy(t); /* a policy in the spec is for the strategies, too */
    p.job.no_proofs = true;                /* exact strategies run here */
    p.job.in_portfolio = true;
    pb_status status = play_rounds(&p, plan->arena);
    if (status == PB_OK)
        status = keep_start(&p, plan->arena);
    plan->outcome = p.rounds.outcome;
    plan->reason = p.reason;
    plan->lower_bound = p.lower_bound;
    if (status == PB_OK && p.rounds.outcome == PB_GAVE_UP)
        status = give_up(&p, plan);
    if (p.any && status == PB_OK && p.rounds.outcome != PB_INFEASIBLE)
        hand_over(&p, plan, best);
    else if (p.any)
        pb_arena_release(&p.arena);
    if (p.any_fast)
        pb_arena_release(&p.fast_arena);
    return status;
}
