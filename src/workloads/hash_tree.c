/* hash_tree.c -- see hash_tree.h.
 *
 * A message is one prefix byte and the data. If the data is contiguous, the byte before it is saved and replaced by the
 * prefix during the hash, so that nothing is copied.
 */
#include "workloads/hash_tree.h"

#include "base/checked.h"
#include "base/context.h"

#include <string.h>

enum {
    READ_AHEAD = 16384, /* bytes of leaves that are read from a file at a time, at least one leaf */
    LOOK_EVERY = 65536  /* leaves between two polls for a stop: subtrees of high trees take many seconds */
};

static pb_status check_file(const pbi_hash_tree *t, const char *path, uint32_t height)
{
    uint64_t need;
    if (!pbi_mul(t->leaf_size, UINT64_C(1) << height, &need) || need > t->file.size)
        return pbi_fail(t->ctx, PB_EFORMAT,
                        "%s has %llu bytes, not enough for 2^%u leaves of %llu; use a smaller height or leaf", path,
                        (unsigned long long)t->file.size, height, (unsigned long long)t->leaf_size);
    return PB_OK;
}

pb_status pbi_hash_tree_open(pb_context *ctx, const char *path, uint64_t seed, uint64_t leaf_size, uint32_t height,
                             pbi_hash_tree *out)
{
    *out = (pbi_hash_tree){.ctx = ctx, .file = PBI_NO_FILE, .seed = seed, .leaf_size = leaf_size, .open = true};
    if (!*path)
        return PB_OK;
    pb_status status = pbi_file_open(ctx, path, &out->file);
    return status == PB_OK ? check_file(out, path, height) : status;
}

void pbi_hash_tree_close(pbi_hash_tree *t)
{
    if (t->open)
        pbi_file_close(&t->file);
    t->open = false;
}

pb_status pbi_hash_bytes(pbi_hash_tree *t, const void *bytes, size_t count, unsigned char *out)
{
    pbi_sha256 sum;
    if (pbi_sha256_begin(&sum) && pbi_sha256_add(&sum, bytes, count) && pbi_sha256_end(&sum, out))
        return PB_OK;
    return pbi_sha256_failed(t->ctx);
}

/* The hash of `prefix` and `count` bytes; overwrites the byte before them for a moment. */
static pb_status hash_behind(pbi_hash_tree *t, unsigned char prefix, unsigned char *bytes, size_t count,
                             unsigned char *out)
{
    unsigned char before = bytes[-1];
    bytes[-1] = prefix;
    pb_status status = pbi_hash_bytes(t, bytes - 1, count + 1, out);
    bytes[-1] = before;
    return status;
}

static void put_word(unsigned char *out, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(word >> 8 * i);
}

/* Each word is a different number, so that leaves differ. Hashing needs no more, and making leaves must take almost
 * no time compared with the hash. */
static void make_leaf(const pbi_hash_tree *t, uint64_t index, unsigned char *out)
{
    uint64_t words = t->leaf_size / 8, rest = t->leaf_size % 8, number = index * (words + (rest != 0));
    for (uint64_t i = 0; i < words; i++)
        put_word(out + 8 * i, (number + i) * 0x9e3779b97f4a7c15u + t->seed);
    if (rest) {
        unsigned char last[8];
        put_word(last, (number + words) * 0x9e3779b97f4a7c15u + t->seed);
        memcpy(out + 8 * words, last, rest);
    }
}

/* Leaves index .. index + count - 1. */
static pb_status get_leaves(const pbi_hash_tree *t, uint64_t index, uint64_t count, unsigned char *out)
{
    if (t->file.handle >= 0)
        return pbi_file_read(&t->file, t->ctx, index * t->leaf_size, out, count * t->leaf_size);
    for (uint64_t i = 0; i < count; i++)
        make_leaf(t, index + i, out + i * t->leaf_size);
    return PB_OK;
}

uint64_t pbi_hash_leaf_room(const pbi_hash_tree *t) { return pbi_round64(1 + t->leaf_size); }

pb_status pbi_hash_leaf(pbi_hash_tree *t, uint64_t index, unsigned char *room, unsigned char *out)
{
    pb_status status = get_leaves(t, index, 1, room + 1);
    return status == PB_OK ? hash_behind(t, 0, room + 1, t->leaf_size, out) : status;
}

pb_status pbi_hash_inner(pbi_hash_tree *t, const unsigned char *left, const unsigned char *right, unsigned char *out)
{
    unsigned char message[1 + 2 * PBI_HASH] = {1};
    memcpy(message + 1, left, PBI_HASH);
    memcpy(message + 1 + PBI_HASH, right, PBI_HASH);
    return pbi_hash_bytes(t, message, sizeof message, out);
}

/* How many leaves of a subtree are fetched at a time, a power of two. */
static uint64_t batch_of(const pbi_hash_tree *t, uint32_t level)
{
    uint64_t batch = 1, most = t->file.handle >= 0 ? UINT64_C(1) << level : 1;
    while (2 * batch <= most && 2 * batch * t->leaf_size <= READ_AHEAD)
        batch *= 2;
    return batch;
}

static uint64_t batch_room(const pbi_hash_tree *t, uint32_t level)
{
    return pbi_round64(1 + batch_of(t, level) * t->leaf_size);
}

uint64_t pbi_hash_subtree_room(const pbi_hash_tree *t, uint32_t level)
{
    return batch_room(t, level) + pbi_round64(1 + PBI_HASH * ((uint64_t)level + 1));
}

pb_status pbi_hash_subtree(pbi_hash_tree *t, uint32_t level, uint64_t index, unsigned char *room, unsigned char *out)
{
    uint64_t leaves = UINT64_C(1) << level, batch = batch_of(t, level);
    unsigned char *leaf = room + 1, *stack = room + batch_room(t, level) + 1, *top = stack;
    pb_status status = PB_OK;
    for (uint64_t i = 0; i < leaves && status == PB_OK; i++) {
        uint64_t within = i % batch;
        if (within == 0)
            status = get_leaves(t, index * leaves + i, batch, leaf);
        if (status == PB_OK)
            status = hash_behind(t, 0, leaf + within * t->leaf_size, t->leaf_size, top);
        top += PBI_HASH;
        for (uint64_t pairs = i; (pairs & 1) && status == PB_OK; pairs >>= 1) {
            top -= PBI_HASH; /* replaces the two on top by one */
            status = hash_behind(t, 1, top - PBI_HASH, 2 * PBI_HASH, top - PBI_HASH);
        }
        if (status == PB_OK && i % LOOK_EVERY == LOOK_EVERY - 1)
            status = pbi_poll(t->ctx);
    }
    if (status == PB_OK)
        memcpy(out, stack, PBI_HASH);
    return status;
}

static uint64_t levels_bytes(uint32_t level) { return pbi_round64(1 + PBI_HASH * ((UINT64_C(2) << level) - 1)); }

uint64_t pbi_hash_levels_room(const pbi_hash_tree *t, uint32_t level)
{
    return levels_bytes(level) + batch_room(t, level);
}

pb_status pbi_hash_levels(pbi_hash_tree *t, uint32_t level, uint64_t index, unsigned char *room)
{
    uint64_t leaves = UINT64_C(1) << level, batch = batch_of(t, level), inner = leaves - 1;
    unsigned char *pair = room + 1, *out = pair, *leaf = room + levels_bytes(level) + 1;
    pb_status status = PB_OK;
    for (uint64_t i = 0; i < leaves && status == PB_OK; i++, out += PBI_HASH) {
        uint64_t within = i % batch;
        if (within == 0)
            status = get_leaves(t, index * leaves + i, batch, leaf);
        if (status == PB_OK)
            status = hash_behind(t, 0, leaf + within * t->leaf_size, t->leaf_size, out);
    }
    for (uint64_t i = 0; i < inner && status == PB_OK; i++, pair += 2 * PBI_HASH, out += PBI_HASH)
        status = hash_behind(t, 1, pair, 2 * PBI_HASH, out);
    return status;
}

uint64_t pbi_hash_leaf_cost(const pbi_hash_tree *t) { return (1 + t->leaf_size + 9 + 63) / 64; }
