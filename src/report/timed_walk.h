/* timed_walk.h -- the moves of a certified timed schedule with their times, and the memories over time. */
#ifndef PBI_TIMED_WALK_H
#define PBI_TIMED_WALK_H

#include "base/out.h"
#include "pebble/verify.h"

/* What a computation gives back when it ends. */
typedef struct pbi_timed_release {
    uint64_t end, amount;
} pbi_timed_release;

typedef struct pbi_timed_walk {
    const pb_game *game;
    const pb_graph *graph;
    const pb_machine *machine;
    const pb_moves *moves;
    pb_step next;                /* the move to come */
    uint64_t *held;              /* by memory, now */
    bool *there;                 /* [node * memories + memory] */
    bool *computed;              /* by node */
    pbi_timed_release *releases; /* by processor */

    /* The event: a move, or the end of a computation that gives memory back. */
    const pb_move *move; /* NULL: such an end */
    pb_step step;
    uint64_t at, end;
    uint32_t lane;     /* of a computation or copy: processors, then lanes of links */
    const char *place; /* the name of the processor, link or memory */
    uint32_t memory;   /* whose content changes */
    bool again;        /* the node was computed before */
} pbi_timed_walk;

/* At the start: nothing has happened, and `held` is what the memories hold. */
pb_status pbi_timed_walk_init(pbi_timed_walk *w, const pb_certificate *c, pb_arena *scratch);
/* The next event; false at the end. */
bool pbi_timed_walk_next(pbi_timed_walk *w);

/* The exports of a timed plan. */
pb_status pbi_timed_trace(pb_context *ctx, const pb_certificate *c, pb_sink sink);
pb_status pbi_timed_csv(pb_context *ctx, const pb_certificate *c, pb_sink sink);
pb_status pbi_timed_decisions(pb_context *ctx, const pb_certificate *c, pb_sink sink);
pb_status pbi_timed_explain(pb_context *ctx, const pb_certificate *c, pb_sink sink);

#endif
