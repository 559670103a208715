/* propose.c -- see propose.h.
 *
 * Simple changes keep the rules by staying between readers and inputs. Others break them first, and are then
 * repaired (reversible/anneal/repair).
 */
#include "plan/reversible/anneal/repair.h"

/* limits for one change: intervals to add, units to examine, ends to move */
enum { GROW = 12, LOOKS = 24, GROUP = 24 };

/* A random end of a random interval; PBI_REV_NONE when slots are nearly all empty. */
static uint32_t pick_event(pbi_rev_proposer *p)
{
    const pbi_rev_spans *l = p->l;
    for (int i = 0; i < 16; i++) {
        uint32_t event = l->event[pbi_rev_below(p, l->profile.slots)];
        if (event != PBI_REV_NONE)
            return event;
    }
    return PBI_REV_NONE;
}

/* ---- the changes ---- */

/* How far an end may move within the unit's own intervals and readers. */
static void free_range(const pbi_rev_spans *l, uint32_t event, uint32_t *low, uint32_t *high)
{
    uint32_t i = event / 2;
    const pbi_rev_interval *x = &l->at[i];
    if (event % 2 == 0) {
        uint32_t end = pbi_rev_end(l, i), use = pbi_rev_first_use(l, x->unit, x->from, end);
        *low = x->prev == PBI_REV_NONE ? 1 : l->at[x->prev].to + 1;
        *high = (use == PBI_REV_NONE ? end : use) - 1;
    } else {
        uint32_t use = pbi_rev_last_use(l, x->unit, x->from, x->to);
        *low = (use == PBI_REV_NONE ? x->from : use) + 1;
        *high = x->next == PBI_REV_NONE ? l->profile.slots - 1 : l->at[x->next].from - 1;
    }
}

static uint32_t pick_empty(pbi_rev_proposer *p, uint32_t low, uint32_t high)
{
    if (low > high)
        return PBI_REV_NONE;
    uint32_t slot = low + pbi_rev_below(p, high - low + 1);
    uint32_t up = pbi_rev_empty_up(p->l, slot, high);
    return up != PBI_REV_NONE ? up : pbi_rev_empty_down(p->l, low, slot);
}

static void move_end(pbi_rev_spans *l, uint32_t event, uint32_t slot)
{
    if (event % 2)
        pbi_rev_move_to(l, event / 2, slot);
    else
        pbi_rev_move_from(l, event / 2, slot);
}

static bool shift(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_spans *l = p->l;
    uint32_t unit = l->at[event / 2].unit, slot = event % 2 ? l->at[event / 2].to : l->at[event / 2].from, low, high;
    free_range(l, event, &low, &high);
    pbi_rev_narrow(l, unit, slot, &low, &high);
    if (low >= high)
        return false;
    uint32_t way = pbi_rev_below(p, 4), to;
    if (way < 2)
        to = pick_empty(p, low, high);
    else
        to = way == 2 ? pbi_rev_empty_up(l, low, high) : pbi_rev_empty_down(l, low, high);
    if (to == PBI_REV_NONE)
        return false;
    move_end(l, event, to);
    return true;
}

/* The same past the ends of inputs, which follow. */
static bool shift_far(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_spans *l = p->l;
    uint32_t unit = l->at[event / 2].unit, slot = event % 2 ? l->at[event / 2].to : l->at[event / 2].from, low, high;
    free_range(l, event, &low, &high);
    uint32_t reach = pbi_rev_below(p, 2) ? l->profile.slots : l->profile.slots / 16;
    if (slot > reach && low < slot - reach)
        low = slot - reach;
    if (high > slot + reach)
        high = slot + reach;
    uint32_t to = pick_empty(p, low, high);
    if (to == PBI_REV_NONE)
        return false;
    move_end(l, event, to);
    if (!pbi_rev_require_inputs(p, unit, to) || !pbi_rev_make_all_present(p))
        return false;
    pbi_rev_end_removed(p, unit, slot);
    pbi_rev_tidy_all(p);
    return true;
}

/* ---- ends that go together ---- */

static uint32_t slot_of(const pbi_rev_spans *l, uint32_t event)
{
    return event % 2 ? l->at[event / 2].to : l->at[event / 2].from;
}

/* Lists the ends of readers between the two slots, which have to move away in one direction. Of two ends of an interval
 * the one that is further in that direction moves first. */
static bool move_readers(pbi_rev_proposer *p, uint32_t unit, uint32_t from, uint32_t to, bool earlier)
{
    const pbi_rev_spans *l = p->l;
    const pbi_rev_model *m = l->m;
    for (uint32_t k = m->out_start[unit]; k < m->out_start[unit + 1]; k++)
        for (uint32_t i = l->first[m->out[k]]; i != PBI_REV_NONE && l->at[i].from < to; i = l->at[i].next)
            for (uint32_t n = 0; n < 2; n++) {
                uint32_t side = earlier ? n : 1 - n, slot = side ? l->at[i].to : l->at[i].from;
                if (slot <= from || slot >= to)
                    continue;
                if (p->moves == GROUP)
                    return false;
                p->moved[p->moves++] = (pbi_rev_task){2 * i + side, earlier ? from : to};
            }
    return true;
}

/* Moves an end before the limit, or behind it; readers of the unit in between move first. */
static bool move_past(pbi_rev_proposer *p, uint32_t event, uint32_t limit, bool earlier)
{
    pbi_rev_spans *l = p->l;
    uint32_t i = event / 2, was = slot_of(l, event), to;
    pbi_rev_interval x = l->at[i];
    if (earlier ? was < limit : was > limit)
        return true;
    if (earlier) {
        uint32_t low = event % 2 ? x.from + 1 : x.prev == PBI_REV_NONE ? 1 : l->at[x.prev].to + 1;
        to = low < limit ? pbi_rev_empty_down(l, low, limit - 1) : PBI_REV_NONE;
    } else {
        uint32_t end = event % 2 ? (x.next == PBI_REV_NONE ? l->profile.slots : l->at[x.next].from) : pbi_rev_end(l, i);
        to = limit + 1 < end ? pbi_rev_empty_up(l, limit + 1, end - 1) : PBI_REV_NONE;
    }
    if (to == PBI_REV_NONE || !pbi_rev_can_change(l))
        return false;
    pbi_rev_end_removed(p, x.unit, was);
    move_end(l, event, to);
    if (earlier && event % 2)
        return move_readers(p, x.unit, to, was, true);
    return earlier || event % 2 || move_readers(p, x.unit, was, to, false);
}

/* Moves an end past the ends of readers, which move first, and of inputs, which follow. */
static bool move_group(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_spans *l = p->l;
    bool earlier = event % 2;
    uint32_t i = event / 2, slot = slot_of(l, event), reach = 2 + pbi_rev_below(p, l->profile.slots / 16);
    uint32_t limit = earlier ? (slot > reach ? slot - reach : 1) : slot + reach;
    if (limit >= l->profile.slots - 1 || limit <= 1 ||
        (earlier ? limit <= l->at[i].from + 1 : limit + 1 >= pbi_rev_end(l, i)))
        return false;
    p->moved[p->moves++] = (pbi_rev_task){event, limit};
    for (uint32_t k = 0; k < p->moves; k++)
        if (!move_past(p, p->moved[k].unit, p->moved[k].slot, earlier))
            return false;
    for (uint32_t k = 0; k < p->moves; k++) {
        uint32_t now = p->moved[k].unit;
        if (!pbi_rev_require_inputs(p, l->at[now / 2].unit, slot_of(l, now)))
            return false;
    }
    if (!pbi_rev_make_all_present(p))
        return false;
    pbi_rev_tidy_all(p);
    return true;
}

/* ---- fewer and more intervals ---- */

/* Removes a unit from memory between two uses. */
static bool split_at(pbi_rev_proposer *p, uint32_t i, uint32_t slot)
{
    pbi_rev_spans *l = p->l;
    uint32_t unit = l->at[i].unit, from = l->at[i].from, end = pbi_rev_end(l, i);
    uint32_t before = pbi_rev_last_use(l, unit, from, slot + 1), after = pbi_rev_first_use(l, unit, slot, end);
    if (before == PBI_REV_NONE || after == PBI_REV_NONE || !pbi_rev_can_change(l))
        return false;
    bool far = pbi_rev_below(p, 2);
    uint32_t low = before + 1, high = after - 1;
    uint32_t a = far || slot <= low ? pbi_rev_empty_up(l, low, high) : pick_empty(p, low, slot);
    uint32_t b = far || slot >= high ? pbi_rev_empty_down(l, low, high) : pick_empty(p, slot, high);
    if (a == PBI_REV_NONE || b == PBI_REV_NONE || a + 1 >= b)
        return false;
    pbi_rev_split(l, i, a, b);
    if (!pbi_rev_require_inputs(p, unit, a) || !pbi_rev_require_inputs(p, unit, b) || !pbi_rev_make_all_present(p))
        return false;
    pbi_rev_tidy_all(p);
    return true;
}

static bool split_random(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_spans *l = p->l;
    uint32_t i = event / 2, unit = l->at[i].unit, from = l->at[i].from, end = pbi_rev_end(l, i);
    if (end - from < 4 || l->m->once[unit] || pbi_rev_too_expensive(p, 2 * l->m->cost[unit]))
        return false;
    return split_at(p, i, from + 1 + pbi_rev_below(p, end - from - 1));
}

static bool merge(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_spans *l = p->l;
    uint32_t i = event / 2;
    pbi_rev_interval x = l->at[i];
    if (event % 2 == 0 && x.prev != PBI_REV_NONE)
        i = x.prev;
    else if (x.next == PBI_REV_NONE || event % 2 == 0) {
        if (x.to == PBI_REV_NONE || pbi_rev_first_use(l, x.unit, x.from, x.to) != PBI_REV_NONE)
            return false;
        pbi_rev_remove(l, i);
        pbi_rev_end_removed(p, x.unit, x.from);
        pbi_rev_end_removed(p, x.unit, x.to);
        pbi_rev_tidy_all(p);
        return true;
    }
    uint32_t a = l->at[i].to, b = l->at[l->at[i].next].from;
    pbi_rev_merge(l, i);
    pbi_rev_end_removed(p, x.unit, a);
    pbi_rev_end_removed(p, x.unit, b);
    pbi_rev_tidy_all(p);
    return true;
}

/* Splits some interval over a slot that is above the cap. */
static bool split_above_cap(pbi_rev_proposer *p, uint32_t from, uint32_t to)
{
    pbi_rev_spans *l = p->l;
    uint32_t slot = pbi_slots_over(&l->profile, from, to);
    if (slot == PBI_REV_NONE)
        return false;
    for (int k = 0; k < LOOKS; k++) {
        uint32_t unit = pbi_rev_below(p, l->m->count), i = pbi_rev_cover(l, unit, slot);
        if (i == PBI_REV_NONE || l->m->once[unit] || pbi_rev_too_expensive(p, 2 * l->m->cost[unit]))
            continue;
        uint32_t left = l->log_count;
        if (split_at(p, i, slot))
            return true;
        p->tasks = p->lefts = 0;
        pbi_rev_undo(l, left);
    }
    return false;
}

/* Joins two intervals, and splits others instead. */
static bool join_and_split(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_spans *l = p->l;
    uint64_t excess = l->profile.excess;
    uint32_t i = event / 2, low, high;
    if (event % 2 == 0) {
        if (l->at[i].prev == PBI_REV_NONE)
            return false;
        i = l->at[i].prev;
    }
    if (l->at[i].next == PBI_REV_NONE)
        return false;
    low = l->at[i].to;
    high = l->at[l->at[i].next].from;
    if (!merge(p, 2 * i + 1))
        return false;
    for (int k = 0; k < 3 && l->profile.excess > excess; k++)
        if (!split_above_cap(p, low + pbi_rev_below(p, high - low), high))
            break;
    return true;
}

bool pbi_rev_propose(pbi_rev_proposer *p)
{
    pbi_rev_spans *l = p->l;
    uint32_t event = pick_event(p), way = pbi_rev_below(p, 64);
    p->tasks = p->lefts = p->moves = 0;
    p->grown = 1 + pbi_rev_below(p, GROW);
    l->log_count = 0;
    if (event == PBI_REV_NONE || !pbi_rev_can_change(l))
        return false;
    if (way < 24)
        return shift(p, event);
    if (way < 30)
        return shift_far(p, event);
    if (way < 36)
        return move_group(p, event);
    if (way < 46)
        return split_random(p, event);
    if (way < 56)
        return merge(p, event);
    if (way < 60)
        return join_and_split(p, event);
    uint32_t slots = l->profile.slots, from = pbi_rev_below(p, slots);
    return l->profile.excess ? split_above_cap(p, from, slots - 1) || split_above_cap(p, 1, from) : shift(p, event);
}
