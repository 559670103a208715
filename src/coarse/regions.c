/* regions.c -- joins neighboring clusters, so that few values cross from one to the next.
 *
 * Between two clusters, the values in use are those that were touched not long before and will be read soon: values
 * that wait for a backward pass cross every place in between, and say nothing about where a region ends. Each region
 * takes its share of the clusters that are left, and ends within half of that share at the place with the least in use.
 */
#include "base/checked.h"
#include "coarse/cluster.h"

#include <string.h>

/* Sizes in use before each cluster. */
static uint64_t *find_in_use(const pb_graph *g, const pbi_clusters *c, uint32_t soon, pb_arena *arena)
{
    uint32_t *touched = pb_arena_alloc(arena, g->node_count + 1, sizeof *touched);
    uint64_t *use = pb_arena_zero(arena, (size_t)c->count + 2, sizeof *use), now = 0;
    if (!touched || !use)
        return NULL;
    memset(touched, 0xff, (g->node_count + 1) * sizeof *touched);
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t at = c->start[i]; at < c->start[i + 1]; at++) {
            pb_node v = c->order[at];
            for (uint32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++) {
                pb_node u = g->in[e], maker = pb_graph_maker(g, u);
                uint32_t last = touched[u] != UINT32_MAX ? touched[u] : touched[maker];
                if (last != UINT32_MAX && last < i && i - last <= soon) {
                    use[last + 1] += g->size[u]; /* differences, modulo 2^64 */
                    use[i + 1] -= g->size[u];
                }
                touched[u] = i;
            }
            touched[v] = i;
        }
    for (uint32_t i = 0; i <= c->count; i++)
        use[i] = now += use[i];
    return use;
}

/* The first cluster after the region that starts with cluster `from`, if it may end anywhere up to `end`. */
static uint32_t region_end(const uint64_t *use, uint32_t from, uint32_t end, uint32_t share)
{
    uint32_t low = from + (share + 1) / 2, high = from + share + share / 2, best = from + share;
    if (end - from <= share)
        return end;
    high = high < end ? high : end;
    for (uint32_t i = low; i <= high; i++) {
        uint32_t far = i > from + share ? i - from - share : from + share - i;
        uint32_t best_far = best > from + share ? best - from - share : from + share - best;
        if (use[i] < use[best] || (use[i] == use[best] && far < best_far))
            best = i;
    }
    return best;
}

static bool is_once(const pb_graph *g, const pbi_clusters *c, uint32_t i)
{
    return g->flags[c->order[c->start[i]]] & PB_NODE_ONCE;
}

pb_status pbi_join_neighbors(const pb_graph *g, uint32_t most, pb_arena *arena, pbi_clusters *c)
{
    uint32_t soon = 2 * (c->count / most + 1), at = 0, regions = 0;
    uint64_t *use = find_in_use(g, c, soon, arena);
    uint32_t *start = pb_arena_alloc(arena, (size_t)c->count + 2, sizeof *start);
    if (!use || !start)
        return PB_ENOMEM;
    while (at < c->count) {
        uint32_t left = most > regions ? most - regions : 1, share = (c->count - at + left - 1) / left, end = at + 1;
        start[regions++] = c->start[at];
        if (!is_once(g, c, at)) {
            while (end < c->count && end - at < 2 * share && !is_once(g, c, end))
                end++;
            end = region_end(use, at, end, share);
        }
        at = end;
    }
    start[regions] = c->order_count;
    c->start = start;
    c->count = regions;
    c->label = NULL;
    return PB_OK;
}
