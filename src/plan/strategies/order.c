/* order.c -- compute everything once, in an order of small peak.
 *
 * Problem     how much memory does a graph need if nothing is computed twice, in the best order?
 * Idea        program order, greedy orders from both ends and depth first, then search over sets of computed nodes,
 *             which proves the least peak on graphs that are small or narrow, then local search (sequence/order). All
 *             orders cost the same, so the first within the cap is returned; if the weights price the peak, or the
 *             user asks for it, the search continues to the smallest peak it can find.
 * Invariants  every needed node appears once; never a larger peak than program order.
 * Cost        near linear for the greedy orders; local search and exact search take what the effort allows.
 * Source      the order of expression trees: Sethi and Ullman; Liu. Minimax search over lower sets is folklore.
 * Limits      no recomputation: a cap below the least peak of any order is left to the other strategies.
 */
#include "plan/sequence/order.h"
#include "base/context.h"
#include "plan/sequence/sequence.h"

#include <string.h>

enum { A_NODE = 1000, LEAST_EFFORT = 100000, MAX_EFFORT = 1000000, MIN_A_NODE = 20 };

/* Ticks of local search: A_NODE per node within two limits; the upper one still allows MIN_A_NODE per node. */
static uint64_t usual_effort(uint64_t nodes)
{
    uint64_t effort = nodes * A_NODE, max = nodes * MIN_A_NODE;
    max = max > MAX_EFFORT ? max : MAX_EFFORT;
    return effort < LEAST_EFFORT ? LEAST_EFFORT : effort < max ? effort : max;
}

static pb_status read_options(pb_context *ctx, const pb_game *game, const pbi_plan_options *options,
                              pbi_order_options *out)
{
    const char *peak = pbi_option_find(options, "peak");
    bool min_peak = game->weights.alpha > 0;
    if (peak && strcmp(peak, "least") == 0)
        min_peak = true;
    else if (peak && strcmp(peak, "fit") == 0)
        min_peak = false;
    else if (peak && strcmp(peak, "auto") != 0)
        return pbi_fail(ctx, PB_EINVAL, "peak must be auto, fit or least, not \"%.40s\"", peak);
    out->enough = min_peak ? 0 : game->cap;
    out->seed = options->seed;
    out->effort = options->patient ? UINT64_MAX : usual_effort(game->graph->needed_count);
    return pbi_option_number(ctx, options, "effort", 0, UINT64_MAX, &out->effort);
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
    char min_peak[40], best[40];
    pb_quantity_text(found->min_peak, game->graph->size_unit, min_peak, sizeof min_peak);
    pb_quantity_text(found->peak, game->graph->size_unit, best, sizeof best);
    if (found->min_peak > game->cap)
        return pbi_plan_give_up(plan, "does not fit: without recomputation any order needs %s", min_peak);
    return pbi_plan_give_up(plan, "does not fit: the best order found without recomputation needs %s", best);
}

/* Does the bound prove that every plan computes something twice? On small graphs the search runs anyway, to report
 * how close an order comes. */
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
