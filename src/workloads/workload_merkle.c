/* workload_merkle.c -- the root of a hash tree, or all its authentication paths, with SHA-256.
 *
 * root        a node for each subtree of 2^grain leaves, hashed by a stack inside its kernel, and one for each hash
 * above:
 *             a single hash is so little work that the overhead of moves would be noticeable.
 * traversal   the same, and a node for the paths of all leaves of a subtree: they are sent when it is computed for the
 *             first time (merkle_paths.h).
 */
#include "base/context.h"
#include "workloads/merkle_graph.h"
#include "workloads/merkle_paths.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_HEIGHT = 40,
    MAX_TRAVERSED = 24,
    MAX_GRAIN = 24,
    MAX_LEVELS = 20 /* of a graph */,
    MAX_PATHS = 16 /* of a graph with paths */
};
#define NOT_PUBLISHED UINT64_MAX /* paths sent: none before the root is known */
enum { HEIGHT, LEAF, SOURCE, SEED, MODE, GRAIN };

static const pb_workload_option options[] = {
    [HEIGHT] = {"height", "16", "height of the tree, which has 2^height leaves"},
    [LEAF] = {"leaf", "64", "bytes of a leaf's data"},
    [SOURCE] = {"file", "", "file with the leaves, one after the other; without it they are random"},
    [SEED] = {"seed", "1", "seed of random leaves"},
    [MODE] = {"mode", "root", "root, or traversal: the authentication path of every leaf, in order"},
    [GRAIN] = {"grain", "auto", "each node of the graph is a subtree of 2^grain leaves"},
};

typedef struct merkle {
    const pb_workload *w;
    pbi_hash_tree tree;
    uint64_t height, grain;
    uint64_t leaves; /* of the graph */
    bool traversal;
    const uint32_t *index; /* root: by node */
    pbi_paths paths;       /* traversal; and the root after a run */
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
    return put(pbi_hash_subtree(&m->tree, (uint32_t)m->grain, call->node, call->fixed, hash), hash,
               call->value[call->node]);
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
    if (call->times == 0)
        pbi_paths_publish(&m->paths, call->value[pbi_merkle_hash(m->leaves, (uint32_t)(m->height - m->grain), 0)]);
    return PB_OK;
}

static pb_status send_path(void *state, pb_context *ctx, const pb_call *call)
{
    (void)ctx;
    merkle *m = state;
    const unsigned char *siblings[MAX_PATHS];
    uint64_t i = call->node - pbi_merkle_path(m->leaves, 0);
    /* Sent before: kernels may run again, and the checking mode runs them twice. */
    if (m->paths.sent != i << m->grain)
        return PB_OK;
    for (uint32_t level = 0; level < m->height - m->grain; level++)
        siblings[level] = call->value[pbi_merkle_hash(m->leaves, level, i >> level ^ 1)];
    return pbi_paths_send(&m->paths, i, siblings, call->fixed);
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

/* Some hundred hashes per node for the root, if the graph then still has some nodes, and graphs that are quick to
 * plan. Less for paths, since each path node recomputes the subtree below it. */
static uint64_t usual_grain(const merkle *m)
{
    uint64_t h = m->height;
    if (m->traversal)
        return h <= 6 ? 0 : h <= 18 ? 4 : h - 14;
    return h <= 5 ? 0 : h <= 13 ? h - 5 : h <= 22 ? 8 : h - 14;
}

static pb_status read_options(pb_context *ctx, merkle *m, const char *const *values)
{
    m->traversal = strcmp(values[MODE], "traversal") == 0;
    if (!m->traversal && strcmp(values[MODE], "root") != 0)
        return pbi_fail(ctx, PB_EINVAL, "merkle: mode must be root or traversal, not '%s'", values[MODE]);
    uint64_t levels = m->traversal ? MAX_PATHS : MAX_LEVELS, most = m->traversal ? MAX_TRAVERSED : MAX_HEIGHT;
    pb_status status = pbi_workload_number(ctx, "merkle: height", values[HEIGHT], 0, most, &m->height);
    if (status == PB_OK)
        status = pbi_workload_number(ctx, "merkle: leaf", values[LEAF], 1, UINT64_C(1) << 24, &m->tree.leaf_size);
    if (status == PB_OK)
        status = pbi_workload_number(ctx, "merkle: seed", values[SEED], 0, UINT64_MAX, &m->tree.seed);
    m->grain = usual_grain(m);
    if (status == PB_OK && strcmp(values[GRAIN], "auto") != 0)
        status = pbi_workload_number(ctx, "merkle: grain", values[GRAIN], m->height > levels ? m->height - levels : 0,
                                     m->height < MAX_GRAIN ? m->height : MAX_GRAIN, &m->grain);
    m->leaves = UINT64_C(1) << (m->height - m->grain);
    return status;
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
    m->paths.tree = &m->tree;
    m->paths.height = (uint32_t)m->height;
    m->paths.grain = (uint32_t)m->grain;
    if (status == PB_OK)
        status = m->traversal ? pbi_merkle_paths_graph(w, &m->paths)
                              : pbi_merkle_root_graph(w, &m->tree, (uint32_t)m->height, (uint32_t)m->grain, &m->index);
    return status == PB_OK ? set_kernels(w, m) : status;
}

static void close_merkle(pb_workload *w)
{
    merkle *m = w->kernels.state;
    if (m)
        pbi_hash_tree_close(&m->tree);
}

/* ---- around a run ---- */

/* Results of the previous run must not be taken for those of this one. */
static pb_status begin_merkle(pb_workload *w, uint64_t step, pb_engine *e)
{
    (void)step;
    (void)e;
    merkle *m = w->kernels.state;
    memset(m->paths.root, 0, PBI_HASH);
    memset(m->paths.sum, 0, PBI_HASH);
    m->paths.sent = NOT_PUBLISHED;
    return PB_OK;
}

static pb_status end_merkle(pb_workload *w, uint64_t step, pb_engine *e)
{
    (void)step;
    merkle *m = w->kernels.state;
    if (!m->traversal)
        memcpy(m->paths.root, pb_engine_value(e, w->graph->node_count - 1), PBI_HASH);
    else if (m->paths.sent == NOT_PUBLISHED)
        return pbi_fail(w->ctx, PB_EBUG, "the root was not computed");
    else if (m->paths.sent != UINT64_C(1) << m->height)
        return pbi_fail(w->ctx, PB_EBUG, "only %llu of 2^%u paths were computed", (unsigned long long)m->paths.sent,
                        (unsigned)m->height);
    return PB_OK;
}

/* The root, or the chain over all paths, which starts with it. */
static pb_status digest_merkle(pb_workload *w, pb_engine *e, char hash[PB_HASH_TEXT])
{
    merkle *m = w->kernels.state;
    pbi_sha256_text(m->traversal ? m->paths.sum : pb_engine_value(e, w->graph->node_count - 1), hash);
    return PB_OK;
}

static size_t text_merkle(pb_workload *w, char *text, size_t room)
{
    merkle *m = w->kernels.state;
    char root[PB_HASH_TEXT];
    pbi_sha256_text(m->paths.root, root);
    int length = m->traversal
                     ? snprintf(text, room, "%llu paths lead to the root %s", (unsigned long long)m->paths.sent, root)
                     : snprintf(text, room, "the root of 2^%u leaves is %s", (unsigned)m->height, root);
    return length < 0 ? 0 : (size_t)length;
}

const pbi_workload_kind pbi_workload_merkle = {
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .open = open_merkle,
    .close = close_merkle,
    .begin = begin_merkle,
    .end = end_merkle,
    .digest = digest_merkle,
    .text = text_merkle,
};
