/* chain.c -- adjoint chains and chains of blocks: equal steps exactly, others part by part.
 *
 * Problem     least work (and io) for a computation that runs forward and backward through a chain, under a cap.
 * Idea        a dynamic program over segments: run some steps, keep that value in fast memory or store it, reverse
 *             the part behind it, then the part before it. For equal steps (chain/equal) the state is a count of
 *             values. Any other graph is cut into blocks (blocks/find), each with several ways to be ready for its
 *             backward part (blocks/ways), and planned with memory in exact units (blocks/exact) or in slots
 *             (blocks/slots). If a chain of blocks is small enough, all plans are searched as well: a few of the best
 *             do not go part by part.
 * Invariants  every part is reversed completely before the part in front of it begins, except in the smallest chains.
 * Cost        see the methods; all have a limit.
 * Source      Griewank and Walther (Revolve) for one level; Beaumont et al. (rotor) for steps of any cost and size;
 *             the tiered game with values in both memories and loaded again is this project's, see
 *             docs/strategies/chain.md.
 * Limits      gradients stay in fast memory; chains of unequal steps use no slow memory.
 */
#include "plan/chain/chain.h"
#include "base/context.h"
#include "plan/blocks/plan.h"
#include "plan/statespace/remat.h"

enum {
    SMALL = 24,            /* nodes: searching all plans takes almost no time */
    STATE_BYTES = 40000000 /* for that search */
};

/* Replaces the best plan that goes part by part by the best of all plans, on a small chain of blocks. */
static pb_status search_small_chain(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                                    uint32_t blocks, pbi_plan *plan)
{
    pbi_plan best;
    pbi_plan_options own = *options;
    own.start = plan->outcome == PB_FOUND ? &plan->moves : NULL;
    pbi_plan_reset(&best, plan->arena);
    pb_status status = pbi_plan_exact_remat(ctx, game, &own, STATE_BYTES, &best);
    if (status == PB_ELIMIT || status == PB_ECANCELLED)
        return PB_OK; /* no answer: the known plan remains */
    if (status != PB_OK || (best.outcome != PB_OPTIMAL && best.outcome != PB_INFEASIBLE))
        return status;
    *plan = best;
    plan->option_count = 0;
    return pbi_plan_note(plan, "the graph is a chain of %u blocks, small enough to try every plan", blocks);
}

static pb_status plan_blocks(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, uint64_t limit,
                             uint64_t slots, pbi_plan *plan)
{
    uint32_t blocks;
    pb_status status = pbi_blocks_plan_graph(ctx, game, limit, slots, plan, &blocks);
    bool small = blocks && slots == UINT64_MAX && game->kind == PB_GAME_REMAT && game->graph->needed_count <= SMALL;
    return status == PB_OK && small ? search_small_chain(ctx, game, options, blocks, plan) : status;
}

pb_status pbi_plan_chain(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_chain c;
    const char *why;
    uint64_t limit = 3000000000u, slots = UINT64_MAX;
    pb_status status = pbi_option_number(ctx, options, "limit", 1, UINT64_MAX / 2, &limit);
    if (status == PB_OK)
        status = pbi_option_number(ctx, options, "slots", 0, 1000000, &slots);
    if (status != PB_OK)
        return status;
    if (pbi_chain_find(game->graph, &scratch, &c, &why, &status) && pbi_chain_equal(game->graph, &c))
        status = pbi_chain_equal_plan(ctx, game, &c, limit, plan);
    else if (status == PB_OK)
        status = plan_blocks(ctx, game, options, limit, slots, plan);
    pb_arena_release(&scratch);
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", limit) : status;
}
