/* rework.h -- the cost of recomputing a value from what is resident at some moment. */
#ifndef PBI_REWORK_H
#define PBI_REWORK_H

#include "report/walk.h"

typedef struct pbi_rework {
    const pb_game *game;
    uint32_t *seen; /* round in which a node was visited */
    uint32_t round;
    pb_node *stack;
    uint32_t stack_room;
    uint8_t *copies; /* bit t-1: the value is in slow tier t */
    uint64_t visits; /* still allowed */
} pbi_rework;

typedef struct pbi_rework_cost {
    uint64_t work; /* work and io; a lower bound if not complete */
    bool complete; /* false: the effort ran out */
    bool possible; /* false: it, or something it needs, can never be recomputed */
} pbi_rework_cost;

/* `visits` limits the effort of all calls together. */
pb_status pbi_rework_init(pbi_rework *r, const pb_game *game, uint64_t visits, pb_arena *scratch);
/* Notes a store or a drop; other moves do not matter. */
void pbi_rework_note(pbi_rework *r, const pb_move *move);
/* The cost of recomputing v, as if it were absent, each missing ancestor computed once. */
pbi_rework_cost pbi_rework_of(pbi_rework *r, const bool *resident, pb_node v);

#endif
