/* pack_infer.c -- consequences of the offsets that are already fixed.
 *
 * The search looks for the packing within the cap with the minimum sum of offsets, and places in the order of
 * offsets. In that packing each place lies directly on the floor or on a lower one: otherwise it could be lowered.
 * So an unplaced place whose turn at its supporting offset is over ("late") will lie on another unplaced one, and
 * above it. If no such place is left, or those left start so high that the place would fit below them, this is not
 * the packing in question. And in each section the unplaced places are between the lowest offset that any of them
 * can have and the cap.
 */
#include "pack/pack_search.h"

enum { ROUNDS = 2 };

static void first_guess(pbi_pack_state *s, const pbi_pack_part *part)
{
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t v = part->place[i];
        s->late[v] = s->support[v] < part->floor || (s->support[v] == part->floor && s->rank[v] < part->after);
        s->low[v] = s->late[v] ? part->floor : s->support[v];
    }
    s->steps += part->count;
}

/* Raises a late place onto what can support it. False: nothing can. */
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
        can_drop = can_drop && s->low[b->place] >= s->support[v] + b->over;
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
