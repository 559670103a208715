/* strategy_auto.c -- try the others, keep the best.
 *
 * Problem     a user wants a plan, not a strategy.
 * Idea        every row that plays this game is asked, first with little effort each, so that a plan is there soon
 *             and a stop finds one; then those that ran out of it are asked again with all the effort there is.
 *             Each answer has been verified; the cheapest under the weights is kept. A plan that is proved the
 *             best, or a proof that there is none, ends the search.
 * Invariants  what is kept never gets worse; a stop keeps the best so far.
 * Cost        the sum of the rows tried.
 * Source      algorithm portfolios.
 * Limits      no better than its best row.
 */
#include "plan/strategy.h"

#include "base/context.h"

enum {
    ROWS = 0
#define STRATEGY(id, name, games, strength, policy, summary, options) +1
#include "plan/strategies.def"
#undef STRATEGY
};

pb_status pbi_plan_auto(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    uint32_t count;
    const pb_strategy *rows = pb_strategies(&count);
    uint64_t little = 200000 + 8 * ((uint64_t)game->graph->node_count + game->graph->edge_count);
    bool open[ROWS]; /* rows to be asked, or asked again */
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < count; i++)
        open[i] = rows[i].strength != PB_PORTFOLIO && rows[i].strength != PB_BASELINE &&
                  (rows[i].games & (unsigned)game->kind);
    for (uint32_t i = 0; i < 2 * count && status == PB_OK; i++) {
        uint32_t row = i % count;
        if (plan->outcome == PB_OPTIMAL || plan->outcome == PB_INFEASIBLE)
            break;
        if (!open[row])
            continue;
        pbi_progress(ctx, rows[row].name, i, 2 * count);
        status = options->try_row(options->try_state, &rows[row], i < count ? little : 0, plan, &open[row]);
    }
    if ((status == PB_ECANCELLED || status == PB_ELIMIT) && plan->outcome != PB_GAVE_UP)
        status = PB_OK;
    if (status == PB_OK && plan->outcome == PB_GAVE_UP)
        return pbi_plan_give_up(plan, "no strategy found a plan within the cap");
    return status;
}
