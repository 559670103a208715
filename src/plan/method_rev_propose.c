/* method_rev_propose.c -- see method_rev_propose.h.
 *
 * Simple changes keep the rules by staying between what reads and what is read. Others first break them: inputs that are
 * missing at a new end are made present in turn, by going on from an interval before, beginning one behind earlier, joining the
 * two, or a new one. That only ever adds memory in time, so what was right stays right. Ends that go away leave inputs behind that nobody
 * needs any longer: these are removed or cut shorter, in turn.
 */
#include "plan/method_rev_propose.h"

enum { GROW = 12, LOOKS = 24, GROUP = 24 };

static uint32_t below(pbi_rev_proposer *p, uint32_t bound) { return (uint32_t)pbi_rng_below(p->rng, bound); }

static bool too_dear(const pbi_rev_proposer *p, double more) { return p->l->work + more > p->most; }

/* A random end of a random interval; PBI_REV_NONE when slots are nearly all empty. */
static uint32_t pick_event(pbi_rev_proposer *p)
{
    const pbi_rev_line *l = p->l;
    for (int i = 0; i < 16; i++) {
        uint32_t event = l->event[below(p, l->profile.slots)];
        if (event != PBI_REV_NONE)
            return event;
    }
    return PBI_REV_NONE;
}

/* ---- inputs made present ---- */

static bool want_inputs(pbi_rev_proposer *p, uint32_t unit, uint32_t slot)
{
    const pbi_rev_model *m = p->l->m;
    for (uint32_t k = m->in_start[unit]; k < m->in_start[unit + 1]; k++) {
        if (pbi_rev_cover(p->l, m->in[k], slot) != PBI_REV_NONE)
            continue;
        if (p->tasks == PBI_REV_TASKS)
            return false;
        p->task[p->tasks++] = (pbi_rev_task){m->in[k], slot};
    }
    return true;
}

/* An end of the unit is gone from there. */
static void leave(pbi_rev_proposer *p, uint32_t unit, uint32_t slot)
{
    if (p->lefts < PBI_REV_TASKS)
        p->left[p->lefts++] = (pbi_rev_task){unit, slot};
}

/* A new interval around the slot, between two others of the unit. */
static bool add_around(pbi_rev_proposer *p, uint32_t unit, uint32_t slot, uint32_t low, uint32_t high)
{
    pbi_rev_line *l = p->l;
    uint32_t from = pbi_rev_empty_down(l, low, slot - 1), to = pbi_rev_empty_up(l, slot + 1, high);
    if (from == PBI_REV_NONE || to == PBI_REV_NONE || !p->grown || l->m->once[unit] ||
        too_dear(p, 2 * l->m->cost[unit]))
        return false;
    p->grown--;
    pbi_rev_add(l, unit, from, to);
    return want_inputs(p, unit, from) && want_inputs(p, unit, to);
}

static bool extend_up(pbi_rev_proposer *p, uint32_t i, uint32_t slot, uint32_t high)
{
    uint32_t to = pbi_rev_empty_up(p->l, slot + 1, high);
    if (to == PBI_REV_NONE)
        return false;
    leave(p, p->l->at[i].unit, p->l->at[i].to);
    pbi_rev_move_to(p->l, i, to);
    return want_inputs(p, p->l->at[i].unit, to);
}

static bool extend_down(pbi_rev_proposer *p, uint32_t i, uint32_t slot, uint32_t low)
{
    uint32_t from = pbi_rev_empty_down(p->l, low, slot - 1);
    if (from == PBI_REV_NONE)
        return false;
    leave(p, p->l->at[i].unit, p->l->at[i].from);
    pbi_rev_move_from(p->l, i, from);
    return want_inputs(p, p->l->at[i].unit, from);
}

static bool make_present(pbi_rev_proposer *p, uint32_t unit, uint32_t slot)
{
    pbi_rev_line *l = p->l;
    uint32_t next = l->first[unit], prev = PBI_REV_NONE;
    while (next != PBI_REV_NONE && l->at[next].to <= slot) {
        prev = next;
        next = l->at[next].next;
    }
    if (next != PBI_REV_NONE && l->at[next].from < slot)
        return true;
    if (!pbi_rev_can_change(l) || (next != PBI_REV_NONE && l->at[next].from == slot) ||
        (prev != PBI_REV_NONE && l->at[prev].to == slot))
        return false;
    uint32_t low = prev == PBI_REV_NONE ? 1 : l->at[prev].to + 1,
             high = next == PBI_REV_NONE ? l->profile.slots - 1 : l->at[next].from - 1;
    uint32_t way = below(p, 16);
    if (way < 6 && !too_dear(p, 2 * l->m->cost[unit]))
        return add_around(p, unit, slot, low, high);
    if (way >= 14 && prev != PBI_REV_NONE && next != PBI_REV_NONE) {
        leave(p, unit, l->at[prev].to);
        leave(p, unit, l->at[next].from);
        pbi_rev_merge(l, prev);
        return true;
    }
    if (prev != PBI_REV_NONE && (next == PBI_REV_NONE || way % 2))
        return extend_up(p, prev, slot, high);
    return next != PBI_REV_NONE && extend_down(p, next, slot, low);
}

static bool make_all_present(pbi_rev_proposer *p)
{
    while (p->tasks) {
        pbi_rev_task t = p->task[--p->tasks];
        if (!make_present(p, t.unit, t.slot))
            return false;
    }
    return true;
}

/* ---- what is not needed any longer ---- */

/* Where the end of an interval may go without another change: as near to its uses as its inputs allow. */
static void narrow(const pbi_rev_line *l, uint32_t unit, uint32_t slot, uint32_t *low, uint32_t *high)
{
    const pbi_rev_model *m = l->m;
    for (uint32_t k = m->in_start[unit]; k < m->in_start[unit + 1]; k++) {
        uint32_t i = pbi_rev_cover(l, m->in[k], slot);
        uint32_t from = l->at[i].from + 1, to = pbi_rev_end(l, i) - 1;
        *low = from > *low ? from : *low;
        *high = to < *high ? to : *high;
    }
}

static void trim_to(pbi_rev_proposer *p, uint32_t i)
{
    pbi_rev_line *l = p->l;
    uint32_t unit = l->at[i].unit, was = l->at[i].to;
    uint32_t use = pbi_rev_last_use(l, unit, l->at[i].from, was);
    uint32_t low = use + 1, high = was - 1;
    narrow(l, unit, was, &low, &high);
    uint32_t to = low <= high ? pbi_rev_empty_up(l, low, high) : PBI_REV_NONE;
    if (to == PBI_REV_NONE)
        return;
    pbi_rev_move_to(l, i, to);
    leave(p, unit, was);
}

static void trim_from(pbi_rev_proposer *p, uint32_t i)
{
    pbi_rev_line *l = p->l;
    uint32_t unit = l->at[i].unit, was = l->at[i].from;
    uint32_t use = pbi_rev_first_use(l, unit, was, pbi_rev_end(l, i));
    uint32_t low = was + 1, high = use - 1;
    narrow(l, unit, was, &low, &high);
    uint32_t from = low <= high ? pbi_rev_empty_down(l, low, high) : PBI_REV_NONE;
    if (from == PBI_REV_NONE)
        return;
    pbi_rev_move_from(l, i, from);
    leave(p, unit, was);
}

/* The interval of a unit in which an end was that is gone. */
static void tidy(pbi_rev_proposer *p, uint32_t unit, uint32_t slot)
{
    pbi_rev_line *l = p->l;
    uint32_t i = pbi_rev_cover(l, unit, slot);
    if (i == PBI_REV_NONE || !pbi_rev_can_change(l))
        return;
    pbi_rev_interval x = l->at[i];
    uint32_t first = pbi_rev_first_use(l, unit, x.from, pbi_rev_end(l, i));
    if (first == PBI_REV_NONE) {
        if (x.to == PBI_REV_NONE)
            return;
        pbi_rev_remove(l, i);
        leave(p, unit, x.from);
        leave(p, unit, x.to);
    } else if (slot < first) {
        trim_from(p, i);
    } else if (x.to != PBI_REV_NONE && pbi_rev_first_use(l, unit, slot, x.to) == PBI_REV_NONE) {
        trim_to(p, i);
    }
}

static void tidy_all(pbi_rev_proposer *p)
{
    const pbi_rev_model *m = p->l->m;
    while (p->lefts && pbi_rev_can_change(p->l)) {
        pbi_rev_task t = p->left[--p->lefts];
        for (uint32_t k = m->in_start[t.unit]; k < m->in_start[t.unit + 1]; k++)
            tidy(p, m->in[k], t.slot);
    }
    p->lefts = 0;
}

/* ---- the changes ---- */

/* Where an end may go as far as the unit's own intervals and readers allow. */
static void free_range(const pbi_rev_line *l, uint32_t event, uint32_t *low, uint32_t *high)
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
    uint32_t slot = low + below(p, high - low + 1);
    uint32_t up = pbi_rev_empty_up(p->l, slot, high);
    return up != PBI_REV_NONE ? up : pbi_rev_empty_down(p->l, low, slot);
}

static void move_end(pbi_rev_line *l, uint32_t event, uint32_t slot)
{
    if (event % 2)
        pbi_rev_move_to(l, event / 2, slot);
    else
        pbi_rev_move_from(l, event / 2, slot);
}

static bool shift(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_line *l = p->l;
    uint32_t unit = l->at[event / 2].unit, slot = event % 2 ? l->at[event / 2].to : l->at[event / 2].from, low, high;
    free_range(l, event, &low, &high);
    narrow(l, unit, slot, &low, &high);
    if (low >= high)
        return false;
    uint32_t way = below(p, 4), to;
    if (way < 2)
        to = pick_empty(p, low, high);
    else
        to = way == 2 ? pbi_rev_empty_up(l, low, high) : pbi_rev_empty_down(l, low, high);
    if (to == PBI_REV_NONE)
        return false;
    move_end(l, event, to);
    return true;
}

/* The same over the ends of inputs, which follow. */
static bool shift_far(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_line *l = p->l;
    uint32_t unit = l->at[event / 2].unit, slot = event % 2 ? l->at[event / 2].to : l->at[event / 2].from, low, high;
    free_range(l, event, &low, &high);
    uint32_t reach = below(p, 2) ? l->profile.slots : l->profile.slots / 16;
    if (slot > reach && low < slot - reach)
        low = slot - reach;
    if (high > slot + reach)
        high = slot + reach;
    uint32_t to = pick_empty(p, low, high);
    if (to == PBI_REV_NONE)
        return false;
    move_end(l, event, to);
    if (!want_inputs(p, unit, to) || !make_all_present(p))
        return false;
    leave(p, unit, slot);
    tidy_all(p);
    return true;
}

/* ---- ends that go together ---- */

static uint32_t slot_of(const pbi_rev_line *l, uint32_t event)
{
    return event % 2 ? l->at[event / 2].to : l->at[event / 2].from;
}

/* Every end of a reader between the two slots has to leave, in one direction: of two ends of an interval the one that is in
 * front goes first. */
static bool move_readers(pbi_rev_proposer *p, uint32_t unit, uint32_t from, uint32_t to, bool earlier)
{
    const pbi_rev_line *l = p->l;
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

/* Moves an end before the limit, or behind it, and has what reads the unit there go ahead. */
static bool move_past(pbi_rev_proposer *p, uint32_t event, uint32_t limit, bool earlier)
{
    pbi_rev_line *l = p->l;
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
    leave(p, x.unit, was);
    move_end(l, event, to);
    if (earlier && event % 2)
        return move_readers(p, x.unit, to, was, true);
    return earlier || event % 2 || move_readers(p, x.unit, was, to, false);
}

/* Moves an end over the ends of readers, which go first, and of inputs, which follow. */
static bool move_group(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_line *l = p->l;
    bool earlier = event % 2;
    uint32_t i = event / 2, slot = slot_of(l, event), reach = 2 + below(p, l->profile.slots / 16);
    uint32_t limit = earlier ? (slot > reach ? slot - reach : 1) : slot + reach;
    if (limit >= l->profile.slots - 1 || limit <= 1 || (earlier ? limit <= l->at[i].from + 1 : limit + 1 >= pbi_rev_end(l, i)))
        return false;
    p->moved[p->moves++] = (pbi_rev_task){event, limit};
    for (uint32_t k = 0; k < p->moves; k++)
        if (!move_past(p, p->moved[k].unit, p->moved[k].slot, earlier))
            return false;
    for (uint32_t k = 0; k < p->moves; k++) {
        uint32_t now = p->moved[k].unit;
        if (!want_inputs(p, l->at[now / 2].unit, slot_of(l, now)))
            return false;
    }
    if (!make_all_present(p))
        return false;
    tidy_all(p);
    return true;
}

/* ---- fewer and more intervals ---- */

/* Takes a unit out of memory between two uses. */
static bool split_at(pbi_rev_proposer *p, uint32_t i, uint32_t slot)
{
    pbi_rev_line *l = p->l;
    uint32_t unit = l->at[i].unit, from = l->at[i].from, end = pbi_rev_end(l, i);
    uint32_t before = pbi_rev_last_use(l, unit, from, slot + 1), after = pbi_rev_first_use(l, unit, slot, end);
    if (before == PBI_REV_NONE || after == PBI_REV_NONE)
        return false;
    bool far = below(p, 2);
    uint32_t low = before + 1, high = after - 1;
    uint32_t a = far || slot <= low ? pbi_rev_empty_up(l, low, high) : pick_empty(p, low, slot);
    uint32_t b = far || slot >= high ? pbi_rev_empty_down(l, low, high) : pick_empty(p, slot, high);
    if (a == PBI_REV_NONE || b == PBI_REV_NONE || a + 1 >= b)
        return false;
    pbi_rev_split(l, i, a, b);
    if (!want_inputs(p, unit, a) || !want_inputs(p, unit, b) || !make_all_present(p))
        return false;
    tidy_all(p);
    return true;
}

static bool split(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_line *l = p->l;
    uint32_t i = event / 2, unit = l->at[i].unit, from = l->at[i].from, end = pbi_rev_end(l, i);
    if (end - from < 4 || l->m->once[unit] || too_dear(p, 2 * l->m->cost[unit]))
        return false;
    return split_at(p, i, from + 1 + below(p, end - from - 1));
}

static bool merge(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_line *l = p->l;
    uint32_t i = event / 2;
    pbi_rev_interval x = l->at[i];
    if (event % 2 == 0 && x.prev != PBI_REV_NONE)
        i = x.prev;
    else if (x.next == PBI_REV_NONE || event % 2 == 0) {
        if (x.to == PBI_REV_NONE || pbi_rev_first_use(l, x.unit, x.from, x.to) != PBI_REV_NONE)
            return false;
        pbi_rev_remove(l, i);
        leave(p, x.unit, x.from);
        leave(p, x.unit, x.to);
        tidy_all(p);
        return true;
    }
    uint32_t a = l->at[i].to, b = l->at[l->at[i].next].from;
    pbi_rev_merge(l, i);
    leave(p, x.unit, a);
    leave(p, x.unit, b);
    tidy_all(p);
    return true;
}

/* Splits some interval over a slot that is above the cap. */
static bool relieve(pbi_rev_proposer *p, uint32_t from, uint32_t to)
{
    pbi_rev_line *l = p->l;
    uint32_t slot = pbi_profile_over(&l->profile, from, to);
    if (slot == PBI_REV_NONE)
        return false;
    for (int k = 0; k < LOOKS; k++) {
        uint32_t unit = below(p, l->m->count), i = pbi_rev_cover(l, unit, slot);
        if (i == PBI_REV_NONE || l->m->once[unit] || too_dear(p, 2 * l->m->cost[unit]))
            continue;
        uint32_t left = l->log_count;
        if (split_at(p, i, slot))
            return true;
        p->tasks = p->lefts = 0;
        pbi_rev_undo(l, left);
    }
    return false;
}

/* Joins two intervals, and takes others apart in their stead. */
static bool swap(pbi_rev_proposer *p, uint32_t event)
{
    pbi_rev_line *l = p->l;
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
        if (!relieve(p, low + below(p, high - low), high))
            break;
    return true;
}

bool pbi_rev_propose(pbi_rev_proposer *p)
{
    pbi_rev_line *l = p->l;
    uint32_t event = pick_event(p), way = below(p, 64);
    p->tasks = p->lefts = p->moves = 0;
    p->grown = 1 + below(p, GROW);
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
        return split(p, event);
    if (way < 56)
        return merge(p, event);
    if (way < 60)
        return swap(p, event);
    uint32_t slots = l->profile.slots, from = below(p, slots);
    return l->profile.excess ? relieve(p, from, slots - 1) || relieve(p, 1, from) : shift(p, event);
}
