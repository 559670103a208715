/* strategy_chain.c -- adjoint chains: equal steps exactly, unequal ones part by part.
 *
 * Problem     least work (and io) for the gradients of a chain x_0 .. x_n under a cap, with or without slow memory.
 * Idea        a dynamic program over segments: run some steps on, leave that value in fast memory or store it, reverse
 *             what lies behind it, then what lies before it. Equal steps (method_chain_equal) are told by counts of
 *             values, unequal ones (method_chain_uneven) by memory in exact units.
 * Invariants  every part is reversed completely before the part in front of it begins.
 * Cost        see the two methods; both have a limit.
 * Source      Griewank and Walther (Revolve) for one level; the tiered game with values in both memories and loaded
 *             again is this project's, see docs/strategies/chain.md.
 * Limits      equal steps exactly, one slow tier without a cap, gradients stay in fast memory; unequal steps part by
 *             part and without slow memory.
 */
#include "base/context.h"
#include "plan/method_chain.h"

pb_status pbi_plan_chain(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_chain c;
    const char *why;
    uint64_t limit;
    pb_status status = pbi_option_number(ctx, options, "limit", 1, UINT64_MAX / 2, 3000000000u, &limit);
    if (status != PB_OK)
        return status;
    if (!pbi_chain_find(game->graph, &scratch, &c, &why, &status))
        status = status == PB_OK ? pbi_plan_give_up(plan, "does not apply: %s", why) : status;
    else if (pbi_chain_equal(game->graph, &c))
        status = pbi_chain_equal_plan(ctx, game, &c, limit, plan);
    else
        status = pbi_chain_uneven(ctx, game, &c, limit, plan);
    pb_arena_release(&scratch);
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", limit) : status;
}
