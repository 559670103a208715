/* traversal_stacks.c -- traversal with a stack for each level: direct, classic Merkle, Szydlo.
 *
 * Before path s + 1 is output, the path changes on level h if 2^h divides s + 1. Merkle computes the next hash of each
 * level on a separate stack, starting when the last one was taken. It takes 2^(h+1) - 1 units, leaves and hashes,
 * and has 2^h outputs for it: two units per output are enough. Szydlo (2004) spends the same units on the stack
 * whose lowest hash is lowest: then few stacks are in use at a time, with 2H - 2 hashes in addition to the path,
 * and 2H - 1 units are enough. Direct has no stacks but computes what changes when it changes, from the top level
 * down, so that the work of each level uses the slots of the levels below: H in total.
 */
#include "hashtree/traversal_state.h"

static unsigned rising_levels(const pbi_traversal *s)
{
    unsigned h = 0;
    while (h + 1 < s->height && !(s->next >> h & 1))
        h++;
    return h;
}

/* ---- direct ---- */

static bool direct_keeps(pbi_traversal *s, uint8_t level, uint64_t index, uint32_t slot)
{
    if (index == 1)
        s->auth[level] = slot;
    return index == 1;
}

static void direct_update(pbi_traversal *s)
{
    unsigned top = rising_levels(s);
    for (unsigned h = 0; h <= top; h++)
        pbi_slot_free(s, s->auth[h]);
    pbi_descent_begin(s, top);
}

/* ---- a stack for each level ---- */

static bool stacks_keep(pbi_traversal *s, uint8_t level, uint64_t index, uint32_t slot)
{
    if (index == 1)
        s->auth[level] = slot;
    else if (index == 0) /* already done */
        s->stack[level] = (pbi_treehash){.target = level, .count = 1, .tail = {{slot, level}}};
    return index < 2;
}

static void take_done(pbi_traversal *s)
{
    for (unsigned h = 0, top = rising_levels(s); h <= top; h++) {
        pbi_slot_free(s, s->auth[h]);
        s->auth[h] = pbi_treehash_take(&s->stack[h]);
        pbi_treehash_begin(s, &s->stack[h], (uint8_t)h, ((s->next >> h) + 1) ^ 1);
    }
}

static void classic_update(pbi_traversal *s)
{
    take_done(s);
    s->todo = s->height;
}

/* Two units on one level. */
static void classic_work(pbi_traversal *s)
{
    pbi_treehash *h = &s->stack[s->height - 1 - s->todo];
    for (int i = 0; i < 2 && h->busy; i++)
        pbi_treehash_unit(s, h);
}

static void szydlo_update(pbi_traversal *s)
{
    take_done(s);
    s->todo = 1;
}

/* The stack with the lowest hash; of several the lowest stack. */
static pbi_treehash *lowest_stack(pbi_traversal *s)
{
    pbi_treehash *best = NULL;
    unsigned low = PBI_NO_LEVEL;
    for (unsigned h = 0; h < s->height; h++)
        if (pbi_treehash_low(&s->stack[h]) < low) {
            low = pbi_treehash_low(&s->stack[h]);
            best = &s->stack[h];
        }
    return best;
}

static void szydlo_work(pbi_traversal *s)
{
    pbi_treehash *best = NULL;
    unsigned low = 0; /* when it was chosen: it remains the choice until it is above that */
    for (unsigned i = 0; i < 2 * s->height - 1; i++) {
        if (!best || pbi_treehash_low(best) > low) {
            best = lowest_stack(s);
            if (!best)
                return;
            low = pbi_treehash_low(best);
        }
        pbi_treehash_unit(s, best);
    }
}

const pbi_algorithm pbi_traversal_direct = {direct_keeps, direct_update, pbi_descent_leaf};
const pbi_algorithm pbi_traversal_classic = {stacks_keep, classic_update, classic_work};
const pbi_algorithm pbi_traversal_szydlo = {stacks_keep, szydlo_update, szydlo_work};
