/* merkle_paths.c -- see merkle_paths.h. */
#include "workloads/merkle_paths.h"

#include "base/context.h"

#include <string.h>

void pbi_paths_publish(pbi_paths *p, const unsigned char *root)
{
    memcpy(p->root, root, PBI_HASH);
    memcpy(p->sum, root, PBI_HASH);
    p->sent = 0;
}

uint64_t pbi_paths_room(const pbi_paths *p)
{
    uint64_t levels = pbi_hash_levels_room(p->tree, p->grain) + pbi_hash_leaf_room(p->tree);
    uint64_t subtree = pbi_hash_subtree_room(p->tree, p->grain);
    return levels > subtree ? levels : subtree;
}

static pb_status check(pbi_paths *p, uint64_t leaf, const unsigned char *const *siblings, unsigned char *room)
{
    unsigned char hash[PBI_HASH];
    pb_status status = pbi_hash_leaf(p->tree, leaf, room, hash);
    for (uint32_t level = 0; level < p->height && status == PB_OK; level++) {
        bool right = leaf >> level & 1;
        status = pbi_hash_inner(p->tree, right ? siblings[level] : hash, right ? hash : siblings[level], hash);
    }
    if (status == PB_OK && memcmp(hash, p->root, PBI_HASH) != 0)
        status = pbi_fail(p->tree->ctx, PB_EBUG, "the path of leaf %llu does not lead to the root",
                          (unsigned long long)leaf);
    return status;
}

static pb_status add_to_sum(pbi_paths *p, const unsigned char *const *siblings)
{
    unsigned char message[PBI_HASH * (1 + PB_TRAVERSAL_MAX_HEIGHT)];
    memcpy(message, p->sum, PBI_HASH);
    for (uint32_t level = 0; level < p->height; level++)
        memcpy(message + PBI_HASH * (1 + level), siblings[level], PBI_HASH);
    return pbi_hash_bytes(p->tree, message, PBI_HASH * (1 + (size_t)p->height), p->sum);
}

pb_status pbi_paths_send(pbi_paths *p, uint64_t index, const unsigned char *const *siblings, unsigned char *room)
{
    const unsigned char *path[PB_TRAVERSAL_MAX_HEIGHT];
    uint64_t leaves = UINT64_C(1) << p->grain;
    pb_status status = p->grain ? pbi_hash_levels(p->tree, p->grain, index, room) : PB_OK;
    p->hashes += p->grain ? 2 * leaves - 1 : 0;
    for (uint32_t level = p->grain; level < p->height; level++)
        path[level] = siblings[level - p->grain];
    for (uint64_t i = 0; i < leaves && status == PB_OK; i++, p->sent++) {
        const unsigned char *below = room + 1;
        for (uint32_t level = 0; level < p->grain; below += PBI_HASH * (leaves >> level++))
            path[level] = below + PBI_HASH * (i >> level ^ 1);
        if (p->unchecked)
            continue;
        status = check(p, index * leaves + i, path, room + pbi_hash_levels_room(p->tree, p->grain));
        if (status == PB_OK)
            status = add_to_sum(p, path);
    }
    return status;
}

/* ---- by a stream ---- */

typedef struct slots {
    unsigned char *hash; /* contiguous */
    unsigned char *room;
} slots;

static unsigned char *slot(const slots *s, uint32_t i) { return s->hash + (size_t)i * PBI_HASH; }

static pb_status send_slots(pbi_paths *p, const slots *s, const pb_traversal *t, uint64_t index)
{
    const unsigned char *siblings[PB_TRAVERSAL_MAX_HEIGHT];
    for (uint32_t level = 0; level < p->height - p->grain; level++)
        siblings[level] = slot(s, t->path[level]);
    pb_status status = pbi_poll(p->tree->ctx);
    return status == PB_OK ? pbi_paths_send(p, index, siblings, s->room) : status;
}

static pb_status act(pbi_paths *p, const slots *s, const pb_traversal *t, const pb_hash_action *a)
{
    switch (a->kind) {
    case PB_HASH_LEAF:
        p->hashes += (UINT64_C(2) << p->grain) - 1;
        return p->grain ? pbi_hash_subtree(p->tree, p->grain, a->index, s->room, slot(s, a->slot))
                        : pbi_hash_leaf(p->tree, a->index, s->room, slot(s, a->slot));
    case PB_HASH_NODE:
        p->hashes++;
        return pbi_hash_inner(p->tree, slot(s, a->left), slot(s, a->right), slot(s, a->slot));
    case PB_HASH_ROOT: pbi_paths_publish(p, slot(s, a->slot)); return PB_OK;
    case PB_HASH_PATH: return send_slots(p, s, t, a->index);
    default: return PB_OK;
    }
}

pb_status pbi_paths_stream(pbi_paths *p, const pb_traversal_spec *spec, uint64_t slot_count)
{
    pb_context *ctx = p->tree->ctx;
    pb_arena arena;
    pb_traversal stream;
    pb_hash_action a;
    slots s;
    pb_arena_init(&arena, ctx);
    p->hashes = 0;
    s.hash = pb_arena_alloc(&arena, slot_count, PBI_HASH);
    s.room = pb_arena_alloc(&arena, pbi_paths_room(p), 1);
    pb_status status = s.hash && s.room ? pb_traversal_init(ctx, spec, &arena, &stream) : PB_ENOMEM;
    while (status == PB_OK && pb_traversal_next(&stream, &a))
        status = act(p, &s, &stream, &a);
    pb_arena_release(&arena);
    return status;
}
