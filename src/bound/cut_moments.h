/* cut_moments.h -- several first computations at once: a price for what one moment leaves to the next.
 *
 * The moments z[0], z[1], ... depend on one another in this order. What is repeated between two of them, or after the
 * last, is a cut of its own. They hang together: a value that is resident at a moment was resident at the moment before
 * or made between. For any price of that, per value, the sum of the cuts is a bound. docs/bounds.md has the proof.
 */
#ifndef PBI_CUT_MOMENTS_H
#define PBI_CUT_MOMENTS_H

#include "bound/cut_network.h"

enum { PBI_MOMENTS = 6 }; /* at most */

typedef struct pbi_moments {
    pb_context *ctx;
    uint32_t count;
    pbi_cut_network net[PBI_MOMENTS];
    uint64_t free_size[PBI_MOMENTS]; /* of the cap, less what cases have settled */
    pb_node *linked[PBI_MOMENTS];    /* values whose being resident at k may be paid for at k - 1 */
    uint32_t linked_count[PBI_MOMENTS];
    uint64_t most; /* arcs to look at, in all networks, ever */
    bool stopped;

    /* Prices, scaled: of a unit of memory and of a link, in the order of `linked`. */
    double rate[PBI_MOMENTS];
    double *link[PBI_MOMENTS];

    /* The labelling that the last look found. */
    uint64_t size[PBI_MOMENTS];
    uint8_t *kept[PBI_MOMENTS];
} pbi_moments;

/* PB_ENOMEM, PB_ECANCELLED. For games of remat with up to PBI_CUT_LINKED nodes. */
pb_status pbi_moments_init(pbi_moments *m, pb_context *ctx, pb_arena *arena, const pb_game *game);
/* Look at these moments, of which each but the first depends on the one before. False: one of them never fits, or
 * nothing is asked for there. */
bool pbi_moments_at(pbi_moments *m, const pb_node *z, uint32_t count);
/* The bound for the present prices, scaled; INT64_MIN after a stop, PBI_FLOW_INF when no schedule fits. */
int64_t pbi_moments_look(pbi_moments *m);
/* How much more of link i into moment k is resident there than was there at the moment before: -1, 0 or 1. */
int pbi_moments_slope(const pbi_moments *m, uint32_t k, uint32_t i);
uint64_t pbi_moments_work(const pbi_moments *m);

#endif
