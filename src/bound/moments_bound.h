/* moments_bound.h -- the first-computation bound with further moments. docs/bounds.md. */
#ifndef PBI_MOMENTS_BOUND_H
#define PBI_MOMENTS_BOUND_H

#include "bound/cut_network.h"

/* A node that was examined alone. */
typedef struct pbi_single {
    pb_node z;
    uint32_t place; /* in the order */
    int64_t value;
    pbi_rate rate; /* the price of memory that gives the best bound */
} pbi_single;

typedef struct pbi_singles {
    const pbi_single *list; /* best first */
    uint32_t count;
    int shift; /* values and rates are of work scaled by 2^shift */
} pbi_singles;

typedef struct pbi_several {
    uint64_t extra; /* work in addition to that of every schedule */
    pb_node at;     /* the node at whose first computation it was found; PB_NO_NODE if extra is 0 */
    bool over;      /* no schedule fits */
    uint32_t count; /* of moments */
    uint64_t effort;
} pbi_several;

/* For the remat game: adds further moments to the best of `singles`. Spends about `effort`; a stop of
 * the context keeps what is known. PB_OK, PB_ENOMEM or PB_ECANCELLED. */
pb_status pbi_moments_bound(pb_context *ctx, const pb_game *game, const pbi_singles *singles, uint64_t effort,
                            pbi_several *out);

#endif
