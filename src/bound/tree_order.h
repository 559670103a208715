/* tree_order.h -- the minimum peak of a forest of in-trees whose nodes are computed once each, and an order that has
 * it.
 *
 *     pb_node *order = pb_arena_alloc(arena, g->needed_count, sizeof *order);
 *     pbi_tree_found found;
 *     status = pbi_tree_order(ctx, game, PBI_TREE_LEAST, order, &found);
 *     if (status == PB_OK && found.is_forest) ... found.peak ...
 *
 * For the remat game, and the tiered one without stores. Values are freed after their only use, and in-place moves are
 * chosen as in sequence/sequence, so the peak is that of the moves it writes for the order. docs/strategies/tree.md has
 * the proofs.
 */
#ifndef PBI_TREE_ORDER_H
#define PBI_TREE_ORDER_H

#include "pebble/game.h"

typedef enum pbi_tree_kind {
    PBI_TREE_LEAST,    /* of all orders: subtrees may be interleaved */
    PBI_TREE_POSTORDER /* of orders that finish a subtree before they start the next */
} pbi_tree_kind;

typedef struct pbi_tree_found {
    bool is_forest;  /* false: only `why` and why_at are set */
    const char *why; /* a clause with the reason */
    pb_node why_at;  /* the node that it is about, or PB_NO_NODE */
    uint64_t peak;
    /* Computing something twice might lower the peak: a kept value has a reader, or a by-product is a target. */
    bool recomputing_helps;
} pbi_tree_found;

/* Every needed value must have at most one needed reader, except given ones that are always resident or take no memory.
 *   out      order   the needed nodes that are computed, g->needed_count of them; NULL: only the peak
 *   returns  PB_OK, PB_ENOMEM, PB_ECANCELLED
 *   cost     O(n log n); no recursion */
pb_status pbi_tree_order(pb_context *ctx, const pb_game *game, pbi_tree_kind kind, pb_node *order,
                         pbi_tree_found *found);

#endif
