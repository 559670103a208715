/* reference.h -- a second replay of schedules, written from the rules and from nothing in src/.
 *
 * It decides what pb_verify has to decide and sums what pb_metrics has to sum, in the plainest way, so that the two
 * can be compared with each other on any schedule.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "pebble/schedule.h"
#include "pebble/verify.h"

__extension__ typedef unsigned __int128 wide;

typedef struct reference {
    bool legal;
    pb_rule rule; /* of the first broken rule */
    pb_step step;
    pb_node node, other;
    wide amount;

    wide peak, compute_work, uncompute_work, io, flux;
    pb_step peak_step; /* UINT64_MAX: the start */
    uint64_t compute_count;
    wide start_memory, end_memory;
    uint64_t depth; /* only of legal schedules */
} reference;

void reference_replay(const pb_game *game, const pb_moves *moves, reference *out);

/* The recompute metric: work of computes beyond the needed nodes once each. */
wide reference_needed_cost(const pb_graph *g);

/* The same number? */
bool same_wide(wide a, pb_u128 b);

#endif
