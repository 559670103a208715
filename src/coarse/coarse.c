/* coarse.c -- builds the coarse graph.
 *
 * Nodes: the given values that are read, then each cluster with its by-products, in the order the clusters run. That
 * order is also the graph's. Each merged node lists its computations as `members` in the file.
 */
#include "coarse/coarse_values.h"

#include "base/context.h"
#include "base/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 400 };

typedef struct maker {
    pb_context *ctx;
    const pb_graph *g;
    const pb_coarsen_options *options;
    pbi_clusters c;
    pbi_bundles bundles;
    uint32_t *cluster; /* by fine node */
    pb_node *node;     /* by bundle: its coarse node */
    pb_node *given;    /* by fine node: the coarse node of a given value */
    uint32_t *used;    /* by label: how many clusters have its name */
    pb_builder *b;
    pb_arena *scratch;
} maker;

static pb_node first_of(const maker *m, uint32_t c) { return m->c.order[m->c.start[c]]; }

static pb_node last_of(const maker *m, uint32_t c) { return m->c.order[m->c.start[c + 1] - 1]; }

/* A free name: `text`, else with a number. */
static void free_name(const maker *m, char *text, uint32_t from)
{
    size_t length = strlen(text);
    for (uint64_t k = from; pb_builder_find(m->b, text, strlen(text)) != PB_NO_NODE; k++)
        snprintf(text + length, NAME_ROOM - length, ".%" PRIu64, k);
}

static void cluster_name(const maker *m, uint32_t c, char *name)
{
    uint32_t label = m->c.label ? m->c.label[m->c.start[c]] : UINT32_MAX;
    uint32_t count = 1;
    if (label != UINT32_MAX) {
        const pbi_label *text = &m->c.labels[label];
        count = ++m->used[label];
        snprintf(name, NAME_ROOM - 40, "%.*s", (int)(text->length < 300 ? text->length : 300), text->text);
        if (count > 1)
            snprintf(name + strlen(name), 40, ".%" PRIu32, count);
    } else {
        snprintf(name, NAME_ROOM - 40, "%.150s..%.150s", pb_graph_name(m->g, first_of(m, c)),
                 pb_graph_name(m->g, last_of(m, c)));
    }
    free_name(m, name, count + 1);
}

/* `"members":[...]`: the names of the computations of a cluster. */
static pb_status note_members(maker *m, uint32_t c, pb_node node)
{
    pb_buffer text;
    pbi_out out;
    pb_buffer_init(&text, m->scratch);
    pbi_out_init(&out, m->ctx, pb_sink_buffer(&text));
    pbi_out_text(&out, "\"members\":[");
    for (uint32_t at = m->c.start[c]; at < m->c.start[c + 1]; at++) {
        if (at > m->c.start[c])
            pbi_out_char(&out, ',');
        pbi_out_json_text(&out, pb_graph_name(m->g, m->c.order[at]));
    }
    pbi_out_char(&out, ']');
    pb_status status = pbi_out_finish(&out);
    return status == PB_OK ? pb_builder_set_extra(m->b, node, text.bytes, text.length) : status;
}

static void set_group(const maker *m, uint32_t c, pb_node_spec *spec)
{
    const pb_graph *g = m->g;
    uint32_t label = m->c.label ? m->c.label[m->c.start[c]] : UINT32_MAX;
    if (label != UINT32_MAX) {
        spec->group = m->c.labels[label].text;
        spec->group_length = m->c.labels[label].length;
        return;
    }
    uint32_t group = g->group ? g->group[first_of(m, c)] : UINT32_MAX;
    for (uint32_t at = m->c.start[c]; at < m->c.start[c + 1] && group != UINT32_MAX; at++)
        if (g->group[m->c.order[at]] != group)
            group = UINT32_MAX;
    if (group != UINT32_MAX)
        spec->group = g->group_names[group];
}

static pb_status add_parts(maker *m, uint32_t c, const pb_node_spec *like)
{
    char name[NAME_ROOM];
    const pbi_bundles *b = &m->bundles;
    pb_status status = PB_OK;
    for (uint32_t i = b->start[c] + 1; i < b->start[c + 1] && status == PB_OK; i++) {
        const pbi_bundle *one = &b->bundle[i];
        snprintf(name, sizeof name - 40, "%.300s", pb_graph_name(m->g, b->member[one->first]));
        if (one->count > 1)
            snprintf(name + strlen(name), 40, "+%" PRIu32, one->count - 1);
        free_name(m, name, 2);
        pb_node_spec spec = {.name = name,
                             .size = one->size,
                             .flags = one->flags,
                             .group = like->group,
                             .group_length = like->group_length};
        status = pb_builder_add_node(m->b, &spec, &m->node[i]);
        if (status == PB_OK)
            status = pb_builder_set_byproduct(m->b, m->node[i], m->node[b->start[c]]);
    }
    return status;
}

static pb_status add_cluster(maker *m, uint32_t c)
{
    const pb_graph *g = m->g;
    const pbi_bundle *own = &m->bundles.bundle[m->bundles.start[c]];
    pb_node *node = &m->node[m->bundles.start[c]], v = first_of(m, c);
    bool single = pbi_cluster_single(&m->c, c);
    char name[NAME_ROOM];
    pb_node_spec spec = {.name = name, .size = own->size, .workspace = m->bundles.workspace[c], .flags = own->flags};
    for (uint32_t at = m->c.start[c]; at < m->c.start[c + 1]; at++)
        spec.cost += g->cost[m->c.order[at]];
    if (m->bundles.target[c])
        spec.flags |= PB_NODE_TARGET;
    if (single)
        spec.flags |= g->flags[v] & PB_NODE_ONCE;
    set_group(m, c, &spec);
    if (single && strlen(pb_graph_name(g, v)) < NAME_ROOM - 40) {
        snprintf(name, sizeof name, "%s", pb_graph_name(g, v));
        free_name(m, name, 2);
    } else {
        cluster_name(m, c, name);
    }
    pb_status status = pb_builder_add_node(m->b, &spec, node);
    if (status == PB_OK)
        status = pb_builder_add_order(m->b, *node);
    if (status == PB_OK && single && g->priority)
        status = pb_builder_set_priority(m->b, *node, g->priority[v]);
    if (status == PB_OK && !single)
        status = note_members(m, c, *node);
    return status == PB_OK ? add_parts(m, c, &spec) : status;
}

/* The coarse node that has a value; PB_NO_NODE: it is inside of a cluster. */
static pb_node node_of(const maker *m, pb_node value)
{
    if (m->g->flags[value] & PB_NODE_GIVEN)
        return m->given[value];
    uint32_t bundle = m->bundles.of[value];
    return bundle == UINT32_MAX ? PB_NO_NODE : m->node[bundle];
}

static pb_status add_edges(maker *m, uint32_t c)
{
    const pb_graph *g = m->g;
    pb_node to = m->node[m->bundles.start[c]];
    pb_status status = PB_OK;
    for (uint32_t at = m->c.start[c]; at < m->c.start[c + 1]; at++) {
        pb_node v = m->c.order[at];
        for (uint32_t e = g->in_start[v]; e < g->in_start[v + 1] && status == PB_OK; e++)
            if (m->cluster[g->in[e]] != c)
                status = pb_builder_add_edge(m->b, node_of(m, g->in[e]), to);
    }
    pb_node v = first_of(m, c);
    if (!pbi_cluster_single(&m->c, c) || !g->inplace_start)
        return status;
    for (uint32_t e = g->inplace_start[v]; e < g->inplace_start[v + 1] && status == PB_OK; e++) {
        uint32_t bundle = m->bundles.of[g->inplace[e]];
        if (bundle == UINT32_MAX || m->bundles.bundle[bundle].count == 1)
            status = pb_builder_add_inplace(m->b, to, node_of(m, g->inplace[e]));
    }
    return status;
}

/* Given values that are read or kept. */
static pb_status add_given(maker *m)
{
    const pb_graph *g = m->g;
    uint16_t flags = PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW | PB_NODE_KEEP;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++) {
        if (!(g->flags[v] & PB_NODE_GIVEN))
            continue;
        pb_node_spec spec = {.name = pb_graph_name(g, v), .size = g->size[v], .flags = g->flags[v] & flags};
        if (g->group && g->group[v] != UINT32_MAX)
            spec.group = g->group_names[g->group[v]];
        status = pb_builder_add_node(m->b, &spec, &m->given[v]);
    }
    return status;
}

static pb_status set_texts(maker *m)
{
    char name[NAME_ROOM], hash[PB_HASH_TEXT];
    pb_buffer text;
    pbi_out out;
    snprintf(name, sizeof name, "%.300s by %s", m->g->name, pb_grain_name(m->options->by));
    pb_status status = pb_graph_hash(m->ctx, m->g, hash);
    if (status == PB_OK)
        status = pb_builder_set_texts(m->b, name, m->g->cost_unit, m->g->size_unit);
    if (status != PB_OK)
        return status;
    pb_builder_set_fixed_size(m->b, m->g->fixed_size);
    if (m->g->forward_only)
        pb_builder_set_forward_only(m->b);
    pb_buffer_init(&text, m->scratch);
    pbi_out_init(&out, m->ctx, pb_sink_buffer(&text));
    pbi_out_text(&out, "\"coarsened\":{\"graph_hash\":");
    pbi_out_json_text(&out, hash);
    pbi_out_format(&out, ",\"by\":\"%s\",\"nodes\":%" PRIu32 ",\"small\":", pb_grain_name(m->options->by),
                   m->options->nodes);
    pbi_out_json_u64(&out, m->options->small);
    pbi_out_format(&out, ",\"computations\":%" PRIu32 "}", m->c.order_count);
    status = pbi_out_finish(&out);
    return status == PB_OK ? pb_builder_set_extra(m->b, PB_NO_NODE, text.bytes, text.length) : status;
}

static pb_status build(maker *m)
{
    pb_status status = set_texts(m);
    if (status == PB_OK)
        status = add_given(m);
    for (uint32_t c = 0; c < m->c.count && status == PB_OK; c++) {
        status = add_cluster(m, c);
        if (status == PB_OK && c % 1024 == 0)
            status = pbi_poll(m->ctx);
    }
    for (uint32_t c = 0; c < m->c.count && status == PB_OK; c++)
        status = add_edges(m, c);
    return status;
}

/* The tables between both graphs, in `result`. */
static pb_status link_graphs(const maker *m, pb_arena *result, pb_coarse *out)
{
    uint32_t n = m->g->node_count, clusters = m->c.count, coarse = out->graph->node_count;
    uint32_t *start = pb_arena_alloc(result, (size_t)clusters + 1, sizeof *start);
    pb_node *member = pb_arena_alloc(result, (size_t)m->c.order_count + 1, sizeof *member);
    uint32_t *cluster = pb_arena_alloc(result, (size_t)n + 1, sizeof *cluster);
    pb_node *node = pb_arena_alloc(result, (size_t)clusters + 1, sizeof *node);
    uint32_t *cluster_of = pb_arena_alloc(result, (size_t)coarse + 1, sizeof *cluster_of);
    pb_node *value = pb_arena_alloc(result, (size_t)n + 1, sizeof *value);
    if (!start || !member || !cluster || !node || !cluster_of || !value)
        return PB_ENOMEM;
    memcpy(start, m->c.start, ((size_t)clusters + 1) * sizeof *start);
    memcpy(member, m->c.order, m->c.order_count * sizeof *member);
    memcpy(cluster, m->cluster, n * sizeof *cluster);
    memset(cluster_of, 0xff, ((size_t)coarse + 1) * sizeof *cluster_of);
    for (uint32_t c = 0; c < clusters; c++) {
        node[c] = m->node[m->bundles.start[c]];
        for (uint32_t i = m->bundles.start[c]; i < m->bundles.start[c + 1]; i++)
            cluster_of[m->node[i]] = c;
    }
    for (pb_node v = 0; v < n; v++)
        value[v] = node_of(m, v);
    out->cluster_count = clusters;
    out->member_start = start;
    out->member = member;
    out->cluster = cluster;
    out->node = node;
    out->cluster_of = cluster_of;
    out->value = value;
    return PB_OK;
}

static pb_status find_clusters(maker *m)
{
    const pb_graph *g = m->g;
    pb_status status = pbi_clusters_find(m->ctx, g, m->options, m->scratch, &m->c);
    if (status != PB_OK)
        return status;
    m->cluster = pb_arena_alloc(m->scratch, (size_t)g->node_count + 1, sizeof *m->cluster);
    m->given = pb_arena_alloc(m->scratch, (size_t)g->node_count + 1, sizeof *m->given);
    m->node = pb_arena_alloc(m->scratch, (size_t)g->node_count + m->c.count + 1, sizeof *m->node);
    m->used = pb_arena_zero(m->scratch, (size_t)m->c.label_count + 1, sizeof *m->used);
    if (!m->cluster || !m->given || !m->node || !m->used)
        return PB_ENOMEM;
    memset(m->cluster, 0xff, ((size_t)g->node_count + 1) * sizeof *m->cluster);
    memset(m->given, 0xff, ((size_t)g->node_count + 1) * sizeof *m->given);
    for (uint32_t c = 0; c < m->c.count; c++)
        for (uint32_t at = m->c.start[c]; at < m->c.start[c + 1]; at++) {
            pb_node v = m->c.order[at];
            m->cluster[v] = c;
            if (g->flags[v] & PB_NODE_HAS_PARTS)
                for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                    m->cluster[g->part[k]] = g->flags[g->part[k]] & PB_NODE_NEEDED ? c : UINT32_MAX;
        }
    return pbi_bundles_find(g, &m->c, m->cluster, m->scratch, &m->bundles);
}

pb_status pb_coarsen(pb_context *ctx, const pb_graph *g, const pb_coarsen_options *options, pb_arena *result,
                     const pb_coarse **out)
{
    pb_arena scratch;
    pb_coarse *coarse = pb_arena_zero(result, 1, sizeof *coarse);
    maker m = {.ctx = ctx, .g = g, .options = options, .scratch = &scratch};
    if (!coarse)
        return PB_ENOMEM;
    pb_arena_init(&scratch, ctx);
    pb_status status = pb_builder_new(ctx, &m.b);
    if (status == PB_OK)
        status = find_clusters(&m);
    if (status == PB_OK)
        status = build(&m);
    if (status == PB_OK)
        status = pb_builder_freeze(m.b, result, &coarse->graph);
    coarse->fine = g;
    if (status == PB_OK)
        status = link_graphs(&m, result, coarse);
    pb_builder_free(m.b);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = coarse;
    return status;
}
