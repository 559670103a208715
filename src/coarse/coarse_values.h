/* coarse_values.h -- the values of the coarse graph: what leaves each cluster. */
#ifndef PBI_COARSE_VALUES_H
#define PBI_COARSE_VALUES_H

#include "coarse/cluster.h"

/* Values of the fine graph that the same clusters read: one value of the coarse graph. */
typedef struct pbi_bundle {
    uint32_t first, count; /* in pbi_bundles.member */
    uint32_t reader;       /* the first cluster that reads it; UINT32_MAX: none */
    uint64_t size;
    uint16_t flags; /* PB_NODE_KEEP, PB_NODE_TARGET */
} pbi_bundle;

typedef struct pbi_bundles {
    const uint32_t *cluster; /* by fine node */
    uint32_t *start;         /* bundle start[c] is the value of cluster c's own node; up to start[c + 1]: by-products */
    pbi_bundle *bundle;
    pb_node *member;
    uint32_t *of;        /* by fine node: its bundle; UINT32_MAX: inside of a cluster, or not computed */
    uint64_t *workspace; /* by cluster */
    bool *target;        /* by cluster: a target is inside */
} pbi_bundles;

static inline bool pbi_cluster_single(const pbi_clusters *c, uint32_t i) { return c->start[i + 1] - c->start[i] == 1; }

pb_status pbi_bundles_find(const pb_graph *g, const pbi_clusters *c, const uint32_t *cluster, pb_arena *arena,
                           pbi_bundles *out);

#endif
