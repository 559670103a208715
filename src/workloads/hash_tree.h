/* hash_tree.h -- SHA-256 hash trees over leaves that are generated from a seed or read from a file.
 *
 * Leaves and inner nodes are distinguished as in RFC 6962: a leaf is SHA-256(0x00, data), an inner node SHA-256(0x01,
 * left, right). libcrypto computes them with the processor's fastest instructions.
 */
#ifndef PBI_HASH_TREE_H
#define PBI_HASH_TREE_H

#include "base/sha256.h"
#include "workloads/workload_parts.h"

enum { PBI_HASH = PBI_SHA256_BYTES, PBI_HASH_SLOT = 64 /* a hash and padding: a cache line */ };

typedef struct pbi_hash_tree {
    pb_context *ctx;
    bool open;
    pbi_file file; /* leaves in order; none: they are generated from `seed` */
    uint64_t seed, leaf_size;
} pbi_hash_tree;

/* An empty path: leaves are generated from the seed. The file must have 2^height leaves. Close it after a failure
 * too. */
pb_status pbi_hash_tree_open(pb_context *ctx, const char *path, uint64_t seed, uint64_t leaf_size, uint32_t height,
                             pbi_hash_tree *out);
void pbi_hash_tree_close(pbi_hash_tree *t);

pb_status pbi_hash_bytes(pbi_hash_tree *t, const void *bytes, size_t count, unsigned char *out);

/* The hash of leaf `index`, with pbi_hash_leaf_room bytes of scratch memory. */
pb_status pbi_hash_leaf(pbi_hash_tree *t, uint64_t index, unsigned char *room, unsigned char *out);
uint64_t pbi_hash_leaf_room(const pbi_hash_tree *t);
/* `out` may be one of the two. */
pb_status pbi_hash_inner(pbi_hash_tree *t, const unsigned char *left, const unsigned char *right, unsigned char *out);

/* Node `index` of `level` from its leaves, with a stack of level + 1 hashes, in pbi_hash_subtree_room bytes in
 * total. */
pb_status pbi_hash_subtree(pbi_hash_tree *t, uint32_t level, uint64_t index, unsigned char *room, unsigned char *out);
uint64_t pbi_hash_subtree_room(const pbi_hash_tree *t, uint32_t level);

/* The whole subtree: the hashes of its leaves, then each level above, up to its root, contiguous at room + 1, in
 * pbi_hash_levels_room bytes. */
pb_status pbi_hash_levels(pbi_hash_tree *t, uint32_t level, uint64_t index, unsigned char *room);
uint64_t pbi_hash_levels_room(const pbi_hash_tree *t, uint32_t level);

/* SHA-256 runs its compression function once per 64 bytes of message and padding: the unit of cost. */
uint64_t pbi_hash_leaf_cost(const pbi_hash_tree *t);
enum { PBI_HASH_INNER_COST = 2 };

#endif
