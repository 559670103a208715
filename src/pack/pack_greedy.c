/* pack_greedy.c -- packings that are quick to find: the places are sorted by size, area or length, and each gets the
 * lowest offset that is free. */
#include "pack/pack_parts.h"

#include "base/arena.h"
#include "base/context.h"

#include <stdlib.h>
#include <string.h>

typedef struct ranked {
    uint64_t key, second;
    uint32_t place;
} ranked;

static int by_keys(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->second != y->second)
        return x->second > y->second ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

typedef struct span {
    uint64_t low, high;
} span;

static int by_low(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : x->high < y->high ? -1 : x->high > y->high;
}

static bool overlap_in_time(const pbi_places *p, uint32_t u, uint32_t v)
{
    return pbi_place_from(p, u) < pbi_place_to(p, v) && pbi_place_from(p, v) < pbi_place_to(p, u);
}

/* The spans of addresses at which an offset of v must not start, because of placed ones that live at the same time. */
static uint32_t taken_spans(const pbi_places *p, const uint64_t *offset, const uint32_t *placed, uint32_t count,
                            uint32_t v, span *out)
{
    uint32_t spans = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t u = placed[k], i = p->piece_start[u], j = p->piece_start[v];
        uint64_t above = 0, below = 0; /* room that u needs above its offset where v lives, and v where u does */
        if (!overlap_in_time(p, u, v))
            continue;
        while (i < p->piece_start[u + 1] && j < p->piece_start[v + 1]) {
            const pbi_piece *a = &p->piece[i], *b = &p->piece[j];
            if (a->from < b->to && b->from < a->to && a->size && b->size) {
                above = a->size > above ? a->size : above;
                below = b->size > below ? b->size : below;
            }
            if (a->to <= b->to)
                i++;
            else
                j++;
        }
        if (above)
            out[spans++] = (span){offset[u] > below - 1 ? offset[u] - (below - 1) : 0, offset[u] + above};
    }
    return spans;
}

/* The lowest offset outside all spans. */
static uint64_t lowest_gap(span *spans, uint32_t count)
{
    uint64_t at = 0;
    qsort(spans, count, sizeof *spans, by_low);
    for (uint32_t i = 0; i < count && spans[i].low <= at; i++)
        at = spans[i].high > at ? spans[i].high : at;
    return at;
}

static void rank_all(const pbi_places *p, int way, ranked *rank)
{
    for (uint32_t v = 0; v < p->count; v++) {
        uint64_t length = pbi_place_to(p, v) - pbi_place_from(p, v), size = p->size[v];
        uint64_t area = size > UINT64_MAX / length ? UINT64_MAX : size * length;
        const uint64_t keys[][2] = {{size, length}, {area, size}, {length, size}};
        rank[v] = (ranked){keys[way][0], keys[way][1], v};
    }
    qsort(rank, p->count, sizeof *rank, by_keys);
}

pb_status pbi_pack_greedy(pb_context *ctx, const pbi_places *p, uint64_t *offset, uint64_t *size)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    ranked *rank = pb_arena_alloc(&scratch, p->count, sizeof *rank);
    uint32_t *placed = pb_arena_alloc(&scratch, p->count, sizeof *placed);
    span *spans = pb_arena_alloc(&scratch, p->count, sizeof *spans);
    uint64_t *now = pb_arena_alloc(&scratch, p->count, sizeof *now);
    pb_status status = rank && placed && spans && now ? PB_OK : PB_ENOMEM;
    for (int way = 0; way < 3 && status == PB_OK && *size > p->most_load; way++) {
        uint64_t top = 0;
        rank_all(p, way, rank);
        for (uint32_t k = 0; k < p->count && status == PB_OK; k++) {
            uint32_t v = rank[k].place;
            now[v] = lowest_gap(spans, taken_spans(p, now, placed, k, v, spans));
            placed[k] = v;
            top = now[v] + p->size[v] > top ? now[v] + p->size[v] : top;
            if (k % 64 == 0)
                status = pbi_poll(ctx);
        }
        if (status == PB_OK && top < *size) {
            memcpy(offset, now, p->count * sizeof *offset);
            *size = top;
        }
    }
    pb_arena_release(&scratch);
    return status;
}
