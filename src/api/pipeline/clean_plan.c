/* clean_plan.c -- see clean_plan.h. */
#include "api/pipeline/clean_plan.h"

#include "base/context.h"
#include "plan/cleanup/cleanup.h"

/* Verifies the plan even after a stop: that takes linear time. */
pb_status pbi_certify_as_made(pb_context *ctx, const pb_game *game, const pb_moves *moves, pb_arena *result,
                              pbi_certified *out)
{
    pbi_held held = pbi_hold(ctx);
    pb_status status = pb_verify(ctx, game, moves, result, &out->verdict);
    if (status == PB_OK && out->verdict.certificate)
        status = pb_metrics_measure(ctx, out->verdict.certificate, &out->metrics);
    pbi_resume(ctx, held);
    return status;
}

/* Takes the cleaned plan, unless peak or flux have a price and it costs more. */
static pb_status take_cleaner(pb_context *ctx, const pb_game *game, pb_moves *cleaner, pb_arena *result,
                              pbi_certified *out)
{
    pbi_certified now;
    pb_status status = pbi_certify_as_made(ctx, game, cleaner, result, &now);
    if (status == PB_OK && !now.verdict.certificate)
        status = pbi_fail(ctx, PB_EBUG, "a plan became illegal when unnecessary moves were removed [rule %s]",
                          pb_rule_name(now.verdict.rule));
    if (status == PB_OK && pb_u128_compare(now.metrics.cost, out->metrics.cost) <= 0)
        *out = now;
    return status;
}

bool pbi_nothing_is_free(const pb_game *game)
{
    const pb_graph *g = game->graph;
    bool all = game->kind != PB_GAME_TIERED && !g->owner && !pb_game_recipes(game) && game->weights.gamma;
    for (pb_node v = 0; v < g->node_count && all; v++)
        all = g->cost[v] || !pb_graph_is_computed(g, v);
    return all;
}

pb_status pbi_certify(pb_context *ctx, const pb_game *game, bool least_memory, pb_moves *moves, pb_arena *result,
                      pbi_certified *out)
{
    pb_moves *cleaner = pb_arena_alloc(result, 1, sizeof *cleaner);
    bool changed;
    pb_status status = cleaner ? pbi_certify_as_made(ctx, game, moves, result, out) : PB_ENOMEM;
    if (status != PB_OK || !out->verdict.certificate)
        return status;
    const pb_certificate *as_it_came = out->verdict.certificate;
    pb_game within = *game;
    if (least_memory)
        within.cap = out->metrics.peak;
    status = pbi_cleanup(ctx, &within, moves, result, cleaner, &changed);
    if (status == PB_OK && changed)
        status = take_cleaner(ctx, game, cleaner, result, out);
    if (status == PB_ENOMEM) /* too little memory for the clean-up: the original plan is the answer */
        return PB_OK;
    if (status == PB_OK && out->verdict.certificate != as_it_came)
        *moves = *cleaner;
    return status;
}
