/* strategy_auto.c -- try the others, keep the best.
 *
 * Problem     a user wants a plan, not a strategy.
 * Idea        every row that plays this game is asked in turn; each answer has been verified; the cheapest under
 *             the weights is kept. A plan that is proved the best, or a proof that there is none, ends the search.
 * Invariants  what is kept never gets worse; a stop keeps the best so far.
 * Cost        the sum of the rows tried.
 * Source      algorithm portfolios.
 * Limits      no better than its best row.
 */
#include "plan/strategy.h"

#include "base/context.h"

pb_status pbi_plan_auto(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    uint32_t count;
    const pb_strategy *rows = pb_strategies(&count);
    bool better;
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < count && status == PB_OK; i++) {
        if (plan->outcome == PB_OPTIMAL || plan->outcome == PB_INFEASIBLE)
            break;
        if (rows[i].strength == PB_PORTFOLIO || !(rows[i].games & (unsigned)game->kind))
            continue;
        pbi_progress(ctx, rows[i].name, i, count);
        status = options->try_row(options->try_state, &rows[i], plan, &better);
    }
    if ((status == PB_ECANCELLED || status == PB_ELIMIT) && plan->outcome != PB_GAVE_UP)
        status = PB_OK;
    if (status == PB_OK && plan->outcome == PB_GAVE_UP)
        return pbi_plan_give_up(plan, "no strategy found a plan within the cap");
    return status;
}
