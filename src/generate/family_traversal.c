/* family_traversal.c -- the traversal of a hash tree as a graph: every authentication path, one after the other; and
 * proofs of some leaves.
 *
 * Nodes are numbered by level from the leaves up, followed by the publication of the root and then the paths;
 * strategies recognize the graph by these numbers. A path is a node without cost and size that reads its hashes and
 * the previous path, so that the order of the paths is fixed and the order of computations in between is not.
 */
#include "base/arena.h"
#include "base/context.h"
#include "base/rng.h"
#include "generate/families.h"
#include "graph/emit.h"

#include <stdlib.h>

typedef struct traversal {
    pbi_emit e;
    uint64_t height, leaves, hash_size, leaf_cost, inner_cost;
} traversal;

/* Node `index` of `level`. */
static pb_node place(const traversal *t, uint64_t level, uint64_t index)
{
    return (pb_node)(2 * t->leaves - (2 * t->leaves >> level) + index);
}

static void emit_hashes(traversal *t)
{
    for (uint64_t level = 0; level <= t->height; level++)
        for (uint64_t i = 0; i < t->leaves >> level && t->e.status == PB_OK; i++) {
            pbi_label name;
            if (level == t->height)
                pbi_label_set(&name, "root");
            else
                pbi_label_pair(&name, "h", level, i);
            pb_node v = pbi_emit_node(&t->e, &(pb_node_spec){.name = name.text,
                                                             .name_length = name.length,
                                                             .cost = level ? t->inner_cost : t->leaf_cost,
                                                             .size = t->hash_size});
            for (uint64_t side = 0; level && side < 2; side++) {
                pbi_emit_edge(&t->e, place(t, level - 1, 2 * i + side), v);
                pbi_emit_inplace(&t->e, v, place(t, level - 1, 2 * i + side));
            }
        }
}

static pb_node emit_publish(traversal *t)
{
    pb_node v = pbi_emit_node(&t->e, &(pb_node_spec){.name = "publish"});
    pbi_emit_edge(&t->e, place(t, t->height, 0), v);
    return v;
}

static void emit_paths(traversal *t)
{
    pb_node before = emit_publish(t);
    for (uint64_t i = 0; i < t->leaves && t->e.status == PB_OK; i++) {
        pbi_label name;
        pbi_label_set(&name, "path_");
        pbi_label_number(&name, i);
        pb_node v = pbi_emit_node(&t->e, &(pb_node_spec){.name = name.text, .name_length = name.length});
        for (uint64_t level = 0; level < t->height; level++)
            pbi_emit_edge(&t->e, place(t, level, i >> level ^ 1), v);
        pbi_emit_edge(&t->e, before, v);
        before = v;
    }
    pbi_emit_target(&t->e, before);
}

/* The order of a program with memory for everything: the tree as a stack machine computes it, then the paths. */
static void emit_order(traversal *t, uint64_t paths)
{
    for (uint64_t leaf = 0; leaf < t->leaves; leaf++) {
        uint64_t level = 0, i = leaf;
        pbi_emit_order(&t->e, place(t, 0, leaf));
        for (; level < t->height && (i & 1); i >>= 1)
            pbi_emit_order(&t->e, place(t, ++level, i >> 1));
    }
    for (uint64_t i = 0; i <= paths; i++)
        pbi_emit_order(&t->e, (pb_node)(2 * t->leaves - 1 + i));
}

static traversal traversal_of(const pbi_params *params)
{
    traversal t = {.height = pbi_param_integer(params, "height"),
                   .hash_size = pbi_param_integer(params, "hash-size"),
                   .leaf_cost = pbi_param_integer(params, "leaf-cost"),
                   .inner_cost = pbi_param_integer(params, "inner-cost")};
    t.leaves = UINT64_C(1) << t.height;
    return t;
}

pb_status pbi_generate_merkle_traversal(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    traversal t = traversal_of(params);
    pbi_emit_init(&t.e, ctx, params->family->name, builder);
    if (pbi_emit_budget(&t.e, 3 * t.leaves, (t.height + 3) * t.leaves) != PB_OK)
        return t.e.status;
    pbi_emit_units(&t.e, "step", "hash");
    emit_hashes(&t);
    emit_paths(&t);
    emit_order(&t, t.leaves);
    return t.e.status;
}

/* `count` different leaves in random order: the first ones of a shuffled list. */
static uint32_t *draw_leaves(const traversal *t, uint64_t count, uint64_t seed, pb_arena *arena)
{
    uint32_t *leaf = pb_arena_alloc(arena, t->leaves, sizeof *leaf);
    pbi_rng rng = {seed};
    for (uint64_t i = 0; leaf && i < t->leaves; i++)
        leaf[i] = (uint32_t)i;
    for (uint64_t i = 0; leaf && i < count; i++) {
        uint64_t other = i + pbi_rng_below(&rng, t->leaves - i);
        uint32_t drawn = leaf[other];
        leaf[other] = leaf[i];
        leaf[i] = drawn;
    }
    return leaf;
}

static void emit_proofs(traversal *t, const uint32_t *leaf, uint64_t count)
{
    pb_node before = emit_publish(t);
    for (uint64_t i = 0; i < count && t->e.status == PB_OK; i++) {
        pbi_label name;
        pbi_label_pair(&name, "proof", i, leaf[i]);
        pb_node v = pbi_emit_node(&t->e, &(pb_node_spec){.name = name.text, .name_length = name.length});
        for (uint64_t level = 0; level < t->height; level++)
            pbi_emit_edge(&t->e, place(t, level, leaf[i] >> level ^ 1), v);
        pbi_emit_edge(&t->e, before, v);
        before = v;
    }
    pbi_emit_target(&t->e, before);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* One proof of all leaves: siblings of nodes on the paths that are not on a path themselves. */
static void emit_multiproof(traversal *t, uint32_t *leaf, uint64_t count)
{
    pb_node before = emit_publish(t), v = pbi_emit_node(&t->e, &(pb_node_spec){.name = "proof"});
    qsort(leaf, count, sizeof *leaf, by_number);
    for (uint64_t level = 0; level < t->height && t->e.status == PB_OK; level++) {
        uint64_t kept = 0;
        for (uint64_t i = 0; i < count; i++) {
            bool with_next = i + 1 < count && leaf[i + 1] == (leaf[i] ^ 1) && leaf[i] % 2 == 0;
            if (!with_next)
                pbi_emit_edge(&t->e, place(t, level, leaf[i] ^ 1), v);
            leaf[kept++] = leaf[i] / 2;
            i += with_next;
        }
        count = kept;
    }
    pbi_emit_edge(&t->e, before, v);
    pbi_emit_target(&t->e, v);
}

pb_status pbi_generate_merkle_proofs(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    traversal t = traversal_of(params);
    uint64_t count = pbi_param_integer(params, "proofs");
    bool multi = pbi_param_is(params, "batch", "multi");
    pbi_emit_init(&t.e, ctx, params->family->name, builder);
    if (count > t.leaves)
        return pbi_fail(ctx, PB_ERANGE,
                        "merkle-proofs: proofs must be between 1 and %llu, the number of leaves, not %llu",
                        (unsigned long long)t.leaves, (unsigned long long)count);
    if (pbi_emit_budget(&t.e, 2 * t.leaves + count, 2 * t.leaves + (t.height + 1) * count) != PB_OK)
        return t.e.status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint32_t *leaf = draw_leaves(&t, count, pbi_param_integer(params, "seed"), &scratch);
    if (leaf) {
        pbi_emit_units(&t.e, "step", "hash");
        emit_hashes(&t);
        if (multi)
            emit_multiproof(&t, leaf, count);
        else
            emit_proofs(&t, leaf, count);
        emit_order(&t, multi ? 1 : count);
    }
    pb_arena_release(&scratch);
    return leaf ? t.e.status : PB_ENOMEM;
}
