/* replay.h -- sequences of computations in which values are held, released, and recomputed on demand.
 *
 * A unit is resident while something holds it; computing a node first computes those of its inputs that are not
 * resident. Holds form a stack, so releasing is returning to a mark. Backward units, given units, and units that
 * cannot or must not be recomputed are never released. When memory is really freed follows from the sequence
 * (sequence/sequence).
 *
 *     size_t mark = pbi_replay_mark(&r);
 *     pbi_replay_make(&r, v);         everything computed for v is held ...
 *     pbi_replay_release(&r, mark);   ... until here
 */
#ifndef PBI_PLAN_SEQUENCE_REPLAY_H
#define PBI_PLAN_SEQUENCE_REPLAY_H

#include "plan/sequence/sequence.h"
#include "plan/sequence/training.h"

typedef struct pbi_replay_frame {
    pb_node node;
    uint32_t next; /* next input to visit */
} pbi_replay_frame;

typedef struct pbi_replay {
    pb_context *ctx;
    const pbi_training *t;
    pb_arena *arena;
    pbi_sequence *s;
    uint64_t limit;  /* max computations */
    uint32_t *holds; /* per unit */
    pb_node *held;
    size_t held_count, held_room;
    pbi_replay_frame *stack;
    pb_node *frontier; /* buffer for one */
    uint64_t spent;    /* since the last tick */
} pbi_replay;

pb_status pbi_replay_init(pbi_replay *r, pb_context *ctx, const pbi_training *t, uint64_t limit, pb_arena *arena,
                          pbi_sequence *s);

static inline size_t pbi_replay_mark(const pbi_replay *r) { return r->held_count; }
static inline bool pbi_replay_has(const pbi_replay *r, pb_node unit) { return r->holds[unit] != 0; }

/* Compute the inputs of v that are not resident, then v, even if it is resident. All of it is held. PB_ELIMIT above
 * the limit. */
pb_status pbi_replay_make(pbi_replay *r, pb_node v);
/* Hold a unit that is in memory, outside the stack, until it is unpinned. */
static inline void pbi_replay_pin(pbi_replay *r, pb_node unit) { r->holds[unit]++; }
static inline void pbi_replay_unpin(pbi_replay *r, pb_node unit) { r->holds[unit]--; }
/* Release all that was held since the mark. */
void pbi_replay_release(pbi_replay *r, size_t mark);

/* Positions are forward places and -1, before the first. The frontier of a position are the units up to it that
 * forward places behind it read. */
typedef struct pbi_snapshot {
    int64_t position;
    size_t from, to; /* in `held` */
} pbi_snapshot;

/* From the snapshot `base`, which is on top of the stack, run forward and leave one at each of the positions,
 * ascending and behind it, as out[0 .. count). `fresh`: nothing behind the base has been computed before, so all of
 * it is, to the last position. */
pb_status pbi_replay_advance(pbi_replay *r, const pbi_snapshot *base, const int64_t *position, uint32_t count,
                             bool fresh, pbi_snapshot *out);

/* The plan of Chen et al.: everything once forward; then `kept` units (per place) stay resident and any other is
 * recomputed at most once, when the backward part first needs it. */
pb_status pbi_replay_mirror(pb_context *ctx, const pbi_training *t, const uint8_t *kept, pb_arena *arena,
                            pbi_sequence *s);

#endif
