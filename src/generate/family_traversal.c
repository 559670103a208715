/* family_traversal.c -- the traversal of a hash tree as a graph: every authentication path, one after the other.
 *
 * Nodes are numbered by level from the leaves up, followed by the publication of the root and then the paths;
 * strategies recognize the graph by these numbers. A path is a node without cost and size that reads its hashes and
 * the previous path, so that the order of the paths is fixed and the order of computations in between is not.
 */
#include "generate/families.h"
#include "graph/emit.h"

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

static void emit_paths(traversal *t)
{
    pb_node before = pbi_emit_node(&t->e, &(pb_node_spec){.name = "publish"});
    pbi_emit_edge(&t->e, place(t, t->height, 0), before);
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
static void emit_order(traversal *t)
{
    for (uint64_t leaf = 0; leaf < t->leaves; leaf++) {
        uint64_t level = 0, i = leaf;
        pbi_emit_order(&t->e, place(t, 0, leaf));
        for (; level < t->height && (i & 1); i >>= 1)
            pbi_emit_order(&t->e, place(t, ++level, i >> 1));
    }
    for (uint64_t i = 0; i <= t->leaves; i++)
        pbi_emit_order(&t->e, (pb_node)(2 * t->leaves - 1 + i));
}

pb_status pbi_generate_merkle_traversal(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    traversal t = {.height = pbi_param_integer(params, "height"),
                   .hash_size = pbi_param_integer(params, "hash-size"),
                   .leaf_cost = pbi_param_integer(params, "leaf-cost"),
                   .inner_cost = pbi_param_integer(params, "inner-cost")};
    t.leaves = UINT64_C(1) << t.height;
    pbi_emit_init(&t.e, ctx, params->family->name, builder);
    if (pbi_emit_budget(&t.e, 3 * t.leaves, (t.height + 3) * t.leaves) != PB_OK)
        return t.e.status;
    pbi_emit_units(&t.e, "step", "hash");
    emit_hashes(&t);
    emit_paths(&t);
    emit_order(&t);
    return t.e.status;
}
