/* bench_tree.c -- the least peak of trees of a million nodes: Liu's order and the best postorder. */
#include "measure.h"

#include "bound/tree_order.h"

#include <inttypes.h>

static const char *const specs[] = {
    "tree:height=19,profile=random,spread=1000,seed=7",
    "tree:height=19,profile=random,spread=1000,seed=8",
    "tree:height=19",
    "tree:shape=random,nodes=1000000,profile=random,spread=1000,seed=7",
    "tree:shape=skewed,nodes=1000000,profile=random,spread=1000,seed=7",
    "tree:shape=skewed,skew=1,nodes=1000000,profile=random,spread=1000,seed=7",
    "chain:nodes=1000000,profile=random,spread=1000,seed=7",
    "merkle:height=19",
};

/* Best of b->repeat. */
static double order_seconds(const bench *b, const pb_game *game, pbi_tree_kind kind, pb_node *order,
                            pbi_tree_found *found)
{
    double best = 1e9;
    for (unsigned i = 0; i < b->repeat; i++) {
        pb_context ctx;
        pb_context_init(&ctx);
        double begin = now_seconds();
        must(&ctx, pbi_tree_order(&ctx, game, kind, order, found), "order");
        double seconds = now_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static double bound_seconds(const bench *b, const pb_game *game)
{
    double best = 1e9;
    for (unsigned i = 0; i < b->repeat; i++) {
        pb_context ctx;
        pb_bounds bounds;
        pb_context_init(&ctx);
        double begin = now_seconds();
        must(&ctx, pb_bounds_make(&ctx, game, &bounds), "bounds");
        double seconds = now_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void run_row(const bench *b, table *t, const char *spec)
{
    pb_context ctx, plan_ctx;
    pb_arena arena, plan_arena;
    plan_run run;
    pbi_tree_found liu, postorder;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    const pb_graph *g = instance_make(&ctx, &arena, b->smoke ? "tree:height=4" : spec);
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = {1, 0, 1, 0}};
    pb_node *order = pb_arena_alloc(&arena, g->needed_count, sizeof *order);
    must(&ctx, order ? PB_OK : PB_ENOMEM, "order");
    double liu_seconds = order_seconds(b, &game, PBI_TREE_LEAST, order, &liu);
    double postorder_seconds = order_seconds(b, &game, PBI_TREE_POSTORDER, order, &postorder);
    double bounded = bound_seconds(b, &game);
    plan_once(b, &game, "tree", &plan_ctx, &plan_arena, &run);
    bool optimal = run.status == PB_OK && run.planned.schedule.outcome == PB_OPTIMAL &&
                   run.planned.schedule.metrics.peak == liu.peak;
    table_row(t, "%s|%" PRIu32 "|%" PRIu64 "|%" PRIu64 "|%.4f|%.3f|%.3f|%.3f|%.3f|%s", spec, g->node_count, liu.peak,
              postorder.peak, (double)postorder.peak / (double)liu.peak, liu_seconds, postorder_seconds, bounded,
              run.seconds, optimal ? "optimal" : run.message);
    pb_arena_release(&plan_arena);
    pb_arena_release(&arena);
}

void bench_tree(const bench *b)
{
    table t;
    table_open(
        &t, b, "tree",
        "instance:74|nodes:8|least peak:10|postorder:10|ratio:7|liu s:7|postorder s:11|bounds s:8|plan s:7|outcome:8");
    for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++)
        if (instance_wanted(b, specs[i]))
            run_row(b, &t, specs[i]);
    table_close(&t);
}
