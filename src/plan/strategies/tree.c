/* tree.c -- trees: everything once, in the order of the least peak.
 *
 * Problem     in what order are the nodes of a tree, or of several, computed in the least memory, and is less memory
 *             possible at all?
 * Idea        subtrees as jobs that let memory rise and fall, merged from the leaves to the root (bound/tree_order).
 *             The best postorder is tried first if any order within the cap is as good as any other.
 * Invariants  every needed node is computed once. If every value has one use, recomputing it lowers no peak: the
 *             bounds of such a game have the least peak as least cap, so a smaller cap is proved infeasible and the
 *             least peak optimal if it is priced.
 * Cost        O(n log n).
 * Source      Sethi and Ullman (1970); Liu (1986, 1987); Abdel-Wahab and Kameda (1978); docs/strategies/tree.md.
 * Limits      if a kept value is read again below the root, orders only: recomputation is left to other strategies.
 */
#include "base/context.h"
#include "bound/tree_order.h"
#include "plan/sequence/sequence.h"

#include <string.h>

typedef enum wish { AUTO, POSTORDER, LIU } wish;

typedef struct wishes {
    wish order;
    bool min_peak; /* find the least peak, not just any within the cap */
} wishes;

static pb_status read_options(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, wishes *out)
{
    const char *order = pbi_option_find(options, "order"), *peak = pbi_option_find(options, "peak");
    *out = (wishes){AUTO, game->weights.alpha > 0};
    if (order && strcmp(order, "postorder") == 0)
        out->order = POSTORDER;
    else if (order && strcmp(order, "liu") == 0)
        out->order = LIU;
    else if (order && strcmp(order, "auto") != 0)
        return pbi_fail(ctx, PB_EINVAL, "order must be auto, postorder or liu, not \"%.40s\"", order);
    if (peak && strcmp(peak, "least") == 0)
        out->min_peak = true;
    else if (peak && strcmp(peak, "fit") == 0)
        out->min_peak = false;
    else if (peak && strcmp(peak, "auto") != 0)
        return pbi_fail(ctx, PB_EINVAL, "peak must be auto, fit or least, not \"%.40s\"", peak);
    return PB_OK;
}

static pb_status write_plan(pb_context *ctx, const pb_game *game, pb_node *order, pbi_plan *plan)
{
    uint32_t count = game->graph->needed_count;
    pbi_sequence s = {.event = order, .count = count, .room = count};
    return pbi_sequence_emit(ctx, game, &s, plan, NULL);
}

static pb_status over_cap(const pb_game *game, const pbi_tree_found *found, bool postorder, pbi_plan *plan)
{
    char need[40];
    pb_quantity_text(found->peak, game->graph->size_unit, need, sizeof need);
    return pbi_plan_give_up(plan,
                            postorder ? "does not fit: the best postorder needs %s"
                                      : "does not fit: without recomputation any order needs %s",
                            need);
}

static pb_status plan_forest(pb_context *ctx, const pb_game *game, const wishes *w, pb_node *order, pbi_plan *plan)
{
    pbi_tree_found found = {.is_forest = true};
    pb_status status = PB_OK;
    bool postorder = w->order == POSTORDER || (w->order == AUTO && !w->min_peak), fits = false;
    if (postorder) {
        status = pbi_tree_order(ctx, game, PBI_TREE_POSTORDER, order, &found);
        fits = status == PB_OK && found.is_forest && found.peak <= game->cap;
    }
    if (status == PB_OK && found.is_forest && !fits && w->order != POSTORDER) {
        postorder = false;
        status = pbi_tree_order(ctx, game, PBI_TREE_LEAST, order, &found);
    }
    if (status != PB_OK)
        return status;
    if (!found.is_forest)
        return pbi_plan_give_up(plan, "does not apply: not a forest, %.80s %s",
                                pb_graph_name(game->graph, found.why_at), found.why);
    if (found.peak > game->cap)
        return over_cap(game, &found, postorder, plan);
    status = write_plan(ctx, game, order, plan);
    return status == PB_OK ? pbi_plan_record(plan, "order", postorder ? "postorder" : "liu") : status;
}

pb_status pbi_plan_tree(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    wishes w;
    pb_status status = read_options(ctx, game, options, &w);
    if (status != PB_OK)
        return status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_node *order = pb_arena_alloc(&scratch, game->graph->needed_count, sizeof *order);
    status = order ? plan_forest(ctx, game, &w, order, plan) : PB_ENOMEM;
    pb_arena_release(&scratch);
    return status;
}
