/* cut_moments.h -- several first computations together: a price for the values that one moment leaves to the next.
 *
 * The moments z[0], z[1], ... depend on one another in this order. Recomputation between two of them, or after the
 * last, is a separate cut. The cuts are coupled: a value that is resident at a moment was resident at the moment
 * before, or was computed in between. For any price of that, per value, the sum of the cuts is a bound.
 * docs/bounds.md has the proof.
 */
#ifndef PBI_CUT_MOMENTS_H
#define PBI_CUT_MOMENTS_H

#include "bound/cut_network.h"

enum { PBI_MOMENTS = 6 }; /* max number of them */

typedef struct pbi_moments {
    pb_context *ctx;
    uint32_t count;
    pbi_cut_network net[PBI_MOMENTS];
    uint64_t free_size[PBI_MOMENTS]; /* of the cap, minus what cases have decided */
    pb_node *linked[PBI_MOMENTS];    /* values whose residence at k may be paid for at k - 1 */
    uint32_t linked_count[PBI_MOMENTS];
    uint64_t most; /* limit on arcs examined, in all networks together */
    bool stopped;

    /* Scaled prices: of a unit of memory, and of a link, in the order of `linked`. */
    double rate[PBI_MOMENTS];
    double *link[PBI_MOMENTS];

    /* The labelling that the last evaluation found. */
    uint64_t size[PBI_MOMENTS];
    uint8_t *kept[PBI_MOMENTS];
} pbi_moments;

/* PB_ENOMEM, PB_ECANCELLED. For games of remat with up to PBI_CUT_LINKED nodes. */
pb_status pbi_moments_init(pbi_moments *m, pb_context *ctx, pb_arena *arena, const pb_game *game);
/* Selects these moments, of which each except the first depends on the one before. False: one of them never fits, or
 * needs nothing. */
bool pbi_moments_at(pbi_moments *m, const pb_node *z, uint32_t count);
/* The bound for the current prices, scaled; INT64_MIN after a stop, PBI_FLOW_INF if no schedule fits. */
int64_t pbi_moments_evaluate(pbi_moments *m);
/* Residence of link i at moment k minus that at the moment before: -1, 0 or 1. */
int pbi_moments_slope(const pbi_moments *m, uint32_t k, uint32_t i);
uint64_t pbi_moments_work(const pbi_moments *m);

#endif
