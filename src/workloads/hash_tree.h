/* hash_tree.h -- SHA-256 hash trees over leaves that are made from a seed or read from a file.
 *
 * Leaves and inner nodes are told apart as in RFC 6962: a leaf is SHA-256(0x00, data), an inner node SHA-256(0x01, left, right).
 * libcrypto does the work, with the processor's fastest instructions for it.
 */
#ifndef PBI_HASH_TREE_H
#define PBI_HASH_TREE_H

#include "base/sha256.h"
#include "workloads/workload_parts.h"

enum { PBI_HASH = PBI_SHA256_BYTES, PBI_HASH_SLOT = 64 /* a hash and padding: a line of its own */ };

typedef struct pbi_hash_tree {
    pb_context *ctx;
    bool open;
    pbi_file file; /* of leaves, one after the other; none: they are made from `seed` */
    uint64_t seed, leaf_size;
} pbi_hash_tree;

/* With an empty path leaves are made from the seed. The file must hold 2^height leaves.
 * Closing is right after a failed opening too. */
pb_status pbi_hash_tree_open(pb_context *ctx, const char *path, uint64_t seed, uint64_t leaf_size, uint32_t height,
                             pbi_hash_tree *out);
void pbi_hash_tree_close(pbi_hash_tree *t);

pb_status pbi_hash_bytes(pbi_hash_tree *t, const void *bytes, size_t count, unsigned char *out);

/* The hash of leaf `index`, with pbi_hash_leaf_room bytes to work in. */
pb_status pbi_hash_leaf(pbi_hash_tree *t, uint64_t index, unsigned char *room, unsigned char *out);
uint64_t pbi_hash_leaf_room(const pbi_hash_tree *t);
/* `out` may be one of the two. */
pb_status pbi_hash_inner(pbi_hash_tree *t, const unsigned char *left, const unsigned char *right, unsigned char *out);

/* Node `index` of `level` from its leaves, by a stack of level + 1 hashes, in pbi_hash_subtree_room bytes, all counted. */
pb_status pbi_hash_subtree(pbi_hash_tree *t, uint32_t level, uint64_t index, unsigned char *room, unsigned char *out);
uint64_t pbi_hash_subtree_room(const pbi_hash_tree *t, uint32_t level);

/* The whole subtree: its leaves' hashes, then each level above, up to the root of it, one after the other at room + 1, in
 * pbi_hash_levels_room bytes. */
pb_status pbi_hash_levels(pbi_hash_tree *t, uint32_t level, uint64_t index, unsigned char *room);
uint64_t pbi_hash_levels_room(const pbi_hash_tree *t, uint32_t level);

/* SHA-256 runs its compression function once for 64 bytes of message and padding: the unit of cost. */
uint64_t pbi_hash_leaf_cost(const pbi_hash_tree *t);
enum { PBI_HASH_INNER_COST = 2 };

#endif
