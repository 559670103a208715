/* slabs.c -- see slabs.h. A sorted array: few values are in memory at a time, and they are looked at in order. */
#include "plan/placed/slabs.h"

#include <math.h>
#include <string.h>

static uint64_t end_of(const pbi_slab *s) { return s->at + s->size; }

static uint32_t apart(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

typedef struct choice {
    uint64_t at, room;
    uint32_t apart;
    bool any;
} choice;

/* The gap low .. high between slabs i-1 and i, which is large enough: takes it if it suits better than `c`. */
static void consider(const pbi_slabs *b, const pbi_slab_request *r, uint32_t i, uint64_t low, uint64_t high, choice *c)
{
    uint64_t room = high - low;
    uint32_t below, above;
    switch (r->fit) {
    case PBI_FIT_LOW:
        if (!c->any)
            c->at = low;
        break;
    case PBI_FIT_HIGH: c->at = high - r->size; break;
    case PBI_FIT_BEST_HIGH:
        if (!c->any || room <= c->room)
            *c = (choice){high - r->size, room, 0, true};
        break;
    case PBI_FIT_ALIKE:
        below = i ? apart(b->slab[i - 1].until, r->until) : UINT32_MAX;
        above = i < b->count ? apart(b->slab[i].until, r->until) : UINT32_MAX;
        if (!c->any || below < c->apart || above < c->apart)
            *c = (choice){below <= above ? low : high - r->size, room, below <= above ? below : above, true};
        break;
    default:
        if (!c->any || room < c->room)
            *c = (choice){low, room, 0, true};
    }
    c->any = true;
}

bool pbi_slab_find(const pbi_slabs *b, const pbi_slab_request *r, uint64_t *at)
{
    choice c = {.any = false};
    uint64_t low = 0;
    for (uint32_t i = 0; i <= b->count; i++) {
        uint64_t high = i < b->count ? b->slab[i].at : b->size;
        if (high - low >= r->size)
            consider(b, r, i, low, high, &c);
        low = i < b->count ? end_of(&b->slab[i]) : low;
    }
    *at = c.at;
    return c.any;
}

bool pbi_slab_window(const pbi_slabs *b, uint64_t size, const double *cost, uint32_t *first, uint32_t *last)
{
    double sum = 0, best = INFINITY;
    for (uint32_t i = 0, j = 0; j < b->count; j++) {
        sum += cost[j];
        if (isinf(cost[j])) {
            i = j + 1;
            sum = 0;
            continue;
        }
        uint64_t high = j + 1 < b->count ? b->slab[j + 1].at : b->size;
        while (i <= j && high - (i ? end_of(&b->slab[i - 1]) : 0) >= size) {
            if (sum < best) {
                best = sum;
                *first = i;
                *last = j + 1;
            }
            sum -= cost[i++];
        }
        sum = i > j ? 0 : sum; /* no rounding errors are carried along */
    }
    return !isinf(best);
}

uint32_t pbi_slab_index(const pbi_slabs *b, uint64_t at)
{
    uint32_t low = 0, high = b->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (b->slab[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void pbi_slab_insert(pbi_slabs *b, const pbi_slab *slab)
{
    uint32_t i = pbi_slab_index(b, slab->at);
    memmove(b->slab + i + 1, b->slab + i, (b->count - i) * sizeof *b->slab);
    b->slab[i] = *slab;
    b->count++;
}

void pbi_slab_remove(pbi_slabs *b, uint32_t first, uint32_t last)
{
    memmove(b->slab + first, b->slab + last, (b->count - last) * sizeof *b->slab);
    b->count -= last - first;
}

uint64_t pbi_slab_room_above(const pbi_slabs *b, uint32_t slab)
{
    return (slab + 1 < b->count ? b->slab[slab + 1].at : b->size) - end_of(&b->slab[slab]);
}
