/* pack_check.c -- checks that no lifetimes overlap: a sweep over time with the current lifetimes in the order of
 * addresses. */
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
    uint32_t *there; /* current lifetimes by address */
    uint32_t count;
} sweep;

/* The position of an offset among the current lifetimes. */
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

static bool same_place(const sweep *s, uint32_t i, uint32_t j)
{
    return s->lives->life[i].place == s->lives->life[j].place;
}

/* False: it overlaps *other. Lifetimes of one place may overlap: one overwrites the other. */
static bool enter(sweep *s, uint32_t life, uint32_t *other)
{
    const pb_lifetime *l = s->lives->life;
    uint32_t at = find(s, s->offset[life]), next = at, before = at;
    while (next < s->count && same_place(s, s->there[next], life))
        next++;
    if (next < s->count && s->offset[life] + l[life].size > s->offset[s->there[next]]) {
        *other = s->there[next];
        return false;
    }
    while (before > 0 && same_place(s, s->there[before - 1], life))
        before--;
    /* All that start at the same offset as the previous one: of one place the larger may not be the last. */
    for (uint32_t i = before; i > 0 && s->offset[s->there[i - 1]] == s->offset[s->there[before - 1]]; i--) {
        if (s->offset[s->there[i - 1]] + l[s->there[i - 1]].size <= s->offset[life])
            continue;
        *other = s->there[i - 1];
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
    while (s->there[at] != life)
        at++;
    s->count--;
    for (uint32_t i = at; i < s->count; i++)
        s->there[i] = s->there[i + 1];
}

static bool is_placed(const pb_lifetimes *lives, const pb_packing *packing, uint32_t i)
{
    uint64_t at = packing->offset[i], size = lives->life[i].size;
    return (!lives->align || at % lives->align == 0) && size <= packing->size && at <= packing->size - size;
}

/* Each place alone, and all lifetimes of one place at one offset. */
static bool check_places(const pb_lifetimes *lives, const pb_packing *packing, uint32_t *first, uint32_t *a,
                         uint32_t *b)
{
    for (uint32_t v = 0; v < lives->place_count; v++)
        first[v] = UINT32_MAX;
    for (uint32_t i = 0; i < lives->count; i++) {
        uint32_t *of_place = &first[lives->life[i].place];
        if (*of_place == UINT32_MAX)
            *of_place = i;
        *a = i;
        *b = *of_place;
        if (packing->offset[*of_place] != packing->offset[i])
            return false;
        *b = i;
        if (!is_placed(lives, packing, i))
            return false;
    }
    return true;
}

static size_t list_events(const pb_lifetimes *lives, event *events)
{
    size_t count = 0;
    for (uint32_t i = 0; i < lives->count; i++) {
        if (!lives->life[i].size)
            continue;
        events[count++] = (event){lives->life[i].from, true, i};
        events[count++] = (event){lives->life[i].to, false, i};
    }
    qsort(events, count, sizeof *events, by_time);
    return count;
}

/* The sweep requires that each lifetime has a place and ends after it starts. */
static pb_status check_lives(pb_context *ctx, const pb_lifetimes *lives)
{
    for (uint32_t i = 0; i < lives->count; i++) {
        if (lives->life[i].place >= lives->place_count)
            return pbi_fail(ctx, PB_EINVAL,
                            "lifetime %u names a place that does not exist; raise place_count, or change it",
                            (unsigned)i);
        if (lives->life[i].from >= lives->life[i].to)
            return pbi_fail(ctx, PB_EINVAL, "lifetime %u must end after it begins; change one of the two", (unsigned)i);
    }
    return PB_OK;
}

pb_status pb_packing_check(pb_context *ctx, const pb_lifetimes *lives, const pb_packing *packing, bool *good,
                           uint32_t *a, uint32_t *b)
{
    pb_status known = check_lives(ctx, lives);
    if (known != PB_OK)
        return known;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    event *events = pb_arena_alloc(&scratch, 2 * (size_t)lives->count, sizeof *events);
    uint32_t *first = pb_arena_alloc(&scratch, lives->place_count, sizeof *first);
    sweep s = {lives, packing->offset, pb_arena_alloc(&scratch, lives->count, sizeof *s.there), 0};
    pb_status status = events && first && s.there ? PB_OK : PB_ENOMEM;
    if (status == PB_OK) {
        *good = check_places(lives, packing, first, a, b);
        size_t count = *good ? list_events(lives, events) : 0;
        for (size_t k = 0; k < count && *good; k++) {
            if (events[k].begins) {
                *a = events[k].life;
                *good = enter(&s, events[k].life, b);
            } else {
                leave(&s, events[k].life);
            }
        }
    }
    pb_arena_release(&scratch);
    return status;
}
