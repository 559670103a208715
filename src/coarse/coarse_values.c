/* coarse_values.c -- what leaves each cluster, and how much memory it needs inside.
 *
 * A value leaves if a computation of another cluster reads it, or it is kept to the end. Leaving values with the same
 * readers live equally long: they are one bundle. The bundle that is read first is the value of the cluster's node;
 * the others are by-products, which a plan makes or leaves out. The workspace is for the case that it leaves all of
 * them out: with each one that it makes, the memory inside rises by its size at most, and so does what the plan counts.
 * A cluster of one computation keeps its own value, by-products and workspace.
 */
#include "coarse/coarse_values.h"

#include "base/arena.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

typedef struct leaving {
    pb_node value;
    uint32_t rank;         /* in the order of the cluster */
    uint32_t first, count; /* of its readers */
    uint64_t hash;
    bool keep;
} leaving;

typedef struct finder {
    const pb_graph *g;
    const pbi_clusters *c;
    const uint32_t *cluster;
    pbi_bundles *b;
    uint32_t *reader; /* clusters */
    size_t reader_count, reader_room;
    leaving *leaving;
    uint32_t leaving_count;
    size_t leaving_room;
    uint32_t bundles, members;
    uint32_t *last; /* by value: places of the cluster in which it is last read, for the workspace */
    pb_arena *arena;
} finder;

static int compare_clusters(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int compare_leaving(const void *a, const void *b)
{
    const leaving *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Appends the clusters that read the value, other than its own, each once. */
static bool find_readers(finder *f, pb_node value, leaving *out)
{
    const pb_graph *g = f->g;
    uint32_t own = f->cluster[value];
    size_t first = f->reader_count;
    for (uint32_t e = g->out_start[value]; e < g->out_start[value + 1]; e++) {
        uint32_t c = f->cluster[g->out[e]];
        void *items = f->reader;
        if (c == own || c == UINT32_MAX)
            continue;
        if (!pbi_arena_reserve(f->arena, &items, &f->reader_room, f->reader_count + 1, sizeof *f->reader))
            return false;
        f->reader = items;
        f->reader[f->reader_count++] = c;
    }
    if (f->reader_count - first > 1)
        qsort(f->reader + first, f->reader_count - first, sizeof *f->reader, compare_clusters);
    size_t unique = first;
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (size_t i = first; i < f->reader_count; i++)
        if (i == first || f->reader[i] != f->reader[i - 1]) {
            hash = (hash ^ f->reader[i]) * 0x100000001b3u;
            f->reader[unique++] = f->reader[i];
        }
    f->reader_count = unique;
    *out = (leaving){.value = value,
                     .rank = f->leaving_count,
                     .first = (uint32_t)first,
                     .count = (uint32_t)(unique - first),
                     .hash = hash,
                     .keep = f->g->flags[value] & PB_NODE_KEEP};
    out->hash += out->keep;
    return true;
}

static bool add_leaving(finder *f, pb_node value, bool always)
{
    leaving one;
    void *items = f->leaving;
    if (!find_readers(f, value, &one) ||
        !pbi_arena_reserve(f->arena, &items, &f->leaving_room, (size_t)f->leaving_count + 1, sizeof *f->leaving))
        return false;
    f->leaving = items;
    if (always || one.count || one.keep)
        f->leaving[f->leaving_count++] = one;
    return true;
}

static bool same_readers(const finder *f, const leaving *a, const leaving *b)
{
    return a->hash == b->hash && a->keep == b->keep && a->count == b->count &&
           (!a->count || memcmp(f->reader + a->first, f->reader + b->first, a->count * sizeof *f->reader) == 0);
}

/* A bundle of these values. */
static void add_bundle(finder *f, const leaving *value, uint32_t count)
{
    pbi_bundle *b = &f->b->bundle[f->bundles];
    *b = (pbi_bundle){.first = f->members, .count = count, .reader = UINT32_MAX};
    if (count && value->count)
        b->reader = f->reader[value->first];
    for (uint32_t i = 0; i < count; i++) {
        b->size += f->g->size[value[i].value];
        b->flags |= f->g->flags[value[i].value] & (PB_NODE_KEEP | PB_NODE_TARGET);
        f->b->member[f->members++] = value[i].value;
        f->b->of[value[i].value] = f->bundles;
    }
    f->bundles++;
}

/* The bundle that is read first, the largest of those, becomes the cluster's own. */
static void choose_own(finder *f, uint32_t from)
{
    pbi_bundle *bundle = f->b->bundle;
    uint32_t best = from;
    for (uint32_t i = from + 1; i < f->bundles; i++)
        if (bundle[i].reader < bundle[best].reader ||
            (bundle[i].reader == bundle[best].reader && bundle[i].size > bundle[best].size))
            best = i;
    if (best == from)
        return;
    pbi_bundle own = bundle[best];
    bundle[best] = bundle[from];
    bundle[from] = own;
    for (uint32_t i = 0; i < bundle[best].count; i++)
        f->b->of[f->b->member[bundle[best].first + i]] = best;
    for (uint32_t i = 0; i < own.count; i++)
        f->b->of[f->b->member[own.first + i]] = from;
}

static bool is_needed_part(const pb_graph *g, pb_node part) { return g->flags[part] & PB_NODE_NEEDED; }

static bool find_leaving(finder *f, uint32_t c)
{
    const pb_graph *g = f->g;
    bool single = pbi_cluster_single(f->c, c);
    f->leaving_count = 0;
    f->reader_count = 0;
    for (uint32_t at = f->c->start[c]; at < f->c->start[c + 1]; at++) {
        pb_node v = f->c->order[at];
        if (!add_leaving(f, v, single))
            return false;
        if (g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
                if (is_needed_part(g, g->part[k]) && !add_leaving(f, g->part[k], single))
                    return false;
    }
    return true;
}

static bool bundle_cluster(finder *f, uint32_t c)
{
    uint32_t from = f->bundles;
    f->b->start[c] = from;
    if (!find_leaving(f, c))
        return false;
    if (pbi_cluster_single(f->c, c)) {
        for (uint32_t i = 0; i < f->leaving_count; i++)
            add_bundle(f, &f->leaving[i], 1);
        return true;
    }
    if (f->leaving_count > 1)
        qsort(f->leaving, f->leaving_count, sizeof *f->leaving, compare_leaving);
    for (uint32_t i = 0; i < f->leaving_count;) {
        uint32_t end = i + 1;
        while (end < f->leaving_count && same_readers(f, &f->leaving[i], &f->leaving[end]))
            end++;
        add_bundle(f, &f->leaving[i], end - i);
        i = end;
    }
    if (f->bundles == from)
        add_bundle(f, NULL, 0);
    choose_own(f, from);
    return true;
}

/* True if the value stays in memory until the cluster ends, in the case that no by-product is made. */
static bool stays(const finder *f, uint32_t c, pb_node value) { return f->b->of[value] == f->b->start[c]; }

/* Does the by-product exist, in that case? If it stays, if something inside reads it, or if it is a target inside. */
static bool is_made(const finder *f, uint32_t c, pb_node part)
{
    bool target = (f->g->flags[part] & PB_NODE_TARGET) && f->b->of[part] == UINT32_MAX;
    return stays(f, c, part) || f->last[part] != UINT32_MAX || target;
}

/* What v would overwrite: an input that nothing reads later. */
static uint64_t overwritten(const finder *f, uint32_t c, uint32_t at)
{
    const pb_graph *g = f->g;
    pb_node v = f->c->order[at];
    uint64_t most = 0;
    if (g->inplace_start)
        for (uint32_t e = g->inplace_start[v]; e < g->inplace_start[v + 1]; e++) {
            pb_node u = g->inplace[e];
            if (f->cluster[u] == c && f->last[u] == at && !stays(f, c, u) && g->size[u] > most)
                most = g->size[u];
        }
    return most < g->size[v] ? most : g->size[v];
}

/* What the computation at `at` makes, and what is freed behind it. */
static uint64_t made_size(const finder *f, uint32_t c, uint32_t at, uint64_t *freed)
{
    const pb_graph *g = f->g;
    pb_node v = f->c->order[at];
    uint64_t made = g->size[v];
    *freed = stays(f, c, v) || f->last[v] != UINT32_MAX ? 0 : g->size[v];
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            if (is_made(f, c, g->part[k])) {
                made += g->size[g->part[k]];
                *freed += stays(f, c, g->part[k]) || f->last[g->part[k]] != UINT32_MAX ? 0 : g->size[g->part[k]];
            }
    for (uint32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++) {
        pb_node u = g->in[e];
        if (f->cluster[u] == c && f->last[u] == at && !stays(f, c, u))
            *freed += g->size[u];
    }
    return made;
}

static uint64_t find_workspace(finder *f, uint32_t c)
{
    const pb_graph *g = f->g;
    uint64_t now = 0, peak = 0, own = f->b->bundle[f->b->start[c]].size;
    if (pbi_cluster_single(f->c, c))
        return g->workspace[f->c->order[f->c->start[c]]];
    for (uint32_t at = f->c->start[c]; at < f->c->start[c + 1]; at++) {
        pb_node v = f->c->order[at];
        for (uint32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++)
            if (f->cluster[g->in[e]] == c)
                f->last[g->in[e]] = at;
    }
    for (uint32_t at = f->c->start[c]; at < f->c->start[c + 1]; at++) {
        uint64_t freed, made = made_size(f, c, at, &freed), workspace = g->workspace[f->c->order[at]], during;
        during = pbi_add_saturated(now + made - overwritten(f, c, at), workspace);
        peak = during > peak ? during : peak;
        now += made - freed;
    }
    return peak > own ? peak - own : 0;
}

static bool has_target(const finder *f, uint32_t c)
{
    for (uint32_t at = f->c->start[c]; at < f->c->start[c + 1]; at++) {
        pb_node v = f->c->order[at];
        bool inside = f->b->of[v] == UINT32_MAX || f->b->of[v] == f->b->start[c];
        if (inside && (f->g->flags[v] & PB_NODE_TARGET))
            return true;
        if (f->g->flags[v] & PB_NODE_HAS_PARTS)
            for (uint32_t k = f->g->part_start[v]; k < f->g->part_start[v + 1]; k++)
                if (f->b->of[f->g->part[k]] == UINT32_MAX && (f->g->flags[f->g->part[k]] & PB_NODE_TARGET))
                    return true;
    }
    return false;
}

pb_status pbi_bundles_find(const pb_graph *g, const pbi_clusters *c, const uint32_t *cluster, pb_arena *arena,
                           pbi_bundles *out)
{
    size_t n = (size_t)g->node_count + 1, most = n + c->count;
    finder f = {.g = g, .c = c, .cluster = cluster, .b = out, .arena = arena};
    *out = (pbi_bundles){.cluster = cluster,
                         .start = pb_arena_alloc(arena, (size_t)c->count + 1, sizeof *out->start),
                         .bundle = pb_arena_alloc(arena, most, sizeof *out->bundle),
                         .member = pb_arena_alloc(arena, n, sizeof *out->member),
                         .of = pb_arena_alloc(arena, n, sizeof *out->of),
                         .workspace = pb_arena_alloc(arena, (size_t)c->count + 1, sizeof *out->workspace),
                         .target = pb_arena_alloc(arena, (size_t)c->count + 1, sizeof *out->target)};
    f.last = pb_arena_alloc(arena, n, sizeof *f.last);
    if (!out->start || !out->bundle || !out->member || !out->of || !out->workspace || !out->target || !f.last)
        return PB_ENOMEM;
    memset(out->of, 0xff, n * sizeof *out->of);
    memset(f.last, 0xff, n * sizeof *f.last);
    for (uint32_t i = 0; i < c->count; i++)
        if (!bundle_cluster(&f, i))
            return PB_ENOMEM;
    out->start[c->count] = f.bundles;
    for (uint32_t i = 0; i < c->count; i++) {
        out->workspace[i] = find_workspace(&f, i);
        out->target[i] = has_target(&f, i);
    }
    return PB_OK;
}
