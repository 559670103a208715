/* layout_skips.c -- a U-Net looks like a U.
 *
 * Skip connections of an encoder and a decoder contain one another: the first value that is kept is read last. Where a
 * lane has such a nest, the layers between its innermost connection are the lowest, and each connection is a level. Other
 * long edges, such as those of residual blocks, do not contain the middle, and a nest must span most of the lane.
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

/* The long edges past the layer `middle`, the outermost first; 0 if they are too many or do not contain one another. */
static uint32_t find_nest(const pb_graph *g, const uint32_t *layer, const uint8_t *lane, uint8_t which, uint32_t middle,
                          skip nest[MAX_SKIPS])
{
    uint32_t count = 0, kept = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            if (!is_long(layer, lane, which, u, v) || layer[u] >= middle || layer[v] <= middle)
                continue;
            if (count == MAX_SKIPS)
                return 0;
            nest[count++] = (skip){layer[u], layer[v]};
        }
    qsort(nest, count, sizeof *nest, outer_first);
    for (uint32_t i = 0; i < count; i++) {
        if (kept && nest[i].from == nest[kept - 1].from && nest[i].to == nest[kept - 1].to)
            continue;
        if (kept && (nest[i].from <= nest[kept - 1].from || nest[i].to >= nest[kept - 1].to))
            return 0;
        nest[kept++] = nest[i];
    }
    return kept;
}

static void lower(const pb_graph *g, const uint32_t *layer, const skip *nest, uint32_t count, float step, uint8_t which,
                  pb_layout *l)
{
    for (pb_node v = 0; v < g->node_count; v++) {
        uint32_t level = 0;
        if (l->lane[v] != which)
            continue;
        while (level < count && nest[level].from < layer[v] && layer[v] < nest[level].to)
            level++;
        l->y[v] += (float)level * step;
    }
}

pb_status pbi_layout_skips(const pb_graph *g, const uint32_t *layer, const uint32_t count[2], pb_arena *scratch,
                           pb_layout *l)
{
    skip nest[MAX_SKIPS];
    uint32_t *own = pb_arena_alloc(scratch, g->node_count, sizeof *own);
    int32_t *change = pb_arena_alloc(scratch, (size_t)count[0] + count[1] + 2, sizeof *change);
    if (!own || !change)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++)
        own[v] = layer[v] - (l->lane[v] ? count[0] : 0);
    for (uint8_t lane = 0; lane < 2; lane++) {
        uint32_t middle = most_passed(g, own, l->lane, lane, change, count[lane]);
        uint32_t skips = find_nest(g, own, l->lane, lane, middle, nest);
        if (skips < MIN_SKIPS || nest[0].to - nest[0].from < MIN_SHARE * count[lane])
            continue;
        float step = (float)(count[lane] / (WIDE * skips));
        lower(g, own, nest, skips, fminf(MAX_STEP, fmaxf(MIN_STEP, step)), lane, l);
    }
    return PB_OK;
}
