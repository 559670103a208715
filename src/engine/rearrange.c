/* rearrange.c -- moves pieces of memory to new places without extra memory.
 *
 * Pieces are compacted downwards, sorted by rotating neighbours, and spread upwards. A piece is never above its new
 * place, since the pieces before it, in the order of new places, take no more room than their places do.
 */
#include "engine/engine_parts.h"

#include <stdlib.h>
#include <string.h>

static int by_from(const void *a, const void *b)
{
    const pbi_piece_move *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void reverse(unsigned char *at, uint64_t count)
{
    for (uint64_t i = 0, k = count; i + 1 < k; i++) {
        unsigned char byte = at[i];
        at[i] = at[--k];
        at[k] = byte;
    }
}

/* The last `behind` bytes come first. */
static void rotate(unsigned char *at, uint64_t count, uint64_t behind)
{
    unsigned char small[4096];
    if (behind <= sizeof small) {
        memcpy(small, at + count - behind, behind);
        memmove(at + behind, at, count - behind);
        memcpy(at, small, behind);
        return;
    }
    reverse(at, count - behind);
    reverse(at + count - behind, behind);
    reverse(at, count);
}

static void insert(unsigned char *memory, pbi_piece_move *piece, uint32_t i)
{
    pbi_piece_move moving = piece[i];
    uint32_t k = i;
    uint64_t at = moving.from;
    while (k > 0 && piece[k - 1].to > moving.to) {
        k--;
        at = piece[k].from;
    }
    if (k == i)
        return;
    rotate(memory + at, moving.from + moving.size - at, moving.size);
    for (uint32_t n = i; n > k; n--) {
        piece[n] = piece[n - 1];
        piece[n].from += moving.size;
    }
    moving.from = at;
    piece[k] = moving;
}

void pbi_rearrange(unsigned char *memory, uint64_t start, pbi_piece_move *piece, uint32_t count)
{
    qsort(piece, count, sizeof *piece, by_from);
    for (uint32_t i = 0; i < count; i++) {
        if (piece[i].from != start)
            memmove(memory + start, memory + piece[i].from, piece[i].size);
        piece[i].from = start;
        start += piece[i].size;
    }
    for (uint32_t i = 1; i < count; i++)
        insert(memory, piece, i);
    for (uint32_t i = count; i-- > 0;)
        if (piece[i].to != piece[i].from)
            memmove(memory + piece[i].to, memory + piece[i].from, piece[i].size);
}
