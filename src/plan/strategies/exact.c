/* exact.c -- the least work of a small game, proved.
 *
 * Problem     least work under the cap, for any graph of the remat game with up to about a hundred values, of the
 *             reversible game with about thirty, and of the tiered game with about a dozen.
 * Idea        a state is what is in memory. A* over states (statespace/live): the bound counts what is still missing
 *             and what the cap forces a plan to recompute for it; rules leave out states if another state is at least
 *             as good. If the first states do not decide the game, a known plan, or else a short annealing, gives a
 *             limit on the work. In the reversible game the search goes from the end to the start
 *             (reversible/exact/exact); in the tiered game a state is what is in each memory (statespace/tiered).
 * Invariants  what is left out because of its work is counted, so a search that ends without a plan is a proof.
 * Cost        grows with the number of ways to fill the memory: some microseconds a state, up to `limit` bytes of
 *             states.
 * Source      A*: Hart, Nilsson, Raphael 1968; over live sets for pebbling: folklore. The bound and the rules are
 *             ours.
 * Limits      wide graphs with a cap far from both ends may be too hard from 30 nodes on; with weights on peak or
 *             flux it minimizes the work, not the cost.
 */
#include "plan/reversible/exact/exact.h"
#include "plan/statespace/remat.h"
#include "plan/statespace/tiered.h"

enum {
    DEFAULT_LIMIT = 40000000,
    TIERED_LIMIT = 8000000, /* a state takes longer in this game */
    PATIENT_LIMIT =
        1000000000, /* in the reversible game, if time or ticks are limited and no other strategy is waiting */
    PATIENT_NODES = 36
};

static uint64_t default_limit(const pb_game *game, const pbi_plan_options *options)
{
    if (game->kind == PB_GAME_TIERED || pb_game_recipes(game))
        return TIERED_LIMIT;
    bool patient = game->kind == PB_GAME_REVERSIBLE && options->patient && !options->start;
    return patient && game->graph->needed_count <= PATIENT_NODES ? PATIENT_LIMIT : DEFAULT_LIMIT;
}

pb_status pbi_plan_exact(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    uint64_t limit = default_limit(game, options);
    pb_status status = pbi_option_number(ctx, options, "limit", 1, UINT64_MAX, &limit);
    if (status != PB_OK)
        return status;
    if (pb_game_recipes(game)) /* the other search relies on the order of the graph, which recipes do not follow */
        return pbi_plan_exact_tiered(ctx, game, options, limit, plan);
    switch (game->kind) {
    case PB_GAME_REVERSIBLE: return pbi_plan_exact_reversible(ctx, game, options, limit, plan);
    case PB_GAME_TIERED: return pbi_plan_exact_tiered(ctx, game, options, limit, plan);
    default: return pbi_plan_exact_remat(ctx, game, options, limit, plan);
    }
}
