/* spans.c -- see spans.h. */
#include "plan/reversible/anneal/spans.h"

#include "base/arena.h"

#include <math.h>
#include <string.h>

enum { NEAR = 48 }; /* how far to search for an empty slot */

static void occupy(pbi_rev_spans *l, uint32_t slot, uint32_t event)
{
    l->event[slot] = event;
    l->filled++;
    pbi_slots_use(&l->profile, slot, l->m->cost[l->at[event / 2].unit]);
}

static void vacate(pbi_rev_spans *l, uint32_t slot)
{
    pbi_slots_empty(&l->profile, slot);
    l->event[slot] = PBI_REV_NONE;
    l->filled--;
}

static void add_space(pbi_rev_spans *l, uint32_t slot, int32_t space)
{
    if (space)
        pbi_slots_add_at(&l->profile, slot, space);
}

/* ---- asking ---- */

/* Is every input of the unit in memory? */
static bool inputs_present(const pbi_rev_spans *l, uint32_t unit, uint32_t slot)
{
    const pbi_rev_model *m = l->m;
    for (uint32_t k = m->in_start[unit]; k < m->in_start[unit + 1]; k++)
        if (pbi_rev_cover(l, m->in[k], slot) == PBI_REV_NONE)
            return false;
    return true;
}

uint32_t pbi_rev_first_use(const pbi_rev_spans *l, uint32_t unit, uint32_t from, uint32_t to)
{
    const pbi_rev_model *m = l->m;
    uint32_t use = to;
    for (uint32_t k = m->out_start[unit]; k < m->out_start[unit + 1]; k++)
        for (uint32_t i = l->first[m->out[k]]; i != PBI_REV_NONE; i = l->at[i].next) {
            const pbi_rev_interval *x = &l->at[i];
            if (x->to <= from)
                continue;
            uint32_t slot = x->from > from ? x->from : x->to;
            use = slot < use ? slot : use;
            break; /* the ends of the following intervals are later */
        }
    return use < to ? use : PBI_REV_NONE;
}

uint32_t pbi_rev_last_use(const pbi_rev_spans *l, uint32_t unit, uint32_t from, uint32_t to)
{
    const pbi_rev_model *m = l->m;
    uint32_t use = from;
    for (uint32_t k = m->out_start[unit]; k < m->out_start[unit + 1]; k++)
        for (uint32_t i = l->last[m->out[k]]; i != PBI_REV_NONE; i = l->at[i].prev) {
            const pbi_rev_interval *x = &l->at[i];
            if (x->from >= to)
                continue;
            uint32_t slot = x->to < to ? x->to : x->from;
            use = slot > use ? slot : use;
            break;
        }
    return use > from ? use : PBI_REV_NONE;
}

uint32_t pbi_rev_empty_up(const pbi_rev_spans *l, uint32_t from, uint32_t to)
{
    uint32_t end = to < from + NEAR ? to : from + NEAR;
    for (uint32_t slot = from; slot <= end; slot++)
        if (l->event[slot] == PBI_REV_NONE)
            return slot;
    return PBI_REV_NONE;
}

uint32_t pbi_rev_empty_down(const pbi_rev_spans *l, uint32_t from, uint32_t to)
{
    uint32_t end = to > from + NEAR ? to - NEAR : from;
    for (uint32_t slot = to + 1; slot-- > end;)
        if (l->event[slot] == PBI_REV_NONE)
            return slot;
    return PBI_REV_NONE;
}

/* ---- changing ---- */

bool pbi_rev_can_change(const pbi_rev_spans *l) { return l->log_count < PBI_REV_LOG && l->spare_count > 0; }

static void log_change(pbi_rev_spans *l, pbi_rev_change change, uint32_t interval, uint32_t a, uint32_t b)
{
    l->log[l->log_count++] = (pbi_rev_log){change, interval, a, b, 0};
}

static void set_from(pbi_rev_spans *l, uint32_t i, uint32_t slot)
{
    pbi_rev_interval *x = &l->at[i];
    int32_t size = l->m->size[x->unit], space = l->m->space[x->unit];
    uint32_t was = x->from;
    add_space(l, was, -space);
    vacate(l, was);
    if (slot < was)
        pbi_slots_add(&l->profile, slot, was - 1, size);
    else
        pbi_slots_add(&l->profile, was, slot - 1, -size);
    occupy(l, slot, 2 * i);
    add_space(l, slot, space);
    x->from = slot;
}

static void set_to(pbi_rev_spans *l, uint32_t i, uint32_t slot)
{
    pbi_rev_interval *x = &l->at[i];
    int32_t size = l->m->size[x->unit], space = l->m->space[x->unit];
    uint32_t was = x->to;
    add_space(l, was, -space);
    vacate(l, was);
    if (slot > was)
        pbi_slots_add(&l->profile, was + 1, slot, size);
    else
        pbi_slots_add(&l->profile, slot + 1, was, -size);
    occupy(l, slot, 2 * i + 1);
    add_space(l, slot, space);
    x->to = slot;
}

static void link_between(pbi_rev_spans *l, uint32_t i, uint32_t prev, uint32_t next)
{
    pbi_rev_interval *x = &l->at[i];
    x->prev = prev;
    x->next = next;
    *(prev == PBI_REV_NONE ? &l->first[x->unit] : &l->at[prev].next) = i;
    *(next == PBI_REV_NONE ? &l->last[x->unit] : &l->at[next].prev) = i;
}

static void unlink(pbi_rev_spans *l, uint32_t i)
{
    const pbi_rev_interval *x = &l->at[i];
    *(x->prev == PBI_REV_NONE ? &l->first[x->unit] : &l->at[x->prev].next) = x->next;
    *(x->next == PBI_REV_NONE ? &l->last[x->unit] : &l->at[x->next].prev) = x->prev;
}

static void add_interval(pbi_rev_spans *l, uint32_t i)
{
    const pbi_rev_interval *x = &l->at[i];
    const pbi_rev_model *m = l->m;
    uint32_t prev = l->last[x->unit];
    while (prev != PBI_REV_NONE && l->at[prev].from > x->from)
        prev = l->at[prev].prev;
    link_between(l, i, prev, prev == PBI_REV_NONE ? l->first[x->unit] : l->at[prev].next);
    occupy(l, x->from, 2 * i);
    add_space(l, x->from, m->space[x->unit]);
    if (x->to != PBI_REV_NONE) {
        occupy(l, x->to, 2 * i + 1);
        add_space(l, x->to, m->space[x->unit]);
    }
    pbi_slots_add(&l->profile, x->from, x->to == PBI_REV_NONE ? l->profile.slots - 1 : x->to, m->size[x->unit]);
    l->work += m->cost[x->unit] * (x->to == PBI_REV_NONE ? 1 : 2);
}

static void remove_interval(pbi_rev_spans *l, uint32_t i)
{
    const pbi_rev_interval *x = &l->at[i];
    const pbi_rev_model *m = l->m;
    pbi_slots_add(&l->profile, x->from, x->to == PBI_REV_NONE ? l->profile.slots - 1 : x->to, -m->size[x->unit]);
    add_space(l, x->from, -m->space[x->unit]);
    vacate(l, x->from);
    if (x->to != PBI_REV_NONE) {
        add_space(l, x->to, -m->space[x->unit]);
        vacate(l, x->to);
    }
    unlink(l, i);
    l->work -= m->cost[x->unit] * (x->to == PBI_REV_NONE ? 1 : 2);
}

static void cut(pbi_rev_spans *l, uint32_t i, uint32_t j, uint32_t a, uint32_t b)
{
    pbi_rev_interval *x = &l->at[i], *y = &l->at[j];
    const pbi_rev_model *m = l->m;
    *y = (pbi_rev_interval){.unit = x->unit, .from = b, .to = x->to};
    if (x->to != PBI_REV_NONE)
        l->event[x->to] = 2 * j + 1;
    x->to = a;
    link_between(l, j, i, x->next);
    pbi_slots_add(&l->profile, a + 1, b - 1, -m->size[x->unit]);
    occupy(l, a, 2 * i + 1);
    occupy(l, b, 2 * j);
    add_space(l, a, m->space[x->unit]);
    add_space(l, b, m->space[x->unit]);
    l->work += 2 * m->cost[x->unit];
}

static void join(pbi_rev_spans *l, uint32_t i, uint32_t j)
{
    pbi_rev_interval *x = &l->at[i], *y = &l->at[j];
    const pbi_rev_model *m = l->m;
    uint32_t a = x->to, b = y->from;
    add_space(l, a, -m->space[x->unit]);
    add_space(l, b, -m->space[x->unit]);
    vacate(l, a);
    vacate(l, b);
    pbi_slots_add(&l->profile, a + 1, b - 1, m->size[x->unit]);
    unlink(l, j);
    x->to = y->to;
    if (x->to != PBI_REV_NONE)
        l->event[x->to] = 2 * i + 1;
    l->work -= 2 * m->cost[x->unit];
}

void pbi_rev_move_from(pbi_rev_spans *l, uint32_t i, uint32_t slot)
{
    log_change(l, PBI_REV_FROM, i, l->at[i].from, 0);
    set_from(l, i, slot);
}

void pbi_rev_move_to(pbi_rev_spans *l, uint32_t i, uint32_t slot)
{
    log_change(l, PBI_REV_TO, i, l->at[i].to, 0);
    set_to(l, i, slot);
}

uint32_t pbi_rev_add(pbi_rev_spans *l, uint32_t unit, uint32_t from, uint32_t to)
{
    uint32_t i = l->spare[--l->spare_count];
    l->at[i] = (pbi_rev_interval){.unit = unit, .from = from, .to = to};
    add_interval(l, i);
    log_change(l, PBI_REV_ADDED, i, 0, 0);
    return i;
}

void pbi_rev_remove(pbi_rev_spans *l, uint32_t i)
{
    log_change(l, PBI_REV_REMOVED, i, l->at[i].from, l->at[i].to);
    l->log[l->log_count - 1].unit = l->at[i].unit;
    remove_interval(l, i);
    l->spare[l->spare_count++] = i;
}

uint32_t pbi_rev_split(pbi_rev_spans *l, uint32_t i, uint32_t a, uint32_t b)
{
    uint32_t j = l->spare[--l->spare_count];
    cut(l, i, j, a, b);
    log_change(l, PBI_REV_SPLIT, i, a, b);
    return j;
}

void pbi_rev_merge(pbi_rev_spans *l, uint32_t i)
{
    uint32_t j = l->at[i].next;
    log_change(l, PBI_REV_MERGED, i, l->at[i].to, l->at[j].from);
    join(l, i, j);
    l->spare[l->spare_count++] = j;
}

/* Intervals are released and reused in opposite orders, so each gets its own number back. */
static void undo_one(pbi_rev_spans *l, const pbi_rev_log *x)
{
    uint32_t j;
    switch (x->change) {
    case PBI_REV_FROM: set_from(l, x->interval, x->a); break;
    case PBI_REV_TO: set_to(l, x->interval, x->a); break;
    case PBI_REV_ADDED:
        remove_interval(l, x->interval);
        l->spare[l->spare_count++] = x->interval;
        break;
    case PBI_REV_REMOVED:
        l->spare_count--; /* it may have been reused meanwhile */
        l->at[x->interval] = (pbi_rev_interval){.unit = x->unit, .from = x->a, .to = x->b};
        add_interval(l, x->interval);
        break;
    case PBI_REV_SPLIT:
        j = l->at[x->interval].next;
        join(l, x->interval, j);
        l->spare[l->spare_count++] = j;
        break;
    default: cut(l, x->interval, l->spare[--l->spare_count], x->a, x->b); break;
    }
}

void pbi_rev_undo(pbi_rev_spans *l, uint32_t left)
{
    while (l->log_count > left)
        undo_one(l, &l->log[--l->log_count]);
}

/* ---- laying out ---- */

bool pbi_rev_spans_init(pbi_rev_spans *l, const pbi_rev_model *m, uint32_t room, pb_arena *arena)
{
    *l = (pbi_rev_spans){.m = m};
    if (!pbi_slots_init(&l->profile, arena, room, m->beta > 0))
        return false;
    l->room = l->profile.room;
    l->event = pb_arena_alloc(arena, l->room, sizeof *l->event);
    l->at = pb_arena_alloc(arena, l->room, sizeof *l->at);
    l->spare = pb_arena_alloc(arena, l->room, sizeof *l->spare);
    l->first = pb_arena_alloc(arena, m->count, sizeof *l->first);
    l->last = pb_arena_alloc(arena, m->count, sizeof *l->last);
    return l->event && l->at && l->spare && l->first && l->last;
}

/* Appends the move to the unit's intervals. */
static void append_move(pbi_rev_spans *l, uint32_t unit, uint32_t slot)
{
    uint32_t i = l->last[unit];
    if (i != PBI_REV_NONE && l->at[i].to == PBI_REV_NONE) {
        l->at[i].to = slot;
        l->event[slot] = 2 * i + 1;
    } else {
        uint32_t j = l->spare[--l->spare_count];
        l->at[j] = (pbi_rev_interval){.unit = unit, .from = slot, .to = PBI_REV_NONE};
        link_between(l, j, i, PBI_REV_NONE);
        l->event[slot] = 2 * j;
    }
    l->filled++;
    l->work += l->m->cost[unit];
    if (l->profile.time)
        l->profile.time[slot] = l->m->cost[unit];
}

/* Sums up the memory of all intervals, by differences. */
static void fill_profile(pbi_rev_spans *l)
{
    const pbi_rev_model *m = l->m;
    int32_t *memory = l->profile.memory, sum = 0;
    for (uint32_t slot = 0; slot < l->profile.slots; slot++) {
        uint32_t event = l->event[slot];
        int32_t size = 0, space = 0;
        if (event != PBI_REV_NONE) {
            size = m->size[l->at[event / 2].unit];
            space = m->space[l->at[event / 2].unit];
        }
        sum += event != PBI_REV_NONE && event % 2 == 0 ? size : 0;
        memory[slot] = sum + space;
        sum -= event != PBI_REV_NONE && event % 2 == 1 ? size : 0;
    }
    pbi_slots_rebuild(&l->profile, l->event);
}

void pbi_rev_spans_load(pbi_rev_spans *l, const uint32_t *list, uint32_t count)
{
    const pbi_rev_model *m = l->m;
    uint64_t slots = 2 * (uint64_t)count + count / 4 + 128;
    pbi_slots_clear(&l->profile, slots < l->room ? (uint32_t)slots : l->room);
    slots = l->profile.slots;
    for (uint32_t slot = 0; slot < slots; slot++)
        l->event[slot] = PBI_REV_NONE;
    for (uint32_t u = 0; u < m->count; u++)
        l->first[u] = l->last[u] = PBI_REV_NONE;
    for (l->spare_count = 0; l->spare_count < slots; l->spare_count++)
        l->spare[l->spare_count] = (uint32_t)slots - 1 - l->spare_count;
    l->filled = l->log_count = 0;
    l->work = 0;
    for (uint32_t k = 0; k < count; k++)
        append_move(l, list[k], (uint32_t)(1 + (uint64_t)k * (slots - 2) / count));
    fill_profile(l);
}

void pbi_rev_spans_read(const pbi_rev_spans *l, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < l->profile.slots; slot++)
        if (l->event[slot] != PBI_REV_NONE)
            list[count++] = l->at[l->event[slot] / 2].unit;
}

/* ---- audit ---- */

static bool check_interval(const pbi_rev_spans *l, uint32_t i, uint32_t unit, uint32_t prev)
{
    const pbi_rev_interval *x = &l->at[i];
    uint32_t after = prev == PBI_REV_NONE ? 0 : l->at[prev].to;
    bool open = x->to == PBI_REV_NONE;
    if (x->unit != unit || x->prev != prev || x->from <= after || l->event[x->from] != 2 * i)
        return false;
    if (open ? x->next != PBI_REV_NONE || !l->m->stays[unit] : x->to <= x->from || l->event[x->to] != 2 * i + 1)
        return false;
    return inputs_present(l, unit, x->from) && (open || inputs_present(l, unit, x->to));
}

/* Are the excess and the flux of the profile right? */
static bool check_memory(const pbi_rev_spans *l)
{
    uint64_t excess = 0;
    int64_t memory = 0;
    double flux = 0;
    for (uint32_t slot = 0; slot < l->profile.slots; slot++) {
        uint32_t event = l->event[slot];
        if (event == PBI_REV_NONE)
            continue;
        uint32_t unit = l->at[event / 2].unit;
        memory += event % 2 ? 0 : l->m->size[unit];
        int64_t during = memory + l->m->space[unit], above = during - l->profile.cap;
        excess += above > 0 ? (uint64_t)above : 0;
        flux += (double)during * l->m->cost[unit];
        memory -= event % 2 ? l->m->size[unit] : 0;
    }
    bool same = !l->profile.time || fabs(flux - l->profile.flux) <= 1e-9 * (1 + flux);
    return same && excess == l->profile.excess;
}

bool pbi_rev_spans_check(const pbi_rev_spans *l)
{
    uint32_t moves = 0;
    for (uint32_t unit = 0; unit < l->m->count; unit++) {
        uint32_t prev = PBI_REV_NONE, i = l->first[unit];
        for (; i != PBI_REV_NONE; prev = i, i = l->at[i].next) {
            if (!check_interval(l, i, unit, prev))
                return false;
            moves += l->at[i].to == PBI_REV_NONE ? 1 : 2;
        }
        bool open = prev != PBI_REV_NONE && l->at[prev].to == PBI_REV_NONE;
        if (l->last[unit] != prev || open != (bool)l->m->stays[unit] || (l->m->once[unit] && l->first[unit] != prev))
            return false;
    }
    return moves == l->filled && check_memory(l);
}
