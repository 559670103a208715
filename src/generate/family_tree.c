/* family_tree.c -- in-trees and hash trees. Nodes are created in postorder: the order of a recursive program. */
#include "base/arena.h"
#include "base/context.h"
#include "base/rng.h"
#include "generate/families.h"
#include "generate/node_profile.h"
#include "graph/emit.h"

/* A tree over the numbers 0 .. count-1; 0 is the root and a parent is smaller than its children. */
typedef struct tree {
    uint32_t count;
    uint32_t *parent, *first, *next; /* first child, next sibling; PB_NO_NODE for none */
    pb_node *placed;                 /* node of each number, once it is created */
} tree;

/* Part of a skewed tree that is still to be created: `count` nodes below this parent. */
typedef struct subtree {
    uint32_t count, parent;
} subtree;

static bool tree_init(tree *t, pb_arena *arena, uint64_t count)
{
    t->count = (uint32_t)count;
    t->parent = pb_arena_alloc(arena, count, sizeof *t->parent);
    t->first = pb_arena_alloc(arena, count, sizeof *t->first);
    t->next = pb_arena_alloc(arena, count, sizeof *t->next);
    t->placed = pb_arena_alloc(arena, count, sizeof *t->placed);
    return t->parent && t->first && t->next && t->placed;
}

static void shape_complete(tree *t, uint64_t arity)
{
    t->parent[0] = PB_NO_NODE;
    for (uint32_t i = 1; i < t->count; i++)
        t->parent[i] = (uint32_t)((i - 1) / arity);
}

/* Parents are drawn from the nodes that have room for another child. */
static bool shape_random(tree *t, pb_arena *arena, uint64_t arity, uint64_t seed)
{
    uint32_t *open = pb_arena_alloc(arena, t->count, sizeof *open);
    uint32_t *children = pb_arena_zero(arena, t->count, sizeof *children);
    if (!open || !children)
        return false;
    pbi_rng rng = {seed};
    uint32_t open_count = 1;
    open[0] = 0;
    t->parent[0] = PB_NO_NODE;
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t at = (uint32_t)pbi_rng_below(&rng, open_count), parent = open[at];
        t->parent[i] = parent;
        if (++children[parent] == arity)
            open[at] = open[--open_count];
        open[open_count++] = i;
    }
    return true;
}

static bool push_subtree(pb_arena *arena, subtree **stack, size_t *room, size_t *depth, subtree item)
{
    void *items = *stack;
    if (!pbi_arena_reserve(arena, &items, room, *depth + 1, sizeof item))
        return false;
    *stack = items;
    (*stack)[(*depth)++] = item;
    return true;
}

/* The first child gets `skew` of the nodes below its parent, the others equal shares of the remaining ones. The
 * heavy child is pushed first and so numbered last: the stack has arity entries per level of the light ones. */
static bool shape_skewed(tree *t, pb_arena *arena, uint64_t arity, double skew)
{
    subtree *stack = NULL;
    size_t room = 0, depth = 0;
    uint32_t made = 0;
    if (!push_subtree(arena, &stack, &room, &depth, (subtree){t->count, PB_NO_NODE}))
        return false;
    while (depth) {
        subtree now = stack[--depth];
        uint32_t number = made++, below = now.count - 1;
        t->parent[number] = now.parent;
        if (below == 0)
            continue;
        uint32_t others = (uint32_t)(below < arity ? below : arity) - 1;
        uint32_t heavy = others ? (uint32_t)(skew * (double)below) : below;
        heavy = heavy < 1 ? 1 : heavy > below - others ? below - others : heavy;
        if (!push_subtree(arena, &stack, &room, &depth, (subtree){heavy, number}))
            return false;
        for (uint32_t k = 0, rest = below - heavy; k < others; k++) {
            uint32_t share = rest / (others - k);
            rest -= share;
            if (!push_subtree(arena, &stack, &room, &depth, (subtree){share, number}))
                return false;
        }
    }
    return true;
}

/* Children in the order of their numbers, or the highest number (the heavy child) first. */
static void link_children(tree *t, bool highest_first)
{
    for (uint32_t i = 0; i < t->count; i++)
        t->first[i] = t->next[i] = PB_NO_NODE;
    for (uint32_t k = 1; k < t->count; k++) {
        uint32_t child = highest_first ? k : t->count - k;
        t->next[child] = t->first[t->parent[child]];
        t->first[t->parent[child]] = child;
    }
}

static void emit_tree(pbi_emit *e, tree *t, const pbi_params *params)
{
    uint64_t cost = pbi_param_integer(params, "cost"), size = pbi_param_integer(params, "size");
    pbi_node_profile profile = pbi_node_profile_read(params, t->count);
    bool entering = true;
    for (uint32_t at = 0; at != PB_NO_NODE && e->status == PB_OK;) {
        while (entering && t->first[at] != PB_NO_NODE)
            at = t->first[at];
        pbi_label name;
        pbi_label_set(&name, "n");
        pbi_label_number(&name, at);
        pb_node_spec spec = {.name = name.text, .name_length = name.length};
        spec.cost = pbi_node_profile_cost(&profile, PBI_STEPS, cost, at);
        spec.size = pbi_node_profile_size(&profile, PBI_STEPS, size, at);
        pb_node v = t->placed[at] = pbi_emit_step(e, &spec);
        for (uint32_t child = t->first[at]; child != PB_NO_NODE; child = t->next[child])
            pbi_emit_edge(e, t->placed[child], v);
        entering = t->next[at] != PB_NO_NODE;
        at = entering ? t->next[at] : t->parent[at];
    }
}

static uint64_t complete_count(uint64_t arity, uint64_t height)
{
    uint64_t count = 1, level = 1;
    for (uint64_t h = 0; h < height; h++) {
        level = pbi_times(level, arity);
        count = pbi_add_saturated(count, level);
    }
    return count;
}

pb_status pbi_generate_tree(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    uint64_t arity = pbi_param_integer(params, "arity"), count = pbi_param_integer(params, "nodes");
    bool skewed = pbi_param_is(params, "shape", "skewed"), complete = pbi_param_is(params, "shape", "complete");
    if (complete)
        count = complete_count(arity, pbi_param_integer(params, "height"));
    pbi_emit e;
    pbi_emit_init(&e, ctx, params->family->name, builder);
    if (pbi_emit_budget(&e, count, count) != PB_OK)
        return e.status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    tree t;
    bool ok = tree_init(&t, &scratch, count);
    if (ok && complete)
        shape_complete(&t, arity);
    else if (ok)
        ok = skewed ? shape_skewed(&t, &scratch, arity, pbi_param_real(params, "skew"))
                    : shape_random(&t, &scratch, arity, pbi_param_integer(params, "seed"));
    if (ok) {
        link_children(&t, skewed);
        pbi_emit_units(&e, "step", "pebble");
        emit_tree(&e, &t, params);
    }
    pb_arena_release(&scratch);
    return ok ? e.status : PB_ENOMEM;
}

typedef struct merkle {
    pbi_emit e;
    uint64_t height, hash_size, leaf_cost, inner_cost, data_size, load_cost;
    uint64_t proof; /* leaf counted from 1, or 0 */
    bool data_given;
} merkle;

/* Whether hash `i` of `level` is the sibling of one on the path from the proved leaf to the root. */
static bool on_proof(const merkle *m, uint64_t level, uint64_t i)
{
    return m->proof && level < m->height && i == ((m->proof - 1) >> level ^ 1);
}

static pb_node emit_data(merkle *m, uint64_t leaf)
{
    pbi_label name;
    pbi_label_set(&name, "data_");
    pbi_label_number(&name, leaf);
    pb_node_spec spec = {.name = name.text, .name_length = name.length, .size = m->data_size};
    if (m->data_given) {
        spec.flags = PB_NODE_GIVEN;
        return pbi_emit_node(&m->e, &spec);
    }
    spec.cost = m->load_cost;
    return pbi_emit_step(&m->e, &spec);
}

static pb_node emit_hash(merkle *m, uint64_t level, uint64_t i)
{
    pbi_label name;
    if (level == m->height)
        pbi_label_set(&name, "root");
    else
        pbi_label_pair(&name, "h", level, i);
    pb_node_spec spec = {.name = name.text, .name_length = name.length, .size = m->hash_size};
    spec.cost = level ? m->inner_cost : m->leaf_cost;
    if (on_proof(m, level, i))
        spec.flags = PB_NODE_KEEP;
    return pbi_emit_step(&m->e, &spec);
}

/* After leaf k come the hashes of all subtrees that end with it, as a stack machine computes them. */
static void emit_leaf(merkle *m, uint64_t leaf, pb_node pending[])
{
    pb_node data = m->data_size ? emit_data(m, leaf) : PB_NO_NODE;
    pb_node v = emit_hash(m, 0, leaf);
    if (m->data_size)
        pbi_emit_edge(&m->e, data, v);
    uint64_t level = 0, i = leaf;
    for (; level < m->height && (i & 1); level++, i >>= 1) {
        pb_node left = pending[level], right = v;
        v = emit_hash(m, level + 1, i >> 1);
        pbi_emit_edge(&m->e, left, v);
        pbi_emit_edge(&m->e, right, v);
        pbi_emit_inplace(&m->e, v, left);
        pbi_emit_inplace(&m->e, v, right);
    }
    pending[level] = v;
    if (level == m->height)
        pbi_emit_target(&m->e, v);
}

pb_status pbi_generate_merkle(pb_context *ctx, const pbi_params *params, pb_builder *builder)
{
    merkle m = {.height = pbi_param_integer(params, "height"),
                .hash_size = pbi_param_integer(params, "hash-size"),
                .leaf_cost = pbi_param_integer(params, "leaf-cost"),
                .inner_cost = pbi_param_integer(params, "inner-cost"),
                .data_size = pbi_param_integer(params, "data-size"),
                .load_cost = pbi_param_integer(params, "load-cost"),
                .proof = pbi_param_integer(params, "proof"),
                .data_given = pbi_param_is(params, "data", "given")};
    uint64_t leaves = UINT64_C(1) << m.height;
    pbi_emit_init(&m.e, ctx, params->family->name, builder);
    if (m.proof > leaves)
        return pbi_fail(ctx, PB_ERANGE, "merkle: proof must be between 0 and %llu, the number of leaves, not %llu",
                        (unsigned long long)leaves, (unsigned long long)m.proof);
    uint64_t count = 2 * leaves - 1 + (m.data_size ? leaves : 0);
    if (pbi_emit_budget(&m.e, count, count) != PB_OK)
        return m.e.status;
    pbi_emit_units(&m.e, "hash", "byte");
    pb_node pending[32];
    for (uint64_t leaf = 0; leaf < leaves && m.e.status == PB_OK; leaf++)
        emit_leaf(&m, leaf, pending);
    return m.e.status;
}
