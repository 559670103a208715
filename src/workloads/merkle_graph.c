/* merkle_graph.c -- see merkle_graph.h. */
#include "workloads/merkle_graph.h"

/* Each unit of cost, a run of the compression function, hashes this many bytes. */
enum { BLOCK = 64 };

static pb_work hashing(uint64_t cost)
{
    return (pb_work){.op = "hash", .has_bytes = true, .bytes = pbi_times(cost, BLOCK)};
}

static pb_node add_hash(pbi_draft *d, uint32_t level, uint64_t i, bool root, pb_node_spec spec)
{
    pbi_label name;
    if (root)
        pbi_label_set(&name, "root");
    else
        pbi_label_pair(&name, "h", level, i);
    spec.name = name.text;
    spec.name_length = name.length;
    spec.size = PBI_HASH_SLOT;
    spec.work = hashing(spec.cost);
    return pbi_emit_node(&d->e, &spec);
}

static void join(pbi_draft *d, pb_node left, pb_node right, pb_node v)
{
    pbi_emit_edge(&d->e, left, v);
    pbi_emit_edge(&d->e, right, v);
    pbi_emit_inplace(&d->e, v, left);
    pbi_emit_inplace(&d->e, v, right);
}

static uint64_t subtree_cost(const pbi_hash_tree *t, uint32_t grain)
{
    uint64_t leaves = UINT64_C(1) << grain;
    return leaves * pbi_hash_leaf_cost(t) + (leaves - 1) * PBI_HASH_INNER_COST;
}

/* ---- the root ---- */

typedef struct stack_machine {
    pbi_draft draft;
    pb_node_spec leaf, inner;
    uint32_t grain, top; /* levels of the graph's leaves and of its root */
    uint32_t *index;
    pb_node waiting[64]; /* by level: the left one of a pair */
} stack_machine;

static pb_node place(stack_machine *m, uint32_t level, uint64_t i)
{
    pb_node_spec spec = level == m->grain ? m->leaf : m->inner;
    if (level == m->top)
        spec.flags = PB_NODE_KEEP | PB_NODE_TARGET;
    pb_node v = add_hash(&m->draft, level, i, level == m->top, spec);
    pbi_emit_order(&m->draft.e, v);
    if (m->draft.e.status == PB_OK)
        m->index[v] = (uint32_t)i;
    return v;
}

static void add_leaf(stack_machine *m, uint64_t i)
{
    uint32_t level = m->grain;
    pb_node v = place(m, level, i);
    for (; level < m->top && (i & 1); i >>= 1) {
        pb_node left = m->waiting[level], right = v;
        v = place(m, ++level, i >> 1);
        join(&m->draft, left, right, v);
    }
    m->waiting[level] = v;
}

pb_status pbi_merkle_root_graph(pb_workload *w, const pbi_hash_tree *t, uint32_t height, uint32_t grain,
                                const uint32_t **index)
{
    stack_machine m = {.grain = grain, .top = height};
    uint64_t leaves = UINT64_C(1) << (height - grain);
    m.leaf.cost = subtree_cost(t, grain);
    m.leaf.workspace = pbi_hash_subtree_room(t, grain);
    m.inner.cost = PBI_HASH_INNER_COST;
    m.index = pb_arena_zero(&w->arena, 2 * leaves, sizeof *m.index);
    if (!m.index)
        return PB_ENOMEM;
    pbi_draft_begin(&m.draft, w, "merkle", "block");
    for (uint64_t i = 0; i < leaves && m.draft.e.status == PB_OK; i++)
        add_leaf(&m, i);
    *index = m.index;
    return pbi_draft_end(&m.draft, w);
}

/* ---- the paths ---- */

static void add_hashes(pbi_draft *d, const pbi_paths *p, uint32_t height)
{
    uint64_t leaves = UINT64_C(1) << height;
    for (uint32_t level = 0; level <= height; level++)
        for (uint64_t i = 0; i < leaves >> level && d->e.status == PB_OK; i++) {
            pb_node_spec spec = {.cost = level ? PBI_HASH_INNER_COST : subtree_cost(p->tree, p->grain)};
            pb_node v = add_hash(d, level, i, level == height, spec);
            if (level)
                join(d, pbi_merkle_hash(leaves, level - 1, 2 * i), pbi_merkle_hash(leaves, level - 1, 2 * i + 1), v);
        }
}

/* The subtree, then for each path a hash of its leaf and one per level, and one over everything that was sent. */
static uint64_t path_cost(const pbi_paths *p)
{
    uint64_t one = pbi_hash_leaf_cost(p->tree) + PBI_HASH_INNER_COST * (uint64_t)p->height + p->height / 2 + 1;
    return (p->grain ? subtree_cost(p->tree, p->grain) : 0) + (one << p->grain);
}

static void add_paths(pbi_draft *d, const pbi_paths *p, uint32_t height)
{
    uint64_t leaves = UINT64_C(1) << height;
    pb_node_spec spec = {.name = "publish", .cost = path_cost(p)};
    spec.work = (pb_work){.op = "copy", .has_bytes = true, .bytes = 2 * PBI_HASH};
    pb_node before = pbi_emit_node(&d->e, &spec);
    spec.work = hashing(spec.cost);
    pbi_emit_edge(&d->e, pbi_merkle_hash(leaves, height, 0), before);
    for (uint64_t i = 0; i < leaves && d->e.status == PB_OK; i++) {
        pbi_label name;
        pbi_label_set(&name, "path_");
        pbi_label_number(&name, i);
        spec.name = name.text;
        spec.name_length = name.length;
        pb_node v = pbi_emit_node(&d->e, &spec);
        for (uint32_t level = 0; level < height; level++)
            pbi_emit_edge(&d->e, pbi_merkle_hash(leaves, level, i >> level ^ 1), v);
        pbi_emit_edge(&d->e, before, v);
        before = v;
    }
    pbi_emit_target(&d->e, before);
}

/* As with unlimited memory: the tree by a stack machine, then the paths. */
static void add_order(pbi_draft *d, uint32_t height)
{
    uint64_t leaves = UINT64_C(1) << height;
    for (uint64_t leaf = 0; leaf < leaves; leaf++) {
        uint32_t level = 0;
        pbi_emit_order(&d->e, pbi_merkle_hash(leaves, 0, leaf));
        for (uint64_t i = leaf; level < height && (i & 1); i >>= 1)
            pbi_emit_order(&d->e, pbi_merkle_hash(leaves, ++level, i >> 1));
    }
    for (uint64_t i = 0; i <= leaves; i++)
        pbi_emit_order(&d->e, (pb_node)(pbi_merkle_publish(leaves) + i));
}

pb_status pbi_merkle_paths_graph(pb_workload *w, const pbi_paths *p)
{
    pbi_draft d;
    uint32_t height = p->height - p->grain;
    if (pbi_draft_begin(&d, w, "merkle-traversal", "block") == PB_OK)
        pb_builder_set_fixed_size(d.e.builder, pbi_paths_room(p));
    add_hashes(&d, p, height);
    add_paths(&d, p, height);
    add_order(&d, height);
    return pbi_draft_end(&d, w);
}
