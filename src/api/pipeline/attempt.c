/* attempt.c -- where the plan of a strategy that does not fit exceeds the cap.
 *
 * The strategy plans once more, without a cap and for the smallest peak; the verifier replays that plan under the cap
 * and names the first move that does not fit. So strategies that try many plans have the same answer as those that
 * stop at the first move over the cap.
 */
#include "api/pipeline/pipeline.h"

#include "api/pipeline/run_strategy.h"
#include "base/context.h"

#include <string.h>

/* Strategies that search or prove have no plan of their own to show, and those that evict make another one without a
 * cap. */
static bool has_own_plan(const pbi_spec *spec, const pb_game *game)
{
    if (spec->row->takes_policy)
        return false;
    bool plain = spec->row->strength == PB_HEURISTIC || spec->row->strength == PB_BASELINE;
    return plain && !(spec->row->traits & PB_TRAIT_SOLVER) && !game->borrow &&
           (spec->row->games & (unsigned)game->kind);
}

/* Sets what the replay shows: the moves up to the one that needs more than the cap. */
static pb_status replay(pb_context *ctx, const pb_game *game, const pb_moves *moves, pb_arena *result,
                        pb_plan_result *out)
{
    pb_verdict verdict;
    pb_status status = pb_verify(ctx, game, moves, result, &verdict);
    if (status != PB_OK || verdict.certificate || verdict.rule != PB_RULE_CAP || verdict.step >= moves->count)
        return status == PB_ERANGE ? PB_OK : status;
    if (out->failed_need && out->failed_step != verdict.step)
        return PB_OK; /* the strategy itself has come further than the plan that it makes without a cap */
    out->attempt = *moves;
    out->attempt.count = verdict.step + 1;
    out->failed_step = verdict.step;
    out->failed_node = verdict.node;
    out->failed_need = verdict.amount;
    return PB_OK;
}

pb_status pbi_attempt(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                      pb_plan_result *out)
{
    pb_context *ctx = job->ctx;
    if (out->certificate || ctx->stopped != PB_GO_ON || !has_own_plan(spec, game))
        return PB_OK;
    pb_game open = *game;
    open.cap = PB_UNLIMITED;
    open.weights = (pb_weights){.alpha = 1};
    pb_bounds bounds = {.makespan = 0};
    pbi_plan plan;
    pbi_plan_reset(&plan, result);
    ctx->ticks = 0;
    pb_status status = pbi_run_strategy(&(pbi_task){job, &open, spec, &bounds}, &plan);
    if (status == PB_OK && plan.outcome != PB_GAVE_UP && plan.outcome != PB_INFEASIBLE)
        status = replay(ctx, game, &plan.moves, result, out);
    if (status == PB_ELIMIT || status == PB_ERANGE || (status == PB_ECANCELLED && ctx->stopped == PB_STOP_TIME))
        return PB_OK; /* the row remains as it was */
    return status;
}
