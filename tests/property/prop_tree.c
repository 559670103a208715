/* prop_tree.c -- random graphs as trees: the size that is counted is the size that is made, and plans of the tree are
 * plans of the graph. */
#include "pebble/grain.h"
#include "pebble/verify.h"
#include "support/law.h"

#include <inttypes.h>

enum { LIMIT = 3000 };

static bool cost_fails(law_bench *b, const pb_tree_form *t, bool copied)
{
    pb_tree_cost cost;
    pb_request request = PB_REQUEST_DEFAULT;
    uint64_t given = 0;
    b->ctx.tick_limit = 2000;
    if (pb_tree_compare(&b->ctx, t, &request, &b->arena, &cost) != PB_OK)
        return law_broken(b, "not compared: %s", b->ctx.error.message);
    const pb_metrics *tree = &cost.tree.schedule.metrics, *carried = &cost.carried.schedule.metrics;
    for (pb_node v = 0; v < t->graph->node_count; v++)
        if (t->graph->flags[v] & PB_NODE_GIVEN)
            given += t->graph->size[v];
    if (copied && carried->work > tree->work)
        return law_broken(b, "work %" PRIu64 ", the tree's %" PRIu64, carried->work, tree->work);
    if (copied && carried->peak > tree->peak + given)
        return law_broken(b, "peak %" PRIu64 ", the tree's %" PRIu64 ", given %" PRIu64, carried->peak, tree->peak,
                          given);
    if (!copied && carried->work != t->graph->needed_cost)
        return law_broken(b, "work %" PRIu64 " instead of once each", carried->work);
    if (cost.graph.certificate && cost.graph.schedule.metrics.peak > carried->peak)
        return law_broken(b, "the graph's plan needs more than its cap");
    return false;
}

static bool tree_fails(law_bench *b)
{
    const pb_graph *g = b->game.graph;
    const pb_tree_form *t;
    pb_tree_size size;
    pb_tree_options options = {.by = b->small->seed % 2 ? PB_TREE_SPANNING : PB_TREE_DUPLICATE, .nodes = LIMIT};
    bool copied = options.by == PB_TREE_DUPLICATE;
    if (pb_tree_measure(&b->ctx, g, &size) != PB_OK)
        return law_broken(b, "not measured");
    pb_status status = pb_tree_make(&b->ctx, g, &options, &b->arena, &t);
    if (copied && status == PB_ELIMIT)
        return size.nodes > LIMIT ? false : law_broken(b, "refused at %" PRIu64 " nodes", size.nodes);
    if (copied && status == PB_EINVAL)
        return law_skip(b); /* a value that may be computed only once */
    if (status != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    if (pb_graph_check(&b->ctx, t->tree) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    if (copied && (size.nodes != t->tree->node_count || size.cost != t->tree->needed_cost))
        return law_broken(b, "counted %" PRIu64 " nodes, made %u", size.nodes, t->tree->node_count);
    if (t->tree->node_count && (uint64_t)t->tree->edge_count + 1 != t->tree->node_count)
        return law_broken(b, "not a tree: %u nodes, %u edges", t->tree->node_count, t->tree->edge_count);
    for (pb_node v = 0; v < t->tree->node_count; v++)
        if (t->tree->out_start[v + 1] - t->tree->out_start[v] > 1)
            return law_broken(b, "not a tree: %s", pb_graph_name(t->tree, v));
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->flags[v] & (PB_NODE_GIVEN_SLOW | PB_NODE_KEEP))
            return false;
    return cost_fails(b, t, copied);
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 1500);
    law_run("plans of the tree are plans of the graph", tree_fails, PB_GAME_REMAT, cases);
    law_run_large("the same on larger games", tree_fails, PB_GAME_REMAT, cases / 4 + 1);
    return law_finish();
}
