/* run_strategy.c -- see run_strategy.h. */
#include "api/pipeline/run_strategy.h"

#include "base/context.h"

const char *pbi_task_policy(const pbi_task *t)
{
    const pb_strategy *row = t->spec->row;
    if (t->spec->policy)
        return t->spec->policy;
    return row->takes_policy || row->strength == PB_PORTFOLIO ? t->job->request->policy : NULL;
}

void pbi_emit_plan(const pbi_task *t, const char *strategy, uint64_t peak, uint64_t makespan)
{
    pbi_emit(
        t->job->request,
        &(pb_event){.kind = PB_EVENT_PLAN, .game = t->game, .strategy = strategy, .peak = peak, .makespan = makespan});
}

static void on_better(void *state, uint64_t peak, uint64_t makespan)
{
    const pbi_task *t = state;
    pbi_emit_plan(t, t->spec->row->name, peak, makespan);
}

/* A value that is given in slow memory of a game without one: only a recipe brings it. PB_NO_NODE if there is none. */
static pb_node without_slow_memory(const pb_game *game)
{
    const pb_graph *g = game->graph;
    if (!pb_game_recipes(game) || (game->kind == PB_GAME_TIERED && game->tier_count))
        return PB_NO_NODE;
    for (pb_node v = 0; v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_GIVEN_SLOW) && (g->flags[v] & PB_NODE_NEEDED) && pb_graph_recipes(g, v))
            return v;
    return PB_NO_NODE;
}

/* A plan without recipes is legal, but one with them may cost less, or fit where the others do not. */
static void drop_claims(const pb_game *game, const pb_strategy *row, pbi_plan *plan)
{
    if (!pb_game_recipes(game) || (row->traits & PB_TRAIT_RECIPES))
        return;
    plan->lower_bound = 0;
    if (plan->outcome == PB_OPTIMAL)
        plan->outcome = PB_FOUND;
    if (plan->outcome == PB_INFEASIBLE)
        plan->outcome = PB_GAVE_UP;
}

/* Where the moves of a file exceed the cap of this game. */
static pb_status find_overflow(const pbi_task *t, pbi_given *given)
{
    pb_arena scratch;
    pb_verdict verdict;
    if (!given->moves || given->peak <= t->game->cap)
        return PB_OK;
    pb_arena_init(&scratch, t->job->ctx);
    pb_status status = pb_verify(t->job->ctx, t->game, given->moves, &scratch, &verdict);
    pb_arena_release(&scratch);
    if (status == PB_OK && verdict.node == PB_NO_NODE) /* the values that are there at the start */
        status = pbi_fail(t->job->ctx, PB_ELIMIT, "the values in memory at the start exceed the cap; raise it");
    given->over_step = verdict.step;
    given->over_node = verdict.node;
    given->over_need = verdict.amount;
    return status;
}

pb_status pbi_run_strategy(const pbi_task *t, pbi_plan *plan)
{
    const pb_request *request = t->job->request;
    pbi_task task = *t;
    pbi_given given = {.name = NULL};
    pbi_plan_options options = {
        .policy = pbi_task_policy(t),
        .seed = request->seed,
        .threads = request->threads ? request->threads : 1,
        .patient = request->patient && !(t->job->others && t->spec->row->strength == PB_EXACT),
        .gap = request->gap,
        .end_ns = t->job->end_ns,
        .options = t->spec->options,
        .option_count = t->spec->option_count,
        .bounds = t->bounds,
        .given = t->spec->given ? &given : NULL,
        .start = request->start,
        .fast_start = t->job->fast_start,
        .better = request->handler ? on_better : NULL,
        .better_state = &task,
    };
    pb_node missing = t->spec->row->traits & PB_TRAIT_RECIPES ? PB_NO_NODE : without_slow_memory(t->game);
    if (missing != PB_NO_NODE)
        return pbi_plan_give_up(
            plan, "does not apply: %.60s is given in slow memory, and without slow memory only a recipe brings it",
            pb_graph_name(t->game->graph, missing));
    if (t->spec->given)
        given = *t->spec->given;
    pb_status status = t->spec->given ? find_overflow(t, &given) : PB_OK;
    if (status == PB_OK)
        status = pbi_strategy_function(t->spec->row)(t->job->ctx, t->game, &options, plan);
    drop_claims(t->game, t->spec->row, plan);
    return status;
}
