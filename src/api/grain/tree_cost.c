/* tree_cost.c -- what planning a tree instead of the graph costs. */
#include "api/pipeline/certify_moves.h"
#include "base/context.h"
#include "pebble/grain.h"
#include "plan/sequence/sequence.h"

/* The tree's plan on the graph, as if there were no cap. */
static pb_status carry(pb_context *ctx, const pb_tree_form *t, const pb_moves *moves, pb_arena *result,
                       pb_plan_result *out)
{
    pb_arena scratch;
    pb_game game = {.graph = t->graph, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    const pb_node *computed;
    uint64_t count = 0;
    pbi_sequence sequence;
    pbi_plan plan;
    pbi_figures figures;
    pb_arena_init(&scratch, ctx);
    pbi_sequence_init(&sequence, &scratch);
    pbi_plan_reset(&plan, result);
    pb_status status = pb_tree_computations(ctx, t, moves, &scratch, &computed, &count);
    for (uint64_t i = 0; i < count && status == PB_OK; i++)
        status = pbi_sequence_add(&sequence, computed[i]);
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, &game, &sequence, &plan, &figures);
    pb_arena_release(&scratch);
    if (status != PB_OK)
        return status;
    pbi_given given = {.name = "carried", .moves = &plan.moves, .game = game.kind, .peak = figures.peak};
    return pbi_certify_moves(ctx, &game, NULL, &given, result, out);
}

pb_status pb_tree_compare(pb_context *ctx, const pb_tree_form *t, const pb_request *request, pb_arena *result,
                          pb_tree_cost *out)
{
    pb_game tree = {.graph = t->tree, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    pb_game graph = tree;
    pb_request exact = PB_REQUEST_DEFAULT;
    *out = (pb_tree_cost){0};
    exact.strategy = "tree:peak=least";
    pb_status status = pb_plan(ctx, &tree, &exact, result, &out->tree);
    if (status == PB_OK && !out->tree.certificate)
        return pbi_fail(ctx, PB_EBUG, "the strategy tree has no plan for a tree: %s",
                        out->tree.schedule.reason ? out->tree.schedule.reason : "no reason");
    if (status == PB_OK)
        status = carry(ctx, t, &out->tree.schedule.moves, result, &out->carried);
    if (status == PB_OK && !out->carried.certificate)
        return pbi_fail(ctx, PB_EBUG, "the plan of a tree is not legal on its graph: %s",
                        out->carried.schedule.reason ? out->carried.schedule.reason : "no reason");
    if (status != PB_OK)
        return status;
    graph.graph = t->graph;
    graph.cap = out->carried.schedule.metrics.peak;
    return pb_plan(ctx, &graph, request, result, &out->graph);
}
