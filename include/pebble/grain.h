/* grain.h -- plans made on a coarser graph: expanded, and improved on the fine one; and on a tree.
 *
 *     pb_coarsen_options grain = {.by = PB_GRAIN_BLOCK};
 *     pb_grained g;
 *     pb_plan_grained(&ctx, &game, &request, &grain, &arena, &g);
 *     if (g.planned.certificate) ... g.planned is a verified plan of `game` ...
 */
#ifndef PEBBLE_GRAIN_H
#define PEBBLE_GRAIN_H

#include "api.h"
#include "coarse.h"
#include "tree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pb_grained {
    pb_plan_result planned;  /* of the fine graph: the better of the next two */
    pb_plan_result expanded; /* the coarse plan, expanded; no certificate: none fits */
    pb_plan_result improved; /* a search that started from it; not set if that has no certificate */
    pb_plan_result rough;    /* of the coarse graph, the plan that was expanded */
    const pb_coarse *coarse; /* NULL: planned directly */
    uint32_t plans;          /* of the coarse graph */
    double coarse_seconds, improve_seconds;
} pb_grained;

/* Plans the coarse graph with the request, expands the plan and improves it by local search from there. If the expanded
 * plan leaves memory unused, the coarse graph is planned again with a larger cap. The coarse plan gets a third of the
 * time. PB_GRAIN_OPERATION without a number of nodes plans the fine graph directly.
 *   returns PB_EINVAL  not the remat game, or memory is borrowed; or as pb_coarsen and pb_plan */
pb_status pb_plan_grained(pb_context *ctx, const pb_game *game, const pb_request *request,
                          const pb_coarsen_options *grain, pb_arena *result, pb_grained *out);

/* Levels side by side: one row each. */
typedef struct pb_grain_row {
    pb_coarsen_options grain; /* in */
    bool applies;             /* false: `why` has a sentence */
    char why[512];
    pb_grained result;
    double seconds;
} pb_grain_row;
/* Each row gets the same part of the time. */
typedef struct pb_grain_rows {
    pb_grain_row *row;
    uint32_t count, winner; /* the row with the cheapest plan; UINT32_MAX: there is none */
} pb_grain_rows;
pb_status pb_compare_grains(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                            pb_grain_rows *rows);

/* A legal schedule of the coarse graph as a verified schedule of the fine one under `game`, as it is, not improved. */
pb_status pb_coarse_expand(pb_context *ctx, const pb_game *game, const pb_coarse *c, const pb_moves *moves,
                           pb_arena *result, pb_plan_result *out);

/* What planning the tree instead of the graph costs. */
typedef struct pb_tree_cost {
    pb_plan_result tree;    /* the least memory for the tree, computed without recomputation */
    pb_plan_result carried; /* the same on the graph: a verified plan */
    pb_plan_result graph;   /* the graph, planned in the memory that `carried` needs */
} pb_tree_cost;
pb_status pb_tree_compare(pb_context *ctx, const pb_tree_form *t, const pb_request *request, pb_arena *result,
                          pb_tree_cost *out);

#ifdef __cplusplus
}
#endif
#endif
