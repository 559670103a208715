/* layout_skips.c -- a U-Net looks like a U.
 *
 * Skip connections of an encoder and a decoder contain one another: the first value that is kept is read last. Where a
 * lane has such a nest, the layers between its innermost connection are the lowest, and each connection is a level.
 * Other long edges, such as those of residual blocks, do not contain the middle, and a nest must span most of the lane.
 */
#include "graph/layout_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_SKIPS = 2, MAX_SKIPS = 64, MIN_SPAN = 3 };
#define MIN_SHARE 0.6 /* of the lane, that the outermost connection spans */
#define WIDE 4.0      /* desired width over height of the U */
#define MIN_STEP 1.2f
#define MAX_STEP 6.0f

typedef struct skip {
    uint32_t from, to; /* layers */
} skip;

/* Long edges that contain one another, the outermost first. */
typedef struct nest {
    skip skips[MAX_SKIPS];
    uint32_t count;
} nest;

static int outer_first(const void *a, const void *b)
{
    const skip *p = a, *q = b;
    if (p->from != q->from)
        return p->from < q->from ? -1 : 1;
    return p->to > q->to ? -1 : p->to < q->to;
}

static bool is_long(const uint32_t *layer, const uint8_t *lane, uint8_t which, pb_node u, pb_node v)
{
    return lane[u] == which && lane[v] == which && layer[v] > layer[u] + MIN_SPAN;
}

/* The layer that the most long edges pass. */
static uint32_t most_passed(const pb_graph *g, const uint32_t *layer, const uint8_t *lane, uint8_t which,
                            int32_t *change, uint32_t layers)
{
    memset(change, 0, ((size_t)layers + 1) * sizeof *change);
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            if (is_long(layer, lane, which, g->in[k], v)) {
                change[layer[g->in[k]] + 1]++;
                change[layer[v]]--;
            }
    uint32_t best = 0;
    int32_t now = 0, most = 0;
    for (uint32_t c = 0; c < layers; c++) {
        now += change[c];
        if (now > most) {
            most = now;
            best = c;
        }
    }
    return best;
}

/* Fills the nest with the long edges past the layer `middle`; none if they are too many, or do not contain one
 * another. */
static void find_nest(const pb_graph *g, const uint32_t *layer, const uint8_t *lane, uint8_t which, uint32_t middle,
                      nest *out)
{
    skip *skips = out->skips;
    uint32_t count = 0, kept = 0;
    out->count = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            if (!is_long(layer, lane, which, u, v) || layer[u] >= middle || layer[v] <= middle)
                continue;
            if (count == MAX_SKIPS)
                return;
            skips[count++] = (skip){layer[u], layer[v]};
        }
    qsort(skips, count, sizeof *skips, outer_first);
    for (uint32_t i = 0; i < count; i++) {
        if (kept && skips[i].from == skips[kept - 1].from && skips[i].to == skips[kept - 1].to)
            continue;
        if (kept && (skips[i].from <= skips[kept - 1].from || skips[i].to >= skips[kept - 1].to))
            return;
        skips[kept++] = skips[i];
    }
    out->count = kept;
}

/* Adds a step to y for each connection around a layer. */
static void lower(const uint32_t *layer, const nest *n, float step, uint8_t which, uint32_t nodes, pb_layout *l)
{
    for (pb_node v = 0; v < nodes; v++) {
        uint32_t level = 0;
        if (l->lane[v] != which)
            continue;
        while (level < n->count && n->skips[level].from < layer[v] && layer[v] < n->skips[level].to)
            level++;
        l->y[v] += (float)level * step;
    }
}

pb_status pbi_layout_skips(const pb_graph *g, const uint32_t *layer, const uint32_t count[2], pb_arena *scratch,
                           pb_layout *l)
{
    nest n;
    uint32_t *own = pb_arena_alloc(scratch, g->node_count, sizeof *own);
    int32_t *change = pb_arena_alloc(scratch, (size_t)count[0] + count[1] + 2, sizeof *change);
    if (!own || !change)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++)
        own[v] = layer[v] - (l->lane[v] ? count[0] : 0);
    for (uint8_t lane = 0; lane < 2; lane++) {
        uint32_t middle = most_passed(g, own, l->lane, lane, change, count[lane]);
        find_nest(g, own, l->lane, lane, middle, &n);
        if (n.count < MIN_SKIPS || n.skips[0].to - n.skips[0].from < MIN_SHARE * count[lane])
            continue;
        float step = (float)(count[lane] / (WIDE * n.count));
        lower(own, &n, fminf(MAX_STEP, fmaxf(MIN_STEP, step)), lane, g->node_count, l);
    }
    return PB_OK;
}
