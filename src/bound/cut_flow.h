/* cut_flow.h -- maximum flow and minimum cut on flat arrays, by Dinic's method.
 *
 * Vertices of `root` are fed without limit, and each vertex u can give drain[u] away. Arcs come in pairs, each the twin
 * of the other: what is sent along one may be sent back along the other. A flow that was stopped early is a flow
 * still, so its value is a lower bound on every cut.
 */
#ifndef PBI_CUT_FLOW_H
#define PBI_CUT_FLOW_H

#include "pebble/base.h"

/* Without limit. Limited rooms and drains add up to far less, so that sums cannot overflow. */
#define PBI_FLOW_INF (INT64_C(1) << 61)
#define PBI_FLOW_SHUT UINT32_MAX /* level of a vertex that no flow may enter; it lies on the roots' side */

typedef struct pbi_flow {
    uint32_t vertex_count, arc_count;
    uint32_t *start; /* arcs of u: start[u] .. start[u + 1] - 1 */
    uint32_t *head, *twin;
    int64_t *room;  /* what an arc can still carry */
    int64_t *drain; /* what a vertex can still give away */
    uint32_t *root, root_count;

    /* Of the last search: level 0 is not reached; `queue` lists the reached, roots first. */
    uint32_t *level, *queue, queue_count;
    uint32_t *next, *path;
    uint64_t work; /* arcs looked at, ever */
} pbi_flow;

typedef enum pbi_flow_end {
    PBI_FLOW_FULL,      /* no more fits: the reached vertices are the roots' side of a least cut */
    PBI_FLOW_UNLIMITED, /* every cut is unlimited */
    PBI_FLOW_HUGE,      /* it passes PBI_FLOW_INF all the same: enough to know */
    PBI_FLOW_STOPPED    /* `work` passed `most` or the context stopped */
} pbi_flow_end;

/* Room for vertex_count vertices and arc_count arcs, all zero. False when memory is exhausted. */
bool pbi_flow_alloc(pbi_flow *f, pb_arena *arena, uint32_t vertex_count, uint32_t arc_count, uint32_t root_room);

/* Joins u and v by an arc and its twin. Networks are wired twice: with `fill` NULL arcs are counted in start[vertex + 1];
 * then fill[vertex] is the next free arc of each vertex, and the arc from u is returned. */
uint32_t pbi_flow_join(pbi_flow *f, uint32_t *fill, uint32_t u, uint32_t v);

/* Adds to *total what more can flow, until `work` passes `most`. */
pbi_flow_end pbi_flow_run(pb_context *ctx, pbi_flow *f, uint64_t most, int64_t *total);

/* Forget the last search, before roots, shut vertices or rooms are changed by hand. */
void pbi_flow_forget(pbi_flow *f);

static inline bool pbi_flow_reached(const pbi_flow *f, uint32_t u) { return f->level[u] != 0; }

#endif
