/* cluster.h -- which computations become one step: runs of an order. */
#ifndef PBI_COARSE_CLUSTER_H
#define PBI_COARSE_CLUSTER_H

#include "pebble/coarse.h"

/* Part of a group's name. */
typedef struct pbi_label {
    const char *text;
    size_t length;
} pbi_label;

typedef struct pbi_clusters {
    pb_node *order; /* needed computations */
    uint32_t order_count;
    uint32_t *start; /* cluster c is order[start[c]] .. order[start[c + 1] - 1] */
    uint32_t count;
    uint32_t *label; /* by place in the order, an index into `labels`; UINT32_MAX: none; NULL: no labels */
    pbi_label *labels;
    uint32_t label_count;
} pbi_clusters;

/* Everything is allocated in `arena`. */
pb_status pbi_clusters_find(pb_context *ctx, const pb_graph *g, const pb_coarsen_options *options, pb_arena *arena,
                            pbi_clusters *out);

/* order_labels.c: the order in which nodes with the same label follow one another as long as possible; fills order,
 * label and labels. PB_EINVAL if the graph has no groups. */
pb_status pbi_order_labels(pb_context *ctx, const pb_graph *g, bool blocks, pb_arena *arena, pbi_clusters *c);

/* regions.c: joins neighbors until at most `most` clusters are left, divided where little memory is in use. Values that
 * may be computed only once stay apart. */
pb_status pbi_join_neighbors(const pb_graph *g, uint32_t most, pb_arena *arena, pbi_clusters *c);

#endif
