/* pack_check.c -- do the offsets keep all lifetimes apart? By a sweep over time with what is there in the order of addresses. */
#include "pebble/pack.h"

#include "base/context.h"

#include <stdlib.h>

typedef struct event {
    uint64_t time;
    bool begins;
    uint32_t life;
} event;

static int by_time(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins ? 1 : -1; /* what ends makes room first */
    return x->life < y->life ? -1 : x->life > y->life;
}

typedef struct sweep {
    const pb_lifetimes *lives;
    const uint64_t *offset;
    uint32_t *there; /* by address */
    uint32_t count;
} sweep;

/* Where offset lies among what is there. */
static uint32_t find(const sweep *s, uint64_t offset)
{
    uint32_t low = 0, high = s->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->offset[s->there[middle]] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* False: it overlaps *other. */
static bool enter(sweep *s, uint32_t life, uint32_t *other)
{
    const pb_lifetime *l = s->lives->life;
    uint32_t at = find(s, s->offset[life]);
    if (at < s->count && s->offset[life] + l[life].size > s->offset[s->there[at]]) {
        *other = s->there[at];
        return false;
    }
    if (at > 0 && s->offset[s->there[at - 1]] + l[s->there[at - 1]].size > s->offset[life]) {
        *other = s->there[at - 1];
        return false;
    }
    for (uint32_t i = s->count++; i > at; i--)
        s->there[i] = s->there[i - 1];
    s->there[at] = life;
    return true;
}

static void leave(sweep *s, uint32_t life)
{
    uint32_t at = find(s, s->offset[life]);
    s->count--;
    for (uint32_t i = at; i < s->count; i++)
        s->there[i] = s->there[i + 1];
}

static bool is_placed(const pb_lifetimes *lives, const pb_packing *packing, uint32_t i)
{
    uint64_t at = packing->offset[i], size = lives->life[i].size;
    return (!lives->align || at % lives->align == 0) && size <= packing->size && at <= packing->size - size;
}

pb_status pb_packing_check(pb_context *ctx, const pb_lifetimes *lives, const pb_packing *packing, bool *good,
                           uint32_t *a, uint32_t *b)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    event *events = pb_arena_alloc(&scratch, 2 * (size_t)lives->count, sizeof *events);
    sweep s = {lives, packing->offset, pb_arena_alloc(&scratch, lives->count, sizeof *s.there), 0};
    size_t count = 0;
    pb_status status = events && s.there ? PB_OK : PB_ENOMEM;
    *good = true;
    for (uint32_t i = 0; i < lives->count && status == PB_OK && *good; i++) {
        *good = is_placed(lives, packing, i);
        *a = *b = i;
        if (!lives->life[i].size)
            continue;
        events[count++] = (event){lives->life[i].from, true, i};
        events[count++] = (event){lives->life[i].to, false, i};
    }
    if (status == PB_OK && *good)
        qsort(events, count, sizeof *events, by_time);
    for (size_t k = 0; k < count && status == PB_OK && *good; k++) {
        if (events[k].begins) {
            *a = events[k].life;
            *good = enter(&s, events[k].life, b);
        } else {
            leave(&s, events[k].life);
        }
    }
    pb_arena_release(&scratch);
    return status;
}
