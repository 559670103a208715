/* cut_flow.h -- maximum flow and minimum cut on plain arrays, by Dinic's method.
 *
 * Vertices of `root` are fed without limit, and each vertex u can drain drain[u]. Arcs come in pairs of twins: what is
 * sent along one may be sent back along the other. A flow that was stopped early is still a flow, so its value is a
 * lower bound on every cut.
 */
#ifndef PBI_CUT_FLOW_H
#define PBI_CUT_FLOW_H

#include "pebble/base.h"

/* Without limit. Limited rooms and drains add up to far less, so that sums cannot overflow. */
#define PBI_FLOW_INF (INT64_C(1) << 61)
#define PBI_FLOW_SHUT UINT32_MAX /* level of a vertex that no flow may enter; it is on the roots' side */

typedef struct pbi_flow {
    uint32_t vertex_count, arc_count;
    uint32_t *start; /* arcs of u: start[u] .. start[u + 1] - 1 */
    uint32_t *head, *twin;
    int64_t *room;  /* what an arc can still carry */
    int64_t *drain; /* what a vertex can still drain */
    uint32_t *root, root_count;

    /* Of the last search: level 0 is not reached; `queue` lists the reached vertices, roots first. */
    uint32_t *level, *queue, queue_count;
    uint32_t *next, *path;
    uint64_t work; /* arcs examined in total */
} pbi_flow;

typedef enum pbi_flow_end {
    PBI_FLOW_FULL,      /* maximum flow: the reached vertices are the roots' side of a minimum cut */
    PBI_FLOW_UNLIMITED, /* every cut is unlimited */
    PBI_FLOW_HUGE,      /* it exceeds PBI_FLOW_INF although it is limited */
    PBI_FLOW_STOPPED    /* `work` exceeded `most`, or the context stopped */
} pbi_flow_end;

/* Allocates vertex_count vertices and arc_count arcs, all zero. False if memory is exhausted. */
bool pbi_flow_alloc(pbi_flow *f, pb_arena *arena, uint32_t vertex_count, uint32_t arc_count, uint32_t root_room);

/* Connects u and v by an arc and its twin. Networks are built in two passes: with `fill` NULL, arcs are counted in
 * start[vertex + 1]; then fill[vertex] is the next free arc of each vertex, and the arc from u is returned. */
uint32_t pbi_flow_join(pbi_flow *f, uint32_t *fill, uint32_t u, uint32_t v);

/* Adds the additional flow to *total, until `work` exceeds `most`. */
pbi_flow_end pbi_flow_run(pb_context *ctx, pbi_flow *f, uint64_t most, int64_t *total);

/* Discards the last search, before the caller changes roots, shut vertices or rooms. */
void pbi_flow_forget(pbi_flow *f);

static inline bool pbi_flow_reached(const pbi_flow *f, uint32_t u) { return f->level[u] != 0; }

#endif
