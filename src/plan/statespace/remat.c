/* remat.c -- see remat.h.
 *
 * The first states are searched without a known plan. If they do not decide the game, a plan by annealing (or the
 * caller's) limits the work, and nodes that no better plan computes twice become `once`.
 */
#include "plan/statespace/remat.h"

#include "base/context.h"
#include "plan/anneal/anneal.h"
#include "plan/statespace/live.h"
#include "plan/statespace/once.h"

#include <inttypes.h>

enum {
    FIRST_STATES = 40000, /* states to search before a plan is worth having */
    A_NODE = 500,         /* proposals of the annealing for each node */
    BYTES_PER_STATE = 50, /* bytes of the limit for each state expanded, new or not */
    FEW_OPEN = 16         /* open nodes up to which the search is likely to end */
};

typedef struct exact {
    pb_context *ctx;
    const pb_game *game;
    const pbi_plan_options *options;
    pb_arena *scratch;
    uint64_t limit;
    pbi_live *live;
    pbi_live *first; /* NULL, or the search before the game was narrowed, if the known plan was its own */
    pbi_once once;
    bool few_open; /* few nodes may be recomputed in it */
    pbi_live_answer answer;
    bool begun; /* the plan to start from is the best known */
    pbi_sequence annealed;
} exact;

/* The peak and the work of a legal schedule. */
static pb_status measure(const exact *e, const pb_moves *moves, uint64_t *peak, uint64_t *work)
{
    const pb_graph *g = e->game->graph;
    bool *there = pb_arena_zero(e->scratch, g->node_count, sizeof *there);
    uint64_t memory = g->fixed_size;
    if (!there)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_GIVEN) && !(g->flags[v] & PB_NODE_GIVEN_SLOW)) {
            there[v] = true;
            memory += g->size[v];
        }
    *peak = memory;
    *work = 0;
    for (pb_step k = 0; k < moves->count; k++) {
        pb_node v = moves->move[k].node, over = pb_moves_over(moves, k);
        if (moves->move[k].op != PB_COMPUTE) {
            there[v] = false;
            memory -= g->size[v];
            continue;
        }
        uint32_t count;
        const pb_node *also = pb_moves_also(moves, k, &count);
        uint64_t made = there[v] ? 0 : g->size[v], taken = over == PB_NO_NODE ? 0 : g->size[over];
        uint64_t saved = made < taken ? made : taken;
        there[v] = true;
        for (uint32_t i = 0; i < count; i++) {
            there[also[i]] = true;
            made += g->size[also[i]];
        }
        if (over != PB_NO_NODE)
            there[over] = false;
        uint64_t during = memory + made - saved + g->workspace[v];
        *peak = during > *peak ? during : *peak;
        *work += g->cost[v];
        memory += made - taken;
    }
    return PB_OK;
}

/* Uses the caller's plan if it fits. Not with weights on memory: among plans with equal work it may be the best
 * known for its work, not for its cost. */
static pb_status use_start(exact *e)
{
    uint64_t peak, work;
    const pb_weights *w = &e->game->weights;
    if (!e->options->start || w->alpha || w->beta)
        return PB_OK;
    pb_status status = measure(e, e->options->start, &peak, &work);
    e->begun = status == PB_OK && peak <= e->game->cap;
    if (e->begun)
        pbi_live_set_known(e->live, work);
    return status;
}

/* A plan by annealing from program order. */
static pb_status plan_by_annealing(exact *e)
{
    const pb_graph *g = e->game->graph;
    pbi_anneal a;
    pbi_figures figures;
    pb_node *written = pb_arena_alloc(e->scratch, g->order_count, sizeof *written);
    uint32_t count = 0;
    if (!written || !pbi_anneal_init(&a, e->ctx, e->game, e->options->seed, e->scratch))
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            written[count++] = g->order[i];
    if (!pbi_anneal_start(&a, written, count, e->game->cap))
        return PB_ENOMEM;
    double enough = e->game->weights.beta ? 0 : a.gamma * (double)e->answer.bound;
    pb_status status = pbi_anneal_run(&a, (uint64_t)A_NODE * count, 1, 0.002, enough);
    uint64_t work = a.best_count ? 0 : UINT64_MAX;
    for (uint32_t i = 0; i < a.best_count; i++)
        work += g->cost[a.best[i]];
    if ((status != PB_OK && status != PB_ELIMIT && status != PB_ECANCELLED) || work >= e->answer.work)
        return status;
    e->annealed.count = 0;
    for (uint32_t i = 0; i < a.best_count; i++)
        if (pbi_sequence_add(&e->annealed, a.best[i]) != PB_OK)
            return PB_ENOMEM;
    pbi_held held = pbi_hold(e->ctx);
    pb_status measured = pbi_sequence_emit(e->ctx, e->game, &e->annealed, NULL, &figures);
    pbi_resume(e->ctx, held);
    if (measured == PB_OK && figures.fits && !figures.overflow)
        pbi_live_set_known(e->live, figures.time);
    return measured == PB_OK ? status : measured;
}

static bool is_stop(pb_status status) { return status == PB_ELIMIT || status == PB_ECANCELLED; }

/* Continues in the game where nodes that no better plan computes twice are `once`, if there are any. */
static pb_status narrow_game(exact *e)
{
    const pbi_live_model *m = pbi_live_model_of(e->live);
    bool own;
    uint64_t work = pbi_live_known(e->live, &own);
    pbi_live *live;
    if (work == PBI_LIVE_NEVER)
        return PB_OK;
    pbi_once *once = &e->once;
    pb_status status = pbi_once_narrow(e->ctx, e->game, work, PBI_LIVE_BITS - m->bits, e->scratch, once);
    if (status == PB_ENOMEM || (!once->count && !once->none))
        return status;
    e->few_open = once->open <= FEW_OPEN;
    uint64_t bound = once->bound > e->answer.bound ? once->bound : e->answer.bound;
    pb_status made = pbi_live_new(e->ctx, &once->game, bound, e->scratch, &live);
    if (made != PB_OK || !live)
        return made != PB_OK ? made : status;
    pbi_live_set_known(live, work);
    e->first = own ? e->live : NULL;
    e->live = live;
    return status;
}

static pb_status search(exact *e)
{
    pb_status status = use_start(e);
    if (status == PB_OK)
        status = pbi_live_solve(e->live, e->limit, FIRST_STATES, &e->answer);
    if (status != PB_OK || e->answer.end != PBI_LIVE_STOPPED || e->answer.status != PB_OK)
        return status;
    if (!e->begun)
        status = plan_by_annealing(e);
    if (status == PB_OK)
        status = narrow_game(e);
    if (status == PB_OK)
        return pbi_live_solve(e->live, e->limit, e->limit / BYTES_PER_STATE * (e->few_open ? 4 : 1) + 1, &e->answer);
    if (!is_stop(status))
        return status;
    pb_status stopped = status;
    status = pbi_live_solve(e->live, 1, 1, &e->answer); /* for what is known by now */
    e->answer.status = stopped;
    return status;
}

static pb_status copy_start(const exact *e, pbi_plan *plan)
{
    const pb_moves *from = e->options->start;
    pb_status status = PB_OK;
    for (pb_step k = 0; k < from->count && status == PB_OK; k++) {
        const pb_move *move = &from->move[k];
        uint32_t count;
        const pb_node *also = pb_moves_also(from, k, &count);
        if (move->op == PB_COMPUTE)
            status = pb_moves_add_compute(&plan->moves, move->node, pb_moves_over(from, k), also, count);
        else
            status = pb_moves_add(&plan->moves, (pb_op)move->op, move->node, move->tier);
    }
    plan->outcome = PB_FOUND;
    return status;
}

static pb_status write_plan(const exact *e, pbi_plan *plan)
{
    pbi_figures figures;
    if (e->answer.own)
        return pbi_live_emit(e->ctx, e->game, e->live, e->scratch, plan);
    if (e->first)
        return pbi_live_emit(e->ctx, e->game, e->first, e->scratch, plan);
    return e->begun ? copy_start(e, plan) : pbi_sequence_emit(e->ctx, e->game, &e->annealed, plan, &figures);
}

static pb_status conclude(exact *e, pbi_plan *plan)
{
    const pbi_live_answer *answer = &e->answer;
    const pb_weights *w = &e->game->weights;
    if (answer->end == PBI_LIVE_INFEASIBLE && answer->overflow)
        return pbi_fail(e->ctx, PB_ERANGE, "the work of every plan found exceeds 2^64; use a coarser cost unit");
    if (answer->end == PBI_LIVE_INFEASIBLE) {
        pb_status status = pbi_plan_give_up(plan, "an exhaustive search found that no plan fits the cap");
        plan->outcome = PB_INFEASIBLE;
        return status;
    }
    plan->lower_bound = answer->bound;
    if (answer->work == PBI_LIVE_NEVER && answer->status != PB_OK)
        return answer->status;
    if (answer->work == PBI_LIVE_NEVER)
        return pbi_fail(e->ctx, PB_ELIMIT,
                        "limit hit: no plan among the first %" PRIu64 " states; raise its option limit",
                        answer->states);
    pbi_held held = pbi_hold(e->ctx);
    pb_status status = write_plan(e, plan);
    pbi_resume(e->ctx, held);
    if (status != PB_OK || plan->outcome != PB_FOUND || answer->end != PBI_LIVE_PROVED)
        return status;
    if (!w->alpha && !w->beta)
        plan->outcome = PB_OPTIMAL;
    return pbi_plan_note(plan, "no plan has less work (proved in %" PRIu64 " state%s)", answer->states,
                         answer->states == 1 ? "" : "s");
}

pb_status pbi_plan_exact_remat(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, uint64_t limit,
                               pbi_plan *plan)
{
    pb_arena scratch;
    exact e = {.ctx = ctx, .game = game, .options = options, .scratch = &scratch, .limit = limit};
    if (game->graph->needed_count > PBI_LIVE_BITS)
        return pbi_plan_give_up(plan, "too large: %" PRIu32 " nodes; it supports at most %d values",
                                game->graph->needed_count, PBI_LIVE_BITS);
    pb_arena_init(&scratch, ctx);
    pbi_sequence_init(&e.annealed, &scratch);
    pb_status status = pbi_live_new(ctx, game, options->bounds->makespan, &scratch, &e.live);
    bool small = status == PB_OK && e.live;
    if (status == PB_OK && !small)
        status = pbi_plan_give_up(plan, "too large: more than %d values, targets and once-only nodes", PBI_LIVE_BITS);
    else if (small)
        status = search(&e);
    if (status == PB_OK && small)
        status = conclude(&e, plan);
    pb_arena_release(&scratch);
    return status == PB_OK && small ? pbi_plan_record_number(plan, "limit", limit) : status;
}
