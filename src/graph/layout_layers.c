/* layout_layers.c -- order within layers, and positions.
 *
 * Idea. Sweeps over the layers sort each by the mean position of its items' neighbours in the layers before, then
 * in those after it (Sugiyama, Tagawa and Toda 1981). Edges over several layers get no dummy nodes: they pull like
 * the others, which costs some crossings and saves most of the time and memory on graphs with long edges. Then
 * items are moved towards the mean of their neighbours as far as order and distance allow: for one layer that is an
 * isotonic regression, solved exactly by pooling adjacent violators.
 *
 * Cost. A fixed number of sweeps of O(nodes + edges), and sorts of each layer. */
#include "base/context.h"
#include "graph/layout_parts.h"

#include <string.h>

#define END_WEIGHT 0.02f
enum { ORDER_SWEEPS = 6, PLACE_SWEEPS = 5, INSERTION = 12 };

typedef struct entry {
    float key;
    uint32_t item;
} entry;

typedef struct block {
    double sum, weight; /* of the desired positions of its items, relative to that of its first */
    uint32_t count;
} block;

typedef struct sweeper {
    const pbi_layers *l;
    uint32_t *start;       /* of each layer in `at` */
    uint32_t *at;          /* items, layer by layer, in their order */
    entry *entries, *room; /* of the widest layer */
    block *blocks;
    float *weight;  /* of each item: items at the ends yield to those in between */
    double *offset; /* of items in a layer that touch one another */
} sweeper;

static float height_of(const pbi_layers *l, uint32_t item) { return l->height ? l->height[item] : 1.0f; }

static bool set_up_layers(sweeper *s, pb_arena *scratch)
{
    const pbi_layers *l = s->l;
    uint32_t widest = 0;
    s->start = pb_arena_zero(scratch, (size_t)l->layer_count + 1, sizeof *s->start);
    s->at = pb_arena_alloc(scratch, l->count, sizeof *s->at);
    if (!s->start || !s->at)
        return false;
    for (uint32_t i = 0; i < l->count; i++)
        s->start[l->layer[i] + 1]++;
    for (uint32_t k = 0; k < l->layer_count; k++) {
        widest = s->start[k + 1] > widest ? s->start[k + 1] : widest;
        s->start[k + 1] += s->start[k];
    }
    for (uint32_t i = 0; i < l->count; i++)
        s->at[s->start[l->layer[i]]++] = i;
    for (uint32_t k = l->layer_count; k > 0; k--) /* the starts have moved to the ends */
        s->start[k] = s->start[k - 1];
    s->start[0] = 0;
    s->entries = pb_arena_alloc(scratch, widest, sizeof *s->entries);
    s->room = pb_arena_alloc(scratch, widest, sizeof *s->room);
    s->blocks = pb_arena_alloc(scratch, widest, sizeof *s->blocks);
    s->offset = pb_arena_alloc(scratch, widest, sizeof *s->offset);
    s->weight = pb_arena_alloc(scratch, l->count, sizeof *s->weight);
    return s->entries && s->room && s->blocks && s->offset && s->weight;
}

static bool has_neighbour(const pbi_layers *l, const uint32_t *start, const uint32_t *row, uint32_t item)
{
    for (uint32_t k = start[item]; k < start[item + 1]; k++)
        if (!l->band || l->band[row[k]] == l->band[item])
            return true;
    return false;
}

static void weigh(const sweeper *s)
{
    const pbi_layers *l = s->l;
    for (uint32_t i = 0; i < l->count; i++) {
        bool inner = has_neighbour(l, l->in_start, l->in, i) && has_neighbour(l, l->out_start, l->out, i);
        s->weight[i] = inner ? 1.0f : END_WEIGHT;
    }
}

/* Places the items one after the other, centred at 0. */
static void stack(const sweeper *s, uint32_t layer)
{
    const pbi_layers *l = s->l;
    double sum = 0, at;
    for (uint32_t k = s->start[layer]; k < s->start[layer + 1]; k++)
        sum += height_of(l, s->at[k]);
    at = -sum / 2;
    for (uint32_t k = s->start[layer]; k < s->start[layer + 1]; k++) {
        double height = height_of(l, s->at[k]);
        l->y[s->at[k]] = (float)(at + height / 2);
        at += height;
    }
}

static void add_row(const sweeper *s, const uint32_t *start, const uint32_t *row, uint32_t item, double *sum,
                    double *weight)
{
    const pbi_layers *l = s->l;
    for (uint32_t k = start[item]; k < start[item + 1]; k++) {
        uint32_t other = row[k];
        if (l->band && l->band[other] != l->band[item])
            continue;
        *sum += (double)s->weight[other] * l->y[other];
        *weight += s->weight[other];
    }
}

/* The mean position of the neighbours on the requested sides; its own if there are none. */
static float barycentre(const sweeper *s, uint32_t item, bool inputs, bool readers)
{
    const pbi_layers *l = s->l;
    double sum = 0, weight = 0;
    if (inputs)
        add_row(s, l->in_start, l->in, item, &sum, &weight);
    if (readers)
        add_row(s, l->out_start, l->out, item, &sum, &weight);
    return weight > 0 ? (float)(sum / weight) : l->y[item];
}

static void insertion_sort(entry *e, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        entry moved = e[i];
        size_t k = i;
        for (; k > 0 && e[k - 1].key > moved.key; k--)
            e[k] = e[k - 1];
        e[k] = moved;
    }
}

/* Stable, so that equal runs are. */
static void sort(entry *e, entry *room, size_t count)
{
    for (size_t i = 0; i < count; i += INSERTION)
        insertion_sort(e + i, count - i < INSERTION ? count - i : INSERTION);
    entry *from = e, *to = room;
    for (size_t width = INSERTION; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            size_t middle = low + width < count ? low + width : count, a = low, b = middle, k = low;
            size_t high = low + 2 * width < count ? low + 2 * width : count;
            while (a < middle && b < high)
                to[k++] = from[a].key <= from[b].key ? from[a++] : from[b++];
            while (a < middle)
                to[k++] = from[a++];
            while (b < high)
                to[k++] = from[b++];
        }
        entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != e)
        memcpy(e, from, count * sizeof *e);
}

static void order_layer(const sweeper *s, uint32_t layer, bool down)
{
    uint32_t *at = s->at + s->start[layer], count = s->start[layer + 1] - s->start[layer];
    bool sorted = true;
    for (uint32_t i = 0; i < count; i++) {
        s->entries[i] = (entry){barycentre(s, at[i], down, !down), at[i]};
        sorted = sorted && (i == 0 || s->entries[i - 1].key <= s->entries[i].key);
    }
    if (sorted)
        return;
    sort(s->entries, s->room, count);
    for (uint32_t i = 0; i < count; i++)
        at[i] = s->entries[i].item;
    stack(s, layer);
}

/* Least squares to the desired positions, in this order and without overlap. */
static void place_layer(const sweeper *s, uint32_t layer, bool inputs, bool readers)
{
    const pbi_layers *l = s->l;
    const uint32_t *at = s->at + s->start[layer];
    uint32_t count = s->start[layer + 1] - s->start[layer], used = 0;
    double reach = 0;
    for (uint32_t i = 0; i < count; i++) {
        double half = height_of(l, at[i]) / 2;
        reach += i ? half : 0;
        s->offset[i] = reach;
        reach += half;
        double weight = s->weight[at[i]], wanted = (double)barycentre(s, at[i], inputs, readers) - s->offset[i];
        s->blocks[used++] = (block){weight * wanted, weight, 1};
        while (used > 1 && s->blocks[used - 2].sum * s->blocks[used - 1].weight >
                               s->blocks[used - 1].sum * s->blocks[used - 2].weight) {
            s->blocks[used - 2].sum += s->blocks[used - 1].sum;
            s->blocks[used - 2].weight += s->blocks[used - 1].weight;
            s->blocks[used - 2].count += s->blocks[used - 1].count;
            used--;
        }
    }
    for (uint32_t b = 0, i = 0; b < used; b++)
        for (uint32_t k = 0; k < s->blocks[b].count; k++, i++)
            l->y[at[i]] = (float)(s->blocks[b].sum / s->blocks[b].weight + s->offset[i]);
}

/* Moves the mean position within some layers to 0, so that long graphs do not drift. A layer moves as a whole:
 * distances do not change. `sums` has two entries per layer and one more. */
static void straighten(const sweeper *s, uint32_t from, uint32_t to, double *sums)
{
    const pbi_layers *l = s->l;
    uint32_t reach = (to - from) / 12 + 6;
    double *weights = sums + (to - from) + 1;
    sums[0] = weights[0] = 0;
    for (uint32_t k = from; k < to; k++) {
        double sum = 0, weight = 0;
        for (uint32_t i = s->start[k]; i < s->start[k + 1]; i++) {
            sum += (double)s->weight[s->at[i]] * l->y[s->at[i]];
            weight += s->weight[s->at[i]];
        }
        sums[k - from + 1] = sums[k - from] + sum;
        weights[k - from + 1] = weights[k - from] + weight;
    }
    for (uint32_t k = from; k < to; k++) {
        uint32_t low = k - from > reach ? k - from - reach : 0,
                 high = k + 1 + reach < to ? k + 1 + reach - from : to - from;
        double weight = weights[high] - weights[low];
        double mean = weight > 0 ? (sums[high] - sums[low]) / weight : 0;
        for (uint32_t i = s->start[k]; i < s->start[k + 1]; i++)
            l->y[s->at[i]] -= (float)mean;
    }
}

static bool straighten_bands(const sweeper *s, pb_arena *scratch)
{
    const pbi_layers *l = s->l;
    double *sums = pb_arena_alloc(scratch, 2 * ((size_t)l->layer_count + 1), sizeof *sums);
    if (!sums)
        return false;
    for (uint32_t from = 0, to; from < l->layer_count; from = to) {
        to = from + 1;
        if (s->start[from] == s->start[to])
            continue;
        while (to < l->layer_count && (!l->band || s->start[to] == s->start[to + 1] ||
                                       l->band[s->at[s->start[to]]] == l->band[s->at[s->start[from]]]))
            to++;
        straighten(s, from, to, sums);
    }
    return true;
}

pb_status pbi_layers_place(pb_context *ctx, const pbi_layers *l, pb_arena *scratch)
{
    sweeper s = {.l = l};
    pb_status status = PB_OK;
    if (!set_up_layers(&s, scratch))
        return PB_ENOMEM;
    weigh(&s);
    for (uint32_t k = 0; k < l->layer_count; k++)
        stack(&s, k);
    for (int sweep = 0; sweep < ORDER_SWEEPS && status == PB_OK; sweep++) {
        bool down = sweep % 2 == 0;
        for (uint32_t k = 0; k < l->layer_count; k++)
            order_layer(&s, down ? k : l->layer_count - 1 - k, down);
        status = pbi_poll(ctx);
    }
    for (int sweep = 0; sweep < PLACE_SWEEPS && status == PB_OK; sweep++) {
        bool last = sweep == PLACE_SWEEPS - 1, down = sweep % 2 == 0;
        for (uint32_t k = 0; k < l->layer_count; k++)
            place_layer(&s, down ? k : l->layer_count - 1 - k, down || last, !down || last);
        status = pbi_poll(ctx);
    }
    return status == PB_OK && !straighten_bands(&s, scratch) ? PB_ENOMEM : status;
}
