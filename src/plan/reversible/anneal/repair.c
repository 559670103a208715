/* repair.c -- see repair.h. */
#include "plan/reversible/anneal/repair.h"

/* ---- inputs made present ---- */

bool pbi_rev_require_inputs(pbi_rev_proposer *p, uint32_t unit, uint32_t slot)
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

void pbi_rev_end_removed(pbi_rev_proposer *p, uint32_t unit, uint32_t slot)
{
    if (p->lefts < PBI_REV_TASKS)
        p->left[p->lefts++] = (pbi_rev_task){unit, slot};
}

/* A new interval around the slot, between two others of the unit. */
static bool add_around(pbi_rev_proposer *p, uint32_t unit, uint32_t slot, uint32_t low, uint32_t high)
{
    pbi_rev_spans *l = p->l;
    uint32_t from = pbi_rev_empty_down(l, low, slot - 1), to = pbi_rev_empty_up(l, slot + 1, high);
    if (from == PBI_REV_NONE || to == PBI_REV_NONE || !p->grown || l->m->once[unit] ||
        pbi_rev_too_expensive(p, 2 * l->m->cost[unit]))
        return false;
    p->grown--;
    pbi_rev_add(l, unit, from, to);
    return pbi_rev_require_inputs(p, unit, from) && pbi_rev_require_inputs(p, unit, to);
}

static bool extend_up(pbi_rev_proposer *p, uint32_t i, uint32_t slot, uint32_t high)
{
    uint32_t to = pbi_rev_empty_up(p->l, slot + 1, high);
    if (to == PBI_REV_NONE)
        return false;
    pbi_rev_end_removed(p, p->l->at[i].unit, p->l->at[i].to);
    pbi_rev_move_to(p->l, i, to);
    return pbi_rev_require_inputs(p, p->l->at[i].unit, to);
}

static bool extend_down(pbi_rev_proposer *p, uint32_t i, uint32_t slot, uint32_t low)
{
    uint32_t from = pbi_rev_empty_down(p->l, low, slot - 1);
    if (from == PBI_REV_NONE)
        return false;
    pbi_rev_end_removed(p, p->l->at[i].unit, p->l->at[i].from);
    pbi_rev_move_from(p->l, i, from);
    return pbi_rev_require_inputs(p, p->l->at[i].unit, from);
}

static bool make_present(pbi_rev_proposer *p, uint32_t unit, uint32_t slot)
{
    pbi_rev_spans *l = p->l;
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
    uint32_t way = pbi_rev_below(p, 16);
    if (way < 6 && !pbi_rev_too_expensive(p, 2 * l->m->cost[unit]))
        return add_around(p, unit, slot, low, high);
    if (way >= 14 && prev != PBI_REV_NONE && next != PBI_REV_NONE) {
        pbi_rev_end_removed(p, unit, l->at[prev].to);
        pbi_rev_end_removed(p, unit, l->at[next].from);
        pbi_rev_merge(l, prev);
        return true;
    }
    if (prev != PBI_REV_NONE && (next == PBI_REV_NONE || way % 2))
        return extend_up(p, prev, slot, high);
    return next != PBI_REV_NONE && extend_down(p, next, slot, low);
}

bool pbi_rev_make_all_present(pbi_rev_proposer *p)
{
    while (p->tasks) {
        pbi_rev_task t = p->task[--p->tasks];
        if (!make_present(p, t.unit, t.slot))
            return false;
    }
    return true;
}

/* ---- what is not needed any longer ---- */

void pbi_rev_narrow(const pbi_rev_spans *l, uint32_t unit, uint32_t slot, uint32_t *low, uint32_t *high)
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
    pbi_rev_spans *l = p->l;
    uint32_t unit = l->at[i].unit, was = l->at[i].to;
    uint32_t use = pbi_rev_last_use(l, unit, l->at[i].from, was);
    uint32_t low = use + 1, high = was - 1;
    pbi_rev_narrow(l, unit, was, &low, &high);
    uint32_t to = low <= high ? pbi_rev_empty_up(l, low, high) : PBI_REV_NONE;
    if (to == PBI_REV_NONE)
        return;
    pbi_rev_move_to(l, i, to);
    pbi_rev_end_removed(p, unit, was);
}

static void trim_from(pbi_rev_proposer *p, uint32_t i)
{
    pbi_rev_spans *l = p->l;
    uint32_t unit = l->at[i].unit, was = l->at[i].from;
    uint32_t use = pbi_rev_first_use(l, unit, was, pbi_rev_end(l, i));
    uint32_t low = was + 1, high = use - 1;
    pbi_rev_narrow(l, unit, was, &low, &high);
    uint32_t from = low <= high ? pbi_rev_empty_down(l, low, high) : PBI_REV_NONE;
    if (from == PBI_REV_NONE)
        return;
    pbi_rev_move_from(l, i, from);
    pbi_rev_end_removed(p, unit, was);
}

/* Shortens or removes the interval of a unit in which a reader's end was removed. */
static void shorten_interval(pbi_rev_proposer *p, uint32_t unit, uint32_t slot)
{
    pbi_rev_spans *l = p->l;
    uint32_t i = pbi_rev_cover(l, unit, slot);
    if (i == PBI_REV_NONE || !pbi_rev_can_change(l))
        return;
    pbi_rev_interval x = l->at[i];
    uint32_t first = pbi_rev_first_use(l, unit, x.from, pbi_rev_end(l, i));
    if (first == PBI_REV_NONE) {
        if (x.to == PBI_REV_NONE)
            return;
        pbi_rev_remove(l, i);
        pbi_rev_end_removed(p, unit, x.from);
        pbi_rev_end_removed(p, unit, x.to);
    } else if (slot < first) {
        trim_from(p, i);
    } else if (x.to != PBI_REV_NONE && pbi_rev_first_use(l, unit, slot, x.to) == PBI_REV_NONE) {
        trim_to(p, i);
    }
}

void pbi_rev_tidy_all(pbi_rev_proposer *p)
{
    const pbi_rev_model *m = p->l->m;
    while (p->lefts && pbi_rev_can_change(p->l)) {
        pbi_rev_task t = p->left[--p->lefts];
        for (uint32_t k = m->in_start[t.unit]; k < m->in_start[t.unit + 1]; k++)
            shorten_interval(p, m->in[k], t.slot);
    }
    p->lefts = 0;
}
