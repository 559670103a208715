/* pack_infer.c -- what follows from the places that have their offsets.
 *
 * The search looks for the packing within the cap whose offsets have the least sum, and places in the order of offsets. In that packing
 * each place rests on the floor or on a lower one: otherwise it could be lowered. So a place that is to come and whose turn at `rest`
 * is over ("late") will rest on something that is to come too, and lie higher than that. If nothing is left for it to rest on, or
 * what is left begins so high that the place would fit below it, the packing is not the one that is sought. And in each
 * section what is to come lies between the lowest offset that any of it can have and the cap.
 */
#include "pack/pack_search.h"

enum { ROUNDS = 2 };

static void first_guess(pbi_pack_state *s, const pbi_pack_part *part)
{
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t v = part->place[i];
        s->late[v] = s->rest[v] < part->floor || (s->rest[v] == part->floor && s->rank[v] < part->after);
        s->low[v] = s->late[v] ? part->floor : s->rest[v];
    }
    s->steps += part->count;
}

/* What a late place can rest on lifts it. False: it is late for good. */
static bool lift(pbi_pack_state *s, uint32_t v, bool *changed)
{
    const pbi_pack_tables *t = s->t;
    uint64_t least = UINT64_MAX;
    bool can_drop = true;
    for (uint32_t k = t->neighbour_start[v]; k < t->neighbour_start[v + 1]; k++) {
        const pbi_neighbour *b = &t->neighbour[k];
        if (s->placed[b->place])
            continue;
        uint64_t top = s->low[b->place] + b->under;
        least = top < least ? top : least;
        can_drop = can_drop && s->low[b->place] >= s->rest[v] + b->over;
    }
    s->steps += t->neighbour_start[v + 1] - t->neighbour_start[v];
    if (can_drop)
        return false;
    if (least > s->low[v]) {
        s->low[v] = least;
        *changed = true;
    }
    return true;
}

static bool lift_all(pbi_pack_state *s, const pbi_pack_part *part)
{
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (uint32_t i = 0; i < part->count; i++)
            if (s->late[part->place[i]] && !lift(s, part->place[i], &changed))
                return false;
    }
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t v = part->place[i];
        if (s->low[v] > s->cap || s->p->size[v] > s->cap - s->low[v])
            return false;
    }
    return true;
}

static bool fits_section(pbi_pack_state *s, uint32_t section)
{
    const pbi_pack_tables *t = s->t;
    uint64_t lowest = UINT64_MAX;
    for (uint32_t k = t->member_start[section]; k < t->member_start[section + 1]; k++) {
        uint32_t v = t->member[k];
        if (!s->placed[v] && s->low[v] < lowest)
            lowest = s->low[v];
    }
    s->steps += t->member_start[section + 1] - t->member_start[section];
    return lowest <= s->cap && s->to_come[section] <= s->cap - lowest;
}

bool pbi_pack_can_fit(pbi_pack_state *s, const pbi_pack_part *part)
{
    first_guess(s, part);
    if (!lift_all(s, part))
        return false;
    for (uint32_t section = part->first; section < part->last; section++)
        if (s->to_come[section] && !fits_section(s, section)) {
            s->conflicts[section]++;
            return false;
        }
    return true;
}
