/* workload_merkle.c -- the root of a hash tree, or all its authentication paths, with SHA-256.
 *
 * root        a node for each subtree of 2^grain leaves, which a stack inside its kernel hashes, and one for each hash above:
 *             a single hash is so little work that the moves of a schedule would cost a part of it.
 * traversal   a node for each hash and each path. A path is sent when it is computed for the first time: it is held against the root,
 *             and goes into a chain of hashes, sum = SHA-256(sum, path), which begins with the root and is the result.
 */
#include "base/context.h"
#include "workloads/merkle_graph.h"

#include <stdio.h>
#include <string.h>

enum { MOST_HEIGHT = 40, MOST_GRAIN = 24, MOST_LEVELS = 20 /* of a graph */, MOST_PATHS = 16 /* height, for paths */ };
enum { HEIGHT, LEAF, SOURCE, SEED, MODE, GRAIN };

static const pb_workload_option options[] = {
    [HEIGHT] = {"height", "16", "of the tree: 2^height leaves"},
    [LEAF] = {"leaf", "64", "bytes of a leaf's data"},
    [SOURCE] = {"file", "", "has the leaves, one after the other; else they are made from the seed"},
    [SEED] = {"seed", "1", "of leaves that are made"},
    [MODE] = {"mode", "root", "root, or traversal: the authentication path of every leaf, in order"},
    [GRAIN] = {"grain", "auto", "a node of the graph is a subtree of 2^grain leaves"},
};

typedef struct merkle {
    const pb_workload *w;
    pbi_hash_tree tree;
    uint64_t height, grain, leaves;
    bool traversal;
    const uint32_t *index;        /* root: by node */
    unsigned char root[PBI_HASH]; /* as published, or after a run */
    unsigned char sum[PBI_HASH];
    uint64_t sent; /* paths */
} merkle;

/* ---- kernels ---- */

static pb_status put(pb_status status, const unsigned char *hash, unsigned char *slot)
{
    memcpy(slot, hash, PBI_HASH);
    memset(slot + PBI_HASH, 0, PBI_HASH_SLOT - PBI_HASH);
    return status;
}

static pb_status subtree(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    merkle *m = state;
    unsigned char hash[PBI_HASH] = {0};
    pb_status status = pbi_hash_subtree(&m->tree, (uint32_t)m->grain, m->index[call->node], call->workspace, hash);
    return put(status, hash, call->value[call->node]);
}

static pb_status leaf(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    merkle *m = state;
    unsigned char hash[PBI_HASH] = {0};
    return put(pbi_hash_leaf(&m->tree, call->node, call->fixed, hash), hash, call->value[call->node]);
}

static pb_status inner(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    merkle *m = state;
    const pb_graph *g = m->w->graph;
    const pb_node *in = g->in + g->in_start[call->node];
    unsigned char hash[PBI_HASH] = {0};
    pb_status status = pbi_hash_inner(&m->tree, call->value[in[0]], call->value[in[1]], hash);
    return put(status, hash, call->value[call->node]);
}

static pb_status publish(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    merkle *m = state;
    if (call->times)
        return PB_OK;
    memcpy(m->root, call->value[pbi_merkle_hash(m->leaves, (uint32_t)m->height, 0)], PBI_HASH);
    memcpy(m->sum, m->root, PBI_HASH);
    m->sent = 0;
    return PB_OK;
}

/* Does the path of this leaf lead to the root? */
static pb_status check_path(merkle *m, uint64_t i, const unsigned char *path, unsigned char *room)
{
    unsigned char hash[PBI_HASH];
    pb_status status = pbi_hash_leaf(&m->tree, i, room, hash);
    for (uint32_t level = 0; level < m->height && status == PB_OK; level++, path += PBI_HASH) {
        bool right = i >> level & 1;
        status = pbi_hash_inner(&m->tree, right ? path : hash, right ? hash : path, hash);
    }
    if (status == PB_OK && memcmp(hash, m->root, PBI_HASH) != 0)
        status = pbi_fail(m->w->ctx, PB_EBUG, "the path of leaf %llu does not lead to the root", (unsigned long long)i);
    return status;
}

static pb_status send_path(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    merkle *m = state;
    if (call->times)
        return PB_OK;
    uint64_t i = call->node - pbi_merkle_path(m->leaves, 0);
    unsigned char message[PBI_HASH * (1 + MOST_PATHS)], *path = message + PBI_HASH;
    memcpy(message, m->sum, PBI_HASH);
    for (uint32_t level = 0; level < m->height; level++)
        memcpy(path + PBI_HASH * level, call->value[pbi_merkle_hash(m->leaves, level, i >> level ^ 1)], PBI_HASH);
    pb_status status = check_path(m, i, path, call->fixed);
    m->sent++;
    return status == PB_OK ? pbi_hash_bytes(&m->tree, message, PBI_HASH * (1 + m->height), m->sum) : status;
}

/* ---- opening ---- */

static pb_kernel kernel_of(const merkle *m, pb_node v)
{
    const pb_graph *g = m->w->graph;
    bool reads = g->in_start[v + 1] > g->in_start[v];
    if (!m->traversal || v < pbi_merkle_publish(m->leaves))
        return reads ? inner : m->traversal ? leaf : subtree;
    return v == pbi_merkle_publish(m->leaves) ? publish : send_path;
}

static pb_status set_kernels(pb_workload *w, merkle *m)
{
    pb_kernel *of = pb_arena_alloc(&w->arena, w->graph->node_count, sizeof *of);
    if (!of)
        return PB_ENOMEM;
    for (pb_node v = 0; v < w->graph->node_count; v++)
        of[v] = kernel_of(m, v);
    w->kernels.of = of;
    return PB_OK;
}

/* Some hundred hashes a node, where the graph still has some nodes then, and graphs that are planned in a moment. */
static uint64_t usual_grain(const merkle *m)
{
    if (m->traversal || m->height <= 6)
        return 0;
    return m->height <= 14 ? m->height - 6 : m->height <= 22 ? 8 : m->height - 14;
}

static pb_status read_options(pb_context *ctx, merkle *m, const char *const *values)
{
    static const char name[] = "merkle";
    uint64_t most = MOST_HEIGHT, least = 0, coarsest = 0;
    m->traversal = strcmp(values[MODE], "traversal") == 0;
    if (!m->traversal && strcmp(values[MODE], "root") != 0)
        return pbi_fail(ctx, PB_EINVAL, "merkle: mode must be root or traversal, not '%s'", values[MODE]);
    if (m->traversal)
        most = MOST_PATHS;
    pb_status status = pbi_workload_number(ctx, name, "height", values[HEIGHT], 0, most, &m->height);
    if (status == PB_OK)
        status = pbi_workload_number(ctx, name, "leaf", values[LEAF], 1, UINT64_C(1) << 24, &m->tree.leaf_size);
    if (status == PB_OK)
        status = pbi_workload_number(ctx, name, "seed", values[SEED], 0, UINT64_MAX, &m->tree.seed);
    if (status != PB_OK)
        return status;
    m->leaves = UINT64_C(1) << m->height;
    m->grain = usual_grain(m);
    if (strcmp(values[GRAIN], "auto") == 0)
        return PB_OK;
    if (!m->traversal) {
        coarsest = m->height < MOST_GRAIN ? m->height : MOST_GRAIN;
        least = m->height > MOST_LEVELS ? m->height - MOST_LEVELS : 0;
    }
    return pbi_workload_number(ctx, name, "grain", values[GRAIN], least, coarsest, &m->grain);
}

static pb_status open_merkle(pb_workload *w, const char *const *values)
{
    merkle *m = pb_arena_zero(&w->arena, 1, sizeof *m);
    if (!m)
        return PB_ENOMEM;
    m->w = w;
    w->kernels.state = m;
    pb_status status = read_options(w->ctx, m, values);
    if (status == PB_OK)
        status =
            pbi_hash_tree_open(w->ctx, values[SOURCE], m->tree.seed, m->tree.leaf_size, (uint32_t)m->height, &m->tree);
    if (status == PB_OK)
        status = m->traversal ? pbi_merkle_paths_graph(w, &m->tree, (uint32_t)m->height)
                              : pbi_merkle_root_graph(w, &m->tree, (uint32_t)m->height, (uint32_t)m->grain, &m->index);
    return status == PB_OK ? set_kernels(w, m) : status;
}

static void close_merkle(pb_workload *w)
{
    merkle *m = w->kernels.state;
    if (m)
        pbi_hash_tree_close(&m->tree);
}

/* ---- after a run ---- */

static pb_status end_merkle(pb_workload *w, uint64_t step, pb_engine *e)
{
    (void)step;
    merkle *m = w->kernels.state;
    if (!m->traversal)
        memcpy(m->root, pb_engine_value(e, w->graph->node_count - 1), PBI_HASH);
    else if (m->sent != m->leaves)
        return pbi_fail(w->ctx, PB_EBUG, "%llu of %llu paths were sent", (unsigned long long)m->sent,
                        (unsigned long long)m->leaves);
    return PB_OK;
}

static void to_text(const unsigned char hash[PBI_HASH], char text[PB_HASH_TEXT])
{
    for (int i = 0; i < PBI_HASH; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
}

/* The root, or the chain over all paths, which begins with it. */
static pb_status digest_merkle(pb_workload *w, pb_engine *e, char hash[PB_HASH_TEXT])
{
    merkle *m = w->kernels.state;
    to_text(m->traversal ? m->sum : pb_engine_value(e, w->graph->node_count - 1), hash);
    return PB_OK;
}

static size_t text_merkle(pb_workload *w, char *text, size_t room)
{
    merkle *m = w->kernels.state;
    char root[PB_HASH_TEXT];
    to_text(m->root, root);
    int length = m->traversal
                     ? snprintf(text, room, "%llu paths lead to the root %s", (unsigned long long)m->sent, root)
                     : snprintf(text, room, "the root of %llu leaves is %s", (unsigned long long)m->leaves, root);
    return length < 0 ? 0 : (size_t)length;
}

const pbi_workload_kind pbi_workload_merkle = {
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .open = open_merkle,
    .close = close_merkle,
    .end = end_merkle,
    .digest = digest_merkle,
    .text = text_merkle,
};
