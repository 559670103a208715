/* merkle_graph.h -- the graphs of the workload merkle, and their node numbers. */
#ifndef PBI_MERKLE_GRAPH_H
#define PBI_MERKLE_GRAPH_H

#include "workloads/merkle_paths.h"

/* The root of 2^height leaves. Nodes without inputs are subtrees of 2^grain leaves; index[v] is the subtree's
 * number. A parent may overwrite a child. Nodes are in the order of a stack machine; the last is the root, which is
 * kept. */
pb_status pbi_merkle_root_graph(pb_workload *w, const pbi_hash_tree *t, uint32_t height, uint32_t grain,
                                const uint32_t **index);

/* Every authentication path in the order of the leaves: the graph of `pebble gen merkle-traversal`, whose numbering
 * the strategy merkle recognizes, with sizes in bytes. Its leaves are the subtrees of 2^grain leaves of the tree,
 * and a path node represents the paths of all leaves of one. Kernels have their scratch memory in fixed memory:
 * pbi_paths_room. */
pb_status pbi_merkle_paths_graph(pb_workload *w, const pbi_paths *p);

/* Node numbers in the graph of paths; `leaves` are those of the graph. */
static inline pb_node pbi_merkle_hash(uint64_t leaves, uint32_t level, uint64_t i)
{
    return (pb_node)(2 * leaves - (2 * leaves >> level) + i);
}
static inline pb_node pbi_merkle_publish(uint64_t leaves) { return (pb_node)(2 * leaves - 1); }
static inline pb_node pbi_merkle_path(uint64_t leaves, uint64_t i) { return (pb_node)(2 * leaves + i); }

#endif
