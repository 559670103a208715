/* merkle_paths.h -- authentication paths in order, each checked against the root; and all of them by a stream of
 * pebble/hashtree.h, for trees that are too high for a graph.
 *
 * A chain of hashes summarizes what was sent: sum = SHA-256(sum, path), starting with the root.
 */
#ifndef PBI_MERKLE_PATHS_H
#define PBI_MERKLE_PATHS_H

#include "pebble/hashtree.h"
#include "workloads/hash_tree.h"

typedef struct pbi_paths {
    pbi_hash_tree *tree;
    uint32_t height;
    /* Paths are computed for the roots of subtrees of 2^grain leaves; the levels below are recomputed with each. */
    uint32_t grain;
    bool unchecked; /* paths are neither checked against the root nor summarized */
    unsigned char root[PBI_HASH], sum[PBI_HASH];
    uint64_t sent;
    /* Computed for the paths since the root was published, and by pbi_paths_stream; without those of checks. */
    uint64_t hashes;
} pbi_paths;

void pbi_paths_publish(pbi_paths *p, const unsigned char *root);
/* The paths of all leaves of subtree `index`; `siblings` has the upper height - grain hashes, from below.
 *   returns PB_EBUG  a path does not lead to the root */
pb_status pbi_paths_send(pbi_paths *p, uint64_t index, const unsigned char *const *siblings, unsigned char *room);
/* Scratch memory of pbi_paths_send and of pbi_hash_subtree: the larger of both. */
uint64_t pbi_paths_room(const pbi_paths *p);

/* All paths, by a traversal of the upper height - grain levels with `slots` hashes of memory, the number from
 * pb_traversal_measure. */
pb_status pbi_paths_stream(pbi_paths *p, const pb_traversal_spec *spec, uint64_t slots);

#endif
