/* traversal_bds.c -- the traversal of Buchmann, Dahmen and Schneider (2008), as XMSS uses it, and a lazy variant.
 *
 * A left node of the path is one hash of two nodes that were in recent paths: the right one is kept for it. So only
 * right nodes have to be computed from leaves, with twice the time for each. Right nodes of the k levels below the
 * root, the most expensive ones, are kept from the set-up to the end: 2^k - k - 1 of them in addition to those of
 * the first path. For the others each level has one computation at a time, and half as many leaves as there are
 * such levels are enough for an output, always spent where the lowest hash waits, in addition to the leaf that the
 * next path itself needs.
 *
 * Lazy computes right nodes only when a path needs them, from the top level down in the slots of the levels below:
 * the same total work or less, in H + H/2 slots and those that are always kept, but nearly all of it for a few outputs.
 */
#include "hashtree/traversal_state.h"

/* Levels below this one are computed from leaves. */
static uint32_t computed_levels(const pbi_traversal *s) { return s->height - s->spec.k; }

static uint32_t *retained(pbi_traversal *s, uint32_t level, uint64_t index)
{
    return &s->retain[s->retain_start[level] + (uint32_t)((index - 3) / 2)];
}

static bool lazy_keeps(pbi_traversal *s, uint8_t level, uint64_t index, uint32_t slot)
{
    bool far = index > 2 && index % 2 && level >= computed_levels(s);
    if (index == 1)
        s->auth[level] = slot;
    else if (far)
        *retained(s, level, index) = slot;
    return index == 1 || far;
}

static bool keeps(pbi_traversal *s, uint8_t level, uint64_t index, uint32_t slot)
{
    bool near = index == 3 && level < computed_levels(s);
    if (near)
        s->stack[level] = (pbi_treehash){.target = level, .count = 1, .tail = {{slot, level}}};
    return near || lazy_keeps(s, level, index, slot);
}

/* The left node of the path, from a node that was in it until now and one that was kept. */
static void make_left(pbi_traversal *s, unsigned level)
{
    uint32_t left = s->auth[level - 1], right = s->keep[level - 1];
    s->keep[level - 1] = PBI_NO_SLOT;
    pbi_put(s, (pb_hash_action){.kind = PB_HASH_NODE,
                                .level = (uint8_t)level,
                                .index = s->next >> level ^ 1,
                                .slot = right,
                                .left = left,
                                .right = right});
    s->auth[level] = right;
}

/* The right nodes below it. */
static void take_right(pbi_traversal *s, unsigned level)
{
    uint64_t index = s->next >> level ^ 1;
    pbi_slot_free(s, s->auth[level]);
    if (level >= computed_levels(s)) {
        s->auth[level] = *retained(s, level, index);
        return;
    }
    s->auth[level] = pbi_treehash_take(&s->stack[level]);
    pbi_treehash_begin(s, &s->stack[level], (uint8_t)level, index + 2);
}

unsigned pbi_turn_left(pbi_traversal *s)
{
    uint64_t last = s->next - 1;
    unsigned top = 0;
    while (top + 1 < s->height && !(s->next >> top & 1))
        top++;
    bool parent_is_left = !(last >> (top + 1) & 1) && top + 1 < s->height;
    if (parent_is_left)
        s->keep[top] = s->auth[top];
    else
        pbi_slot_free(s, s->auth[top]);
    s->owes_leaf = top == 0;
    if (top)
        make_left(s, top);
    return top;
}

static void update(pbi_traversal *s)
{
    for (unsigned h = 0, top = pbi_turn_left(s); h < top; h++)
        take_right(s, h);
    s->todo = (computed_levels(s) + 1) / 2 + s->owes_leaf;
}

void pbi_pay_leaf(pbi_traversal *s)
{
    s->owes_leaf = false;
    s->auth[0] = pbi_slot_take(s);
    pbi_put(s, (pb_hash_action){.kind = PB_HASH_LEAF, .slot = s->auth[0], .index = s->next - 1});
}

/* If several wait on the same level, the published rule takes the computation of the lower node. The higher one
 * stores a hash or two less, and is in time for every height up to CHECKED and every k: all were run. */
static unsigned choose(const pbi_traversal *s)
{
    enum { CHECKED = 20 };
    unsigned best = PBI_NO_LEVEL, low = PBI_NO_LEVEL;
    for (unsigned h = 0; h < computed_levels(s); h++) {
        unsigned now = pbi_treehash_low(&s->stack[h]);
        if (now < low || (now == low && now != PBI_NO_LEVEL && s->height <= CHECKED)) {
            low = now;
            best = h;
        }
    }
    return best;
}

static void work(pbi_traversal *s)
{
    if (s->owes_leaf && !s->todo) {
        pbi_pay_leaf(s);
        return;
    }
    unsigned best = choose(s);
    if (best == PBI_NO_LEVEL)
        s->todo = s->owes_leaf;
    else
        pbi_treehash_leaf(s, &s->stack[best]);
}

/* ---- lazy ---- */

static void lazy_update(pbi_traversal *s)
{
    unsigned top = pbi_turn_left(s), computed = top < computed_levels(s) ? top : computed_levels(s);
    for (unsigned h = 0; h < top; h++)
        pbi_slot_free(s, s->auth[h]);
    for (unsigned h = computed; h < top; h++)
        s->auth[h] = *retained(s, h, s->next >> h ^ 1);
    if (computed)
        pbi_descent_begin(s, computed - 1);
    else
        s->todo = s->owes_leaf;
}

static void lazy_work(pbi_traversal *s)
{
    if (s->owes_leaf)
        pbi_pay_leaf(s);
    else
        pbi_descent_leaf(s);
}

const pbi_algorithm pbi_traversal_bds = {keeps, update, work};
const pbi_algorithm pbi_traversal_lazy = {lazy_keeps, lazy_update, lazy_work};
