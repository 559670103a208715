/* order.h -- an order of small peak that computes every needed node once: the memory a graph needs without
 * recomputation.
 *
 *     pb_node *order = pb_arena_alloc(arena, g->needed_count, sizeof *order);
 *     uint64_t peak;
 *     status = pbi_order_low_peak(ctx, game, 200000, order, &peak);
 *
 * Values are freed after their last use; in-place moves and by-products are handled as in sequence/sequence, so the
 * peak is that of the moves it writes for the order. For the remat game, and the tiered one without stores.
 */
#ifndef PBI_PLAN_SEQUENCE_ORDER_H
#define PBI_PLAN_SEQUENCE_ORDER_H

#include "pebble/game.h"

typedef struct pbi_order_options {
    uint64_t enough; /* stop at the first order with this peak; 0: search for the least peak */
    uint64_t effort; /* ticks of local search, each about a microsecond; exact search gets as much; 0: greedy only */
    uint64_t seed;
} pbi_order_options;

typedef struct pbi_order_found {
    uint64_t peak;
    uint64_t min_peak; /* proved: no order that computes each node once has a smaller peak than this */
} pbi_order_found;

/* Fills `order` with the needed nodes that are computed (graph->needed_count of them) in an order of small peak,
 * never worse than program order.
 *   returns PB_ECANCELLED, PB_ELIMIT   stopped early; the best so far is in `order` and *found anyway
 *           PB_ENOMEM                  order and *found may be incomplete
 *   cost    near linear for greedy orders, then as far as the effort goes */
pb_status pbi_order_find(pb_context *ctx, const pb_game *game, const pbi_order_options *options, pb_node *order,
                         pbi_order_found *found);

/* The same in one line: stops as soon as the game's cap is met; pass a game with cap 0 for the least peak. */
pb_status pbi_order_low_peak(pb_context *ctx, const pb_game *game, uint64_t effort, pb_node *order, uint64_t *peak);

#endif
