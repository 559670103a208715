/* order.c -- compute everything once, in an order of small peak.
 *
 * Problem     what memory does a graph need when nothing is computed twice, in the best order?
 * Idea        the order as written, greedy orders from both ends and depth first, then search over sets of computed
 *             nodes, which proves the least peak on graphs that are small or narrow, then local search (sequence/order).
 *             The first order within the cap is the answer, for all of them cost the same; where the weights price the
 *             peak, or if asked for, it goes on to the least peak it can find.
 * Invariants  every needed node appears once; never a larger peak than the order as written.
 * Cost        near linear for the greedy orders; local search and exact search take what the effort allows.
 * Source      the order of expression trees: Sethi and Ullman; Liu. Minimax search over lower sets is folklore.
 * Limits      no recomputation: a cap below the least peak of any order is left to the others.
 */
#include "plan/sequence/order.h"
#include "base/context.h"
#include "plan/sequence/sequence.h"

#include <string.h>

enum { A_NODE = 1000, LEAST_EFFORT = 100000, MOST_EFFORT = 1000000, LEAST_A_NODE = 20 };

/* Vast graphs need some changes for each node, too. */
static uint64_t usual_effort(uint64_t nodes)
{
    uint64_t effort = nodes * A_NODE, most = nodes * LEAST_A_NODE;
    most = most > MOST_EFFORT ? most : MOST_EFFORT;
    return effort < LEAST_EFFORT ? LEAST_EFFORT : effort < most ? effort : most;
}

static pb_status read_options(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                              pbi_order_options *out)
{
    const char *peak = pbi_option_find(options, "peak");
    bool least = game->weights.alpha > 0;
    if (peak && strcmp(peak, "least") == 0)
        least = true;
    else if (peak && strcmp(peak, "fit") == 0)
        least = false;
    else if (peak && strcmp(peak, "auto") != 0)
        return pbi_fail(ctx, PB_EINVAL, "peak must be auto, fit or least, not \"%.40s\"", peak);
    out->enough = least ? 0 : game->cap;
    out->seed = options->seed;
    uint64_t usual = options->patient ? UINT64_MAX : usual_effort(game->graph->needed_count);
    return pbi_option_number(ctx, options, "effort", 0, UINT64_MAX, usual, &out->effort);
}

static pb_status write_plan(pb_context *ctx, const pb_game *game, const pb_node *order, pb_arena *scratch,
                            pbi_plan *plan)
{
    pbi_sequence s;
    pbi_sequence_init(&s, scratch);
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < game->graph->needed_count && status == PB_OK; i++)
        status = pbi_sequence_add(&s, order[i]);
    return status == PB_OK ? pbi_sequence_emit(ctx, game, &s, plan, NULL) : status;
}

static pb_status give_up(const pb_game *game, const pbi_order_found *found, pbi_plan *plan)
{
    char least[40], best[40];
    pb_quantity_text(found->least, game->graph->size_unit, least, sizeof least);
    pb_quantity_text(found->peak, game->graph->size_unit, best, sizeof best);
    if (found->least > game->cap)
        return pbi_plan_give_up(plan, "does not fit: without recomputation any order needs %s", least);
    return pbi_plan_give_up(plan, "does not fit: the best order found without recomputation needs %s", best);
}

/* Does the bound say that every plan computes something twice? On small graphs how near an order comes is told all the
 * same. */
static bool is_hopeless(const pb_game *game, const pbi_plan_options *options)
{
    enum { SMALL = 2000 };
    const pb_graph *g = game->graph;
    return game->kind == PB_GAME_REMAT && g->node_count > SMALL && options->bounds->makespan > g->needed_cost;
}

pb_status pbi_plan_order(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pbi_order_options how;
    pbi_order_found found = {0, 0};
    pb_status status = read_options(ctx, game, options, &how);
    if (status != PB_OK)
        return status;
    if (is_hopeless(game, options))
        return pbi_plan_give_up(plan, "does not fit: every plan that fits the cap computes some value more than once");
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_node *order = pb_arena_alloc(&scratch, game->graph->needed_count, sizeof *order);
    status = order ? pbi_order_find(ctx, game, &how, order, &found) : PB_ENOMEM;
    bool stopped = status == PB_ECANCELLED || status == PB_ELIMIT;
    if (stopped && found.peak <= game->cap) {
        pbi_held held = pbi_hold(ctx);
        status = write_plan(ctx, game, order, &scratch, plan);
        pbi_resume(ctx, held);
    } else if (status == PB_OK) {
        status = found.peak <= game->cap ? write_plan(ctx, game, order, &scratch, plan) : give_up(game, &found, plan);
    }
    pb_arena_release(&scratch);
    return status;
}
