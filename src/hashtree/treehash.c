/* treehash.c -- one node of the tree from its leaves, with at most one hash per level. */
#include "hashtree/traversal_state.h"

void pbi_treehash_begin(pbi_traversal *s, pbi_treehash *h, uint8_t target, uint64_t index)
{
    h->leaf = index << target;
    h->target = target;
    h->count = 0;
    h->busy = h->leaf < s->leaves;
}

static void push_leaf(pbi_traversal *s, pbi_treehash *h)
{
    uint32_t slot = pbi_slot_take(s);
    pbi_put(s, (pb_hash_action){.kind = PB_HASH_LEAF, .slot = slot, .index = h->leaf++});
    h->tail[h->count++] = (pbi_tail){slot, 0};
    h->busy = h->target > 0;
}

static bool two_alike(const pbi_treehash *h)
{
    return h->count > 1 && h->tail[h->count - 1].level == h->tail[h->count - 2].level;
}

/* The node overwrites its left child. */
static void join_two(pbi_traversal *s, pbi_treehash *h)
{
    pbi_tail right = h->tail[--h->count], *left = &h->tail[h->count - 1];
    left->level++;
    pbi_put(s, (pb_hash_action){.kind = PB_HASH_NODE,
                                .level = left->level,
                                .index = (h->leaf >> left->level) - 1,
                                .slot = left->slot,
                                .left = left->slot,
                                .right = right.slot});
    pbi_slot_free(s, right.slot);
    h->busy = left->level < h->target;
}

void pbi_treehash_unit(pbi_traversal *s, pbi_treehash *h)
{
    if (two_alike(h))
        join_two(s, h);
    else
        push_leaf(s, h);
}

void pbi_treehash_leaf(pbi_traversal *s, pbi_treehash *h)
{
    push_leaf(s, h);
    while (two_alike(h))
        join_two(s, h);
}

uint32_t pbi_treehash_take(pbi_treehash *h)
{
    h->count = 0;
    return h->tail[0].slot;
}

void pbi_descent_begin(pbi_traversal *s, unsigned level)
{
    pbi_treehash_begin(s, &s->stack[0], (uint8_t)level, s->next >> level ^ 1);
    s->todo = 1;
}

void pbi_descent_leaf(pbi_traversal *s)
{
    pbi_treehash *h = &s->stack[0];
    pbi_treehash_leaf(s, h);
    s->todo = 1;
    if (h->busy)
        return;
    s->auth[h->target] = pbi_treehash_take(h);
    if (h->target)
        pbi_descent_begin(s, h->target - 1u);
    else
        s->todo = 0;
}
