/* stretch.h -- a stretch of a plan, replaced by an exact solution.
 *
 *     pbi_stretches w;
 *     pbi_stretch_init(&w, ctx, game, arena);
 *     pbi_stretch_try(&w, &plan, first, length, looks, &saved);
 *
 * What is in memory before the stretch and what must be in memory after it do not change; between them, computations
 * may be moved, removed or repeated. That is a small game, and a search over live sets (live.h) finds its least
 * work.
 */
#ifndef PBI_PLAN_STATESPACE_STRETCH_H
#define PBI_PLAN_STATESPACE_STRETCH_H

#include "plan/anneal/events.h"

/* A plan of the remat game as its computations: events without loads. */
typedef struct pbi_stretch_plan {
    uint32_t *event;
    uint32_t count, room;
} pbi_stretch_plan;

typedef struct pbi_stretches {
    pb_context *ctx;
    const pb_game *game;
    const pbi_event_space *events;
    pb_builder *builder;
    bool *before, *after; /* per value: needed from the window's start on, from its end on */
    bool *recovered;      /* per value: the plan computes it by recipe somewhere, so it must have existed before */
    uint32_t *inside;     /* per node: computations in the window */
    uint32_t *place;      /* per node: its place in `node`, PB_NO_NODE for none */
    pb_node *node;        /* of the small game */
    uint32_t count;
} pbi_stretches;

/* Only for graphs without by-products, and weights on work alone. A
 * stretch with a computation by recipe is left as it is. PB_ENOMEM, PB_OK. Must be closed in any case. */
pb_status pbi_stretch_init(pbi_stretches *w, pb_context *ctx, const pb_game *game, const pbi_event_space *events,
                           pb_arena *arena);
void pbi_stretch_close(pbi_stretches *w);
bool pbi_stretch_apply(const pb_game *game);

/* Replaces `length` events from `first` on by cheaper computations, if a search over this many states finds any;
 * *saved: the work that this saves, 0 for none.
 *   returns PB_OK, PB_ENOMEM; PB_ELIMIT and PB_ECANCELLED leave a correct plan */
pb_status pbi_stretch_try(pbi_stretches *w, pbi_stretch_plan *plan, uint32_t first, uint32_t length, uint64_t states,
                          uint64_t *saved);

#endif
