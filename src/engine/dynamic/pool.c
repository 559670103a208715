/* pool.c -- a block split into pieces: best fit; free neighbours are merged. */
#include "engine/dynamic/parts.h"

#include "base/arena.h"

/* An unused piece. PBI_NO_PIECE: out of memory. */
static uint32_t fresh(pbi_pool *p)
{
    if (p->spare != PBI_NO_PIECE) {
        uint32_t i = p->spare;
        p->spare = p->piece[i].after;
        return i;
    }
    void *items = p->piece;
    if (!pbi_arena_reserve(p->arena, &items, &p->room, (size_t)p->count + 1, sizeof *p->piece))
        return PBI_NO_PIECE;
    p->piece = items;
    return p->count++;
}

pb_status pbi_pool_init(pbi_pool *p, pb_arena *arena, uint64_t size)
{
    *p = (pbi_pool){.arena = arena, .spare = PBI_NO_PIECE, .size = size};
    p->first = fresh(p);
    if (p->first == PBI_NO_PIECE)
        return PB_ENOMEM;
    p->piece[p->first] = (pbi_block_piece){0, size, PBI_NO_PIECE, PBI_NO_PIECE, PBI_FREE};
    return PB_OK;
}

pb_status pbi_pool_take(pbi_pool *p, uint64_t size, pb_value value, uint32_t *out)
{
    uint32_t best = PBI_NO_PIECE;
    for (uint32_t i = p->first; i != PBI_NO_PIECE; i = p->piece[i].after)
        if (p->piece[i].value == PBI_FREE && p->piece[i].size >= size &&
            (best == PBI_NO_PIECE || p->piece[i].size < p->piece[best].size))
            best = i;
    *out = best;
    if (best == PBI_NO_PIECE)
        return PB_OK;
    if (p->piece[best].size > size) { /* the remainder stays free */
        uint32_t remainder = fresh(p);
        if (remainder == PBI_NO_PIECE) {
            *out = PBI_NO_PIECE; /* it was not taken, so it must not be given back */
            return PB_ENOMEM;
        }
        pbi_block_piece *b = &p->piece[best];
        p->piece[remainder] = (pbi_block_piece){b->at + size, b->size - size, best, b->after, PBI_FREE};
        if (b->after != PBI_NO_PIECE)
            p->piece[b->after].before = remainder;
        b->after = remainder;
        b->size = size;
    }
    p->piece[best].value = value;
    p->used += size;
    return PB_OK;
}

/* `b` comes right after `a`, and both are free. */
static void join(pbi_pool *p, uint32_t a, uint32_t b)
{
    p->piece[a].size += p->piece[b].size;
    p->piece[a].after = p->piece[b].after;
    if (p->piece[b].after != PBI_NO_PIECE)
        p->piece[p->piece[b].after].before = a;
    p->piece[b].after = p->spare;
    p->spare = b;
}

void pbi_pool_give(pbi_pool *p, uint32_t piece)
{
    pbi_block_piece *b = &p->piece[piece];
    p->used -= b->size;
    b->value = PBI_FREE;
    uint32_t before = b->before, after = b->after;
    if (after != PBI_NO_PIECE && p->piece[after].value == PBI_FREE)
        join(p, piece, after);
    if (before != PBI_NO_PIECE && p->piece[before].value == PBI_FREE)
        join(p, before, piece);
}
