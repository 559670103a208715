/* sequence.h -- a plan as its sequence of computations, and that sequence as moves.
 *
 * Frees follow from the sequence alone: a value is freed right after its last use before it is recomputed. So
 * planners of the remat and tiered games only decide what is computed (or loaded) when. This file adds the frees,
 * makes a move in place if the overwritten value would be freed anyway, computes exactly the by-products that are
 * read, and stores what is loaded later.
 */
#ifndef PBI_PLAN_SEQUENCE_SEQUENCE_H
#define PBI_PLAN_SEQUENCE_SEQUENCE_H

#include "plan/strategy.h"

/* An event is a node to compute, or, with this bit, a value to load back from slow memory. */
#define PBI_LOAD_EVENT 0x80000000u

typedef struct pbi_sequence {
    pb_arena *arena;
    uint32_t *event;
    size_t count, room;
    uint8_t *tier; /* per node, the slow tier its value is stored in; NULL when nothing is loaded */
    uint8_t *by;   /* per event: the recipe of the computation, 0 for none; NULL when no event has one */
    size_t by_room;
} pbi_sequence;

void pbi_sequence_init(pbi_sequence *s, pb_arena *arena);
pb_status pbi_sequence_add(pbi_sequence *s, uint32_t event);
/* A computation by recipe. */
pb_status pbi_sequence_add_recipe(pbi_sequence *s, pb_node v, uint32_t by);

/* Figures of a sequence under a game, as its moves will have them. */
typedef struct pbi_figures {
    uint64_t peak, time; /* time: work and io */
    size_t peak_event;   /* the first event that reaches the peak; 0 also if the start does */
    pb_u128 flux;
    bool fits;     /* peak within the cap; else the other figures cover only the part before the first move over it */
    bool overflow; /* time exceeded 64 bits */
} pbi_figures;

/* Turn the sequence into moves, appended to plan->moves (plan NULL: only measure). Stops at the first move over the
 * cap: the plan then has given up and its reason names the move. */
pb_status pbi_sequence_emit(pb_context *ctx, const pb_game *game, const pbi_sequence *s, pbi_plan *plan,
                            pbi_figures *figures);

/* Is plan a cheaper than plan b under the weights? Needed work is the same in both and left out. */
bool pbi_figures_better(const pb_game *game, const pbi_figures *a, const pbi_figures *b);

#endif
