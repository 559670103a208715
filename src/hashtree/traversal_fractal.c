/* traversal_fractal.c -- fractal traversal: Jakobsson, Leighton, Micali and Szydlo (2003).
 *
 * The levels are divided into bands of at most k, and each band into subtrees. Of each band the subtree that the
 * path goes through is stored, and the next one is computed while it is used, with two units for each output: 2L - 2
 * units for L bands, as the top band has a single subtree. All bands use few, large steps, so that units are few and
 * memory is L times that of a subtree.
 *
 * Two things halve the memory of the first form of the paper. Only right nodes are stored: a left node of the path is
 * one hash of two nodes that were in paths before, as in bds, or a leaf, one unit more for an output. And the next
 * subtree starts one block late, without the nodes on its left edge, which no right node needs: right nodes of the
 * present subtree are used up as fast as those of the next one are computed.
 */
#include "hashtree/traversal_state.h"

#include <math.h>

/* Bands of nearly equal height, the higher ones at the top, which needs no computation. */
void pbi_fractal_divide(uint32_t height, uint32_t k, pbi_bands *b)
{
    uint32_t most = k ? k : 1, count = height ? (height + most - 1) / most : 0;
    *b = (pbi_bands){.count = count};
    for (uint32_t i = 0; i < count; i++)
        b->start[i + 1] = b->start[i] + (height + i) / count;
    for (uint32_t i = 0, at = 0; i < count; i++)
        for (uint32_t level = b->start[i]; level < b->start[i + 1]; level++) {
            b->band[level] = (uint8_t)i;
            b->right[level] = at;
            at += UINT32_C(1) << (b->start[i + 1] - level); /* of two subtrees */
            b->stored = at;
        }
}

uint32_t pbi_fractal_usual_k(uint32_t height)
{
    uint32_t k = 1;
    while (k < height && 2 * ((height + k - 1) / k) - 1 > 2 * height / log2(height))
        k++;
    return k;
}

/* Where a right node is stored. */
static uint32_t *stored(pbi_traversal *s, uint32_t level, uint64_t index)
{
    const pbi_bands *b = &s->bands;
    uint32_t room = UINT32_C(1) << (b->start[b->band[level] + 1] - level);
    return &s->retain[b->right[level] + (uint32_t)(index / 2 & (room - 1))];
}

static bool keeps(pbi_traversal *s, uint8_t level, uint64_t index, uint32_t slot)
{
    uint32_t end = s->bands.start[s->bands.band[level] + 1];
    bool far = index > 2 && index % 2 && index < UINT64_C(1) << (end - level);
    if (index == 1)
        s->auth[level] = slot;
    else if (far)
        *stored(s, level, index) = slot;
    return index == 1 || far;
}

/* The next subtree of a band, from its second block on, when the path enters the second block of the present one. */
static void begin_next(pbi_traversal *s, uint32_t band)
{
    uint32_t low = s->bands.start[band], high = s->bands.start[band + 1];
    uint64_t block = UINT64_C(1) << low, size = UINT64_C(1) << high;
    pbi_treehash *h = &s->stack[band];
    if ((s->next & (size - 1)) != block)
        return;
    h->leaf = (s->next & ~(size - 1)) + size + block;
    h->target = (uint8_t)high;
    h->count = 0;
    h->busy = h->leaf < s->leaves;
}

/* A new node on top: a right one of the band is stored, and forgotten here unless a left one waits for it. */
static void settle(pbi_traversal *s, pbi_treehash *h, uint32_t low)
{
    pbi_tail top = h->tail[h->count - 1];
    uint64_t index = (h->leaf >> top.level) - 1;
    if (top.level < low || index % 2 == 0)
        return;
    *stored(s, top.level, index) = top.slot;
    if (h->count < 2 || h->tail[h->count - 2].level != top.level)
        h->count--;
    h->busy = h->count || (h->leaf & ((UINT64_C(1) << h->target) - 1));
}

static void unit(pbi_traversal *s, uint32_t band)
{
    pbi_treehash *h = &s->stack[band];
    uint32_t low = s->bands.start[band];
    if (h->count < 2 || h->tail[h->count - 1].level != h->tail[h->count - 2].level) {
        uint32_t slot = pbi_slot_take(s);
        pbi_put(s, (pb_hash_action){.kind = PB_HASH_LEAF, .slot = slot, .index = h->leaf++});
        h->tail[h->count++] = (pbi_tail){slot, 0};
    } else {
        pbi_tail right = h->tail[--h->count], *left = &h->tail[h->count - 1];
        left->level++;
        pbi_put(s, (pb_hash_action){.kind = PB_HASH_NODE,
                                    .level = left->level,
                                    .index = (h->leaf >> left->level) - 1,
                                    .slot = left->slot,
                                    .left = left->slot,
                                    .right = right.slot});
        if (right.level < low)
            pbi_slot_free(s, right.slot);
    }
    settle(s, h, low);
}

static void update(pbi_traversal *s)
{
    unsigned top = pbi_turn_left(s);
    for (unsigned level = 0; level < top; level++) {
        pbi_slot_free(s, s->auth[level]);
        s->auth[level] = *stored(s, level, s->next >> level ^ 1);
    }
    for (uint32_t band = 0; band + 1 < s->bands.count; band++)
        begin_next(s, band);
    s->todo = (s->bands.count ? s->bands.count - 1 : 0) + s->owes_leaf;
}

static void work(pbi_traversal *s)
{
    if (s->owes_leaf && !s->todo) {
        pbi_pay_leaf(s);
        return;
    }
    uint32_t band = s->todo - s->owes_leaf;
    for (int i = 0; i < 2 && s->stack[band].busy; i++)
        unit(s, band);
}

const pbi_algorithm pbi_traversal_fractal = {keeps, update, work};
