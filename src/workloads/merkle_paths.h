/* merkle_paths.h -- authentication paths that are sent one after the other, each held against the root; and all of them by a stream of
 * pebble/hashtree.h, for trees that are too high for a graph.
 *
 * What was sent is summed up in a chain of hashes: sum = SHA-256(sum, path), which begins with the root.
 */
#ifndef PBI_MERKLE_PATHS_H
#define PBI_MERKLE_PATHS_H

#include "pebble/hashtree.h"
#include "workloads/hash_tree.h"

typedef struct pbi_paths {
    pbi_hash_tree *tree;
    uint32_t height;
    uint32_t
        grain; /* paths are made for the roots of subtrees of 2^grain leaves; what is below is computed with each of them */
    bool unchecked; /* paths are neither held against the root nor summed up */
    unsigned char root[PBI_HASH], sum[PBI_HASH];
    uint64_t sent;
    uint64_t hashes; /* made for the paths since the publication, and by pbi_paths_stream; without those that check */
} pbi_paths;

void pbi_paths_publish(pbi_paths *p, const unsigned char *root);
/* The paths of all leaves of subtree `index`; `siblings` has the upper height - grain hashes, from below.
 *   returns PB_EBUG  a path does not lead to the root */
pb_status pbi_paths_send(pbi_paths *p, uint64_t index, const unsigned char *const *siblings, unsigned char *room);
/* Memory that one of pbi_paths_send and pbi_hash_subtree works in. */
uint64_t pbi_paths_room(const pbi_paths *p);

/* All paths, by a traversal of the upper height - grain levels in `slots` hashes of memory, as many as pb_traversal_measure says. */
pb_status pbi_paths_stream(pbi_paths *p, const pb_traversal_spec *spec, uint64_t slots);

#endif
