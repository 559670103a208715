/* cut_price.h -- the price of memory that gives the best bound on the work at one first computation.
 *
 * For any price, min(work + price * size kept) - price * free size bounds the work of every labelling that fits. As a
 * function of the price this is the minimum of many lines, one per labelling: it is concave, and is maximized by
 * intersecting the lines of a labelling that keeps too much and of one that fits.
 */
#ifndef PBI_CUT_PRICE_H
#define PBI_CUT_PRICE_H

#include "bound/cut_network.h"

typedef struct pbi_pricer {
    pb_context *ctx;
    pbi_cut_network *net;
    int64_t *room, *drain;         /* of the flow for the highest price that is known to be too low */
    uint8_t *low_kept, *high_kept; /* what the labellings `low` and `high` keep */
    uint8_t *kept;
    uint64_t most; /* limit on arcs examined */
    bool stopped;  /* the limit was reached, or the context stopped: what is known is valid */
} pbi_pricer;

typedef struct pbi_priced {
    int64_t value;   /* the bound, scaled */
    pbi_rate rate;   /* the price that gives it */
    bool impossible; /* no labelling fits */
    bool has_low, has_high;
    pbi_cut low, high; /* labellings at the best price: one keeps too much, one fits */
} pbi_priced;

bool pbi_pricer_init(pbi_pricer *p, pb_context *ctx, pbi_cut_network *net, pb_arena *arena);
/* The best bound with free_size of memory, from a first guess. It may stop if it cannot exceed `least`. */
void pbi_pricer_run(pbi_pricer *p, uint64_t free_size, pbi_rate guess, int64_t least, pbi_priced *out);
/* The minimum size, rounded down, that a labelling keeps, whatever its work. */
uint64_t pbi_pricer_least_size(pbi_pricer *p);

#endif
