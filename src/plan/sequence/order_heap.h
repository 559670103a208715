/* order_heap.h -- ready nodes by key, the smallest first; keys may change while nodes are in the heap. */
#ifndef PBI_PLAN_SEQUENCE_ORDER_HEAP_H
#define PBI_PLAN_SEQUENCE_ORDER_HEAP_H

#include "pebble/graph.h"

/* Four children per entry: fewer cache misses than two on large heaps. */
typedef struct pbi_order_heap {
    pb_node *item;
    uint32_t *place; /* per node, UINT32_MAX: not in it */
    int64_t *key;    /* per node */
    uint32_t *tie;   /* per node: smaller first if keys are equal; all differ */
    uint32_t count;
} pbi_order_heap;

static inline bool pbi_order_heap_less(const pbi_order_heap *h, pb_node a, pb_node b)
{
    return h->key[a] != h->key[b] ? h->key[a] < h->key[b] : h->tie[a] < h->tie[b];
}

static inline void pbi_order_heap_set(pbi_order_heap *h, uint32_t at, pb_node v)
{
    h->item[at] = v;
    h->place[v] = at;
}

static inline void pbi_order_heap_up(pbi_order_heap *h, uint32_t at, pb_node v)
{
    for (; at && pbi_order_heap_less(h, v, h->item[(at - 1) / 4]); at = (at - 1) / 4)
        pbi_order_heap_set(h, at, h->item[(at - 1) / 4]);
    pbi_order_heap_set(h, at, v);
}

static inline void pbi_order_heap_push(pbi_order_heap *h, pb_node v) { pbi_order_heap_up(h, h->count++, v); }

static inline pb_node pbi_order_heap_pop(pbi_order_heap *h)
{
    pb_node min_peak = h->item[0], v = h->item[--h->count];
    h->place[min_peak] = UINT32_MAX;
    uint32_t at = 0;
    while (h->count) {
        uint32_t child = 4 * at + 1, end = child + 4 < h->count ? child + 4 : h->count, best = child;
        if (child >= h->count)
            break;
        for (uint32_t c = child + 1; c < end; c++)
            if (pbi_order_heap_less(h, h->item[c], h->item[best]))
                best = c;
        if (!pbi_order_heap_less(h, h->item[best], v))
            break;
        pbi_order_heap_set(h, at, h->item[best]);
        at = best;
    }
    if (h->count)
        pbi_order_heap_set(h, at, v);
    return min_peak;
}

/* Keys only fall while a node is in the heap. */
static inline void pbi_order_heap_lower(pbi_order_heap *h, pb_node v, int64_t by)
{
    h->key[v] -= by;
    if (h->place[v] != UINT32_MAX)
        pbi_order_heap_up(h, h->place[v], v);
}

#endif
